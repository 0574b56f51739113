//! An amount as people type it, made the decimal text that the proxy reads.

/// The same amount with a point and Western digits: `۵٫۵۰` and `5,50` become `5.50`.
///
/// Nothing is rounded, completed or guessed beyond that; whether the result is an amount, the proxy says. A comma before
/// exactly three digits could group thousands as well as begin decimals, so it stays, and the proxy refuses it.
pub fn canonical(typed: &str) -> String {
    let plain: String = typed
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| match c {
            '\u{66b}' => '.',
            '\u{660}'..='\u{669}' => western(c, '\u{660}'),
            '\u{6f0}'..='\u{6f9}' => western(c, '\u{6f0}'),
            c => c,
        })
        .collect();
    match plain.split_once(',') {
        Some((whole, rest)) if rest.len() != 3 && plain.bytes().all(|b| b != b'.') => {
            [whole, rest].join(".")
        }
        _ => plain,
    }
}

fn western(digit: char, zero: char) -> char {
    let value = u32::from(digit) - u32::from(zero);
    char::from_digit(value, 10).unwrap_or(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyboard_has_its_way_to_write_five_and_a_half() {
        for typed in ["5.50", "5,50", " 5.50 ", "٥٫٥٠", "۵٫۵۰", "٥,٥٠"] {
            assert_eq!(canonical(typed), "5.50", "{typed}");
        }
    }

    #[test]
    fn what_could_mean_two_things_is_left_for_the_proxy_to_refuse() {
        for typed in ["1,000", "1,000.50", "1.000,50", "five", "-5", ""] {
            assert_eq!(canonical(typed), typed, "{typed}");
        }
    }
}
