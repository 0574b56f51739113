//! Which addresses the page lets a customer follow. Links come from the store's configuration and from the payment
//! service; one that is not on this list is shown nowhere.

/// URI schemes of wallets, as the networks themselves define them.
const WALLET_SCHEMES: [&str; 8] = [
    "bitcoin",
    "bitcoincash",
    "dogecoin",
    "ethereum",
    "litecoin",
    "tron",
    "bnb",
    "smartchain",
];

/// Hosts of the developer's own machine, the only ones reached without TLS.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Whether this is a page to go to: `https:`, or `http:` on this machine.
pub fn is_page(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
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

/// Whether this opens a wallet.
pub fn is_wallet(uri: &str) -> bool {
    uri.split_once(':')
        .is_some_and(|(scheme, rest)| !rest.is_empty() && WALLET_SCHEMES.contains(&scheme))
}

/// Where help is found about this order: a page as it is, an address for e-mail with the order's id as subject.
pub fn support(url: &str, order_id: &str) -> Option<String> {
    if is_page(url) {
        return Some(url.to_owned());
    }
    if !url.starts_with("mailto:") {
        return None;
    }
    let joint = if url.contains('?') {
        "&subject="
    } else {
        "?subject="
    };
    Some([url, joint, order_id].concat())
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
    fn wallets_are_known_by_their_scheme() {
        assert!(is_wallet("bitcoin:tb1q?amount=0.1"));
        assert!(is_wallet("ethereum:0xabc@1?value=1"));
        for uri in ["javascript:alert(1)", "bitcoin:", "tb1q", "BITCOIN2:x", ""] {
            assert!(!is_wallet(uri), "{uri}");
        }
    }

    #[test]
    fn an_e_mail_for_help_names_the_order() {
        assert_eq!(
            support("mailto:help@shop.example", "ord_1").as_deref(),
            Some("mailto:help@shop.example?subject=ord_1")
        );
        assert_eq!(
            support("mailto:a@b.example?cc=c@b.example", "ord_1").as_deref(),
            Some("mailto:a@b.example?cc=c@b.example&subject=ord_1")
        );
        assert_eq!(
            support("https://shop.example/help", "ord_1").as_deref(),
            Some("https://shop.example/help")
        );
        assert_eq!(support("javascript:alert(1)", "ord_1"), None);
    }
}
