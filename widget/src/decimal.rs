//! A whole number in digits, as they are written in drawings, clocks and requests.

/// `1270`
///
/// Digit by digit: `to_string` stands for all that a format can say, and two kilobytes of it are linked for one number.
pub fn decimal(number: u32) -> String {
    let mut text = match number {
        0..10 => String::new(),
        _ => decimal(number / 10),
    };
    text.extend(char::from_digit(number % 10, 10));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_digit_is_written_and_none_before_the_first() {
        for number in [0, 9, 10, 1270, u32::MAX] {
            assert_eq!(decimal(number), number.to_string());
        }
    }
}
