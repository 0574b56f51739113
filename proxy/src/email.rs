//! Addresses of e-mail, as far as they are checked: the shape, not the mailbox.

/// Source: RFC 5321, section 4.5.3.1.3: a path has at most 256 octets, two of them brackets.
const MAX_BYTES: usize = 254;

/// Whether a text has the shape of an address.
pub(crate) fn looks_like_email(text: &str) -> bool {
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let parts = text.split_once('@');
    let shaped = parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    text.len() <= MAX_BYTES && plain && shaped
}
