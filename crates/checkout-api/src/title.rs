//! The title of an order, a line, a product or a donation.

use core::error::Error;
use core::fmt;

/// Most characters of a title.
pub const MAX_TITLE_CHARS: usize = 120;

/// A title that is empty or too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTitle;

impl fmt::Display for InvalidTitle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a title has 1 to {MAX_TITLE_CHARS} characters")
    }
}

impl Error for InvalidTitle {}

/// Returns the title if it has 1 to 120 characters.
///
/// # Errors
/// [`InvalidTitle`] if it is empty or too long.
pub fn check_title(title: String) -> Result<String, InvalidTitle> {
    if (1..=MAX_TITLE_CHARS).contains(&title.chars().count()) {
        Ok(title)
    } else {
        Err(InvalidTitle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_1_to_120_characters_whatever_their_bytes() {
        for (length, is_title) in [(0, false), (1, true), (120, true), (121, false)] {
            let title = "é".repeat(length);
            assert_eq!(check_title(title).is_ok(), is_title, "{length}");
        }
    }
}
