//! Links that a customer can follow. Links come from the store's configuration and from the payment
//! service; one that is not on this list is shown nowhere.

/// Hosts of the developer's own machine, the only ones reached without TLS.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Returns `true` for a page to go to: `https:`, or `http:` on this machine.
pub fn is_page(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once(':') else {
        return false;
    };
    let Some(rest) = rest.strip_prefix("//") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // Anything else, `@` and `\\` above all, makes browsers see another host than the reader does.
    let plain = |b: u8| b.is_ascii_alphanumeric() || b".-:[]".contains(&b);
    if !authority.bytes().all(plain) {
        return false;
    }
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    };
    !host.is_empty() && (scheme == "https" || (scheme == "http" && LOOPBACK.contains(&host)))
}

/// The checkout page, at `base`, with one order in it. The token stands in the fragment: no server sees it, and the page
/// removes it from the address as soon as it has read it. `store` and `token` hold nothing that needs encoding.
pub fn handoff(base: &str, store: &str, token: &str) -> String {
    format!("{base}pay?store={store}#client_token={token}")
}

/// Returns the support link: a page unchanged, an e-mail address with this subject and these lines. Parameters that the
/// store has set are kept.
pub fn support(url: &str, subject: &str, lines: &[&str]) -> Option<String> {
    if is_page(url) {
        return Some(url.to_owned());
    }
    if !url.starts_with("mailto:") {
        return None;
    }
    let mut filled = url.to_owned();
    // A subject is one line, whatever is in it.
    let in_line = |c: char| if c.is_control() { ' ' } else { c };
    let subject = subject.chars().map(in_line).collect();
    let body = lines.join("\r\n");
    for (field, text) in [("subject=", &subject), ("body=", &body)] {
        let mut fields = url.split(['?', '&']).skip(1);
        if !fields.any(|known| known.starts_with(field)) {
            let is_first = filled.bytes().all(|b| b != b'?');
            filled.push(if is_first { '?' } else { '&' });
            filled.push_str(field);
            percent_encode(&mut filled, text);
        }
    }
    Some(filled)
}

/// Appends a text so that nothing of it means something to a URI: all but the unreserved characters becomes the
/// octets of UTF-8.
///
/// Source: RFC 3986, 2.3 and 2.5; RFC 6068, 5: a line ends in `%0D%0A`.
fn percent_encode(uri: &mut String, text: &str) {
    let digit = |value: u8| char::from(value + if value < 10 { b'0' } else { b'A' - 10 });
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(byte.into());
        } else {
            uri.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_https_or_on_this_machine() {
        for url in [
            "https://shop.example/thanks?order=1",
            "https://shop.example",
            "http://127.0.0.1:8081/thanks",
            "http://localhost/",
            "http://[::1]:8081/",
        ] {
            assert!(is_page(url), "{url}");
        }
    }

    #[test]
    fn nothing_else_is_a_page() {
        for url in [
            "",
            "javascript:alert(1)",
            "JavaScript://127.0.0.1/%0aalert(1)",
            "data:text/html,x",
            "http://shop.example/",
            "http://127.0.0.1.evil.example/",
            "http://127.0.0.1@evil.example/",
            "http://127.0.0.1:80@evil.example/",
            "http://localhost\\@evil.example/",
            "https://shop.example@evil.example/",
            "https://evil.example\\@shop.example/",
            "https://",
            "//evil.example",
            " https://shop.example",
        ] {
            assert!(!is_page(url), "{url}");
        }
    }

    #[test]
    fn the_token_of_a_handed_over_order_is_seen_by_no_server() {
        let link = handoff("https://pay.shop.example/", "demo", "secret");
        let (sent, kept) = link.split_once('#').unwrap();
        assert_eq!(sent, "https://pay.shop.example/pay?store=demo");
        assert_eq!(kept, "client_token=secret");
    }

    #[test]
    fn a_page_for_help_is_left_as_it_is() {
        let page = "https://shop.example/help?topic=pay&x=%20";
        assert_eq!(support(page, "S", &["b"]).as_deref(), Some(page));
        assert_eq!(support("javascript:alert(1)", "S", &["b"]), None);
    }

    #[test]
    fn an_e_mail_for_help_says_what_it_is_about() {
        let mail = |url| support(url, "Lamps & more · ord_1", &["Half is missing?", "ä=1"]);
        assert_eq!(
            mail("mailto:help@shop.example").as_deref(),
            Some(
                "mailto:help@shop.example?subject=Lamps%20%26%20more%20%C2%B7%20ord_1\
                 &body=Half%20is%20missing%3F%0D%0A%C3%A4%3D1"
            )
        );
        let filled = mail("mailto:a@b.example?cc=c@b.example").unwrap();
        assert!(filled.starts_with("mailto:a@b.example?cc=c@b.example&subject=Lamps"));
    }

    #[test]
    fn nothing_in_a_text_ends_its_field() {
        let hostile = "a&bcc=evil@x.example?#\r\nTo: x+y%41\u{202e}";
        let filled = support("mailto:a@b.example", hostile, &[hostile]).unwrap();
        let (_, fields) = filled.split_once('?').unwrap();
        let fields: Vec<_> = fields.split('&').collect();
        assert_eq!(fields.len(), 2);
        for (field, line_end) in fields.iter().zip(["%20%20", "%0D%0A"]) {
            let (_, text) = field.split_once('=').unwrap();
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~%".contains(&b);
            assert!(text.bytes().all(is_plain), "{text}");
            let rest = [line_end, "To%3A%20x%2By%2541%E2%80%AE"].concat();
            assert!(text.ends_with(&rest), "{text}");
        }
    }

    #[test]
    fn a_subject_of_the_stores_own_is_not_doubled() {
        let filled = support("mailto:a@b.example?subject=Help", "S", &["b"]);
        assert_eq!(
            filled.as_deref(),
            Some("mailto:a@b.example?subject=Help&body=b")
        );
    }
}
