//! Addresses of e-mail, as far as they are checked: the shape, not the mailbox.

/// Source: RFC 5321, section 4.5.3.1.3: a path has at most 256 octets, two of them brackets.
const MAX_BYTES: usize = 254;

/// Returns `true` if a text has the shape of an email address. Page and proxy use the same check.
pub fn looks_like_email(text: &str) -> bool {
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let parts = text.split_once('@');
    let shaped =
        parts.is_some_and(|(name, host)| !name.is_empty() && host.bytes().any(|b| b == b'.'));
    text.len() <= MAX_BYTES && plain && shaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_an_address_is_a_name_and_a_host_in_one_word() {
        let longest = ["a".repeat(MAX_BYTES - 10), "@b.example".into()].concat();
        for address in [
            "me@shop.example",
            "a@b.c",
            "o'neil+box@mail.shop.example",
            &longest,
        ] {
            assert!(looks_like_email(address), "{address}");
        }
        let too_long = ["a", &longest].concat();
        for text in [
            "",
            "me",
            "me@shop",
            "@shop.example",
            "me and you@shop.example",
            "me@shop.example\r\nBcc: you@shop.example",
            "me\u{7}@shop.example",
            &too_long,
        ] {
            assert!(!looks_like_email(text), "{text:?}");
        }
    }
}
