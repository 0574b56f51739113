//! The Content-Security-Policy of a shop's page: whether it lets the loader and the frame in.
//!
//! Source: W3C, Content Security Policy Level 3, 6.7.2 ("URL Matching") and 6.8.3 ("Get fetch directive fallback list").

use url::Url;

/// A policy: its directives in their order.
pub(crate) struct Policy(Vec<(String, Vec<String>)>);

/// Where a directive is missing, the next one of the list holds.
const SCRIPT: [&str; 3] = ["script-src-elem", "script-src", "default-src"];
const FRAME: [&str; 3] = ["frame-src", "child-src", "default-src"];

/// What a page's policies stop.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// The directive to change.
    pub(crate) directive: String,
    /// What it stops: `florin.js` or `the frame`.
    pub(crate) what: &'static str,
    /// The directive that lets it in; `None` where hosts are ignored, and only a nonce does.
    pub(crate) line: Option<String>,
}

/// What of the checkout the policies of a page stop; nothing without a policy.
pub(crate) fn stopped(policies: &[Policy], page: &Url, proxy: &Url) -> Vec<Stopped> {
    let mut found: Vec<Stopped> = Vec::new();
    for (what, path, directives) in [
        ("florin.js", "/florin.js", SCRIPT),
        ("the frame", "/pay", FRAME),
    ] {
        let mut wanted = proxy.clone();
        wanted.set_path(path);
        for policy in policies {
            let Some((directive, sources)) = policy.directive(&directives) else {
                continue;
            };
            // Scripts by their nonce alone: hosts are ignored.
            let is_strict = sources.iter().any(|source| source == "'strict-dynamic'");
            let is_script = directives == SCRIPT;
            let allows = |source: &String| matches(source, page, &wanted);
            if (is_script && is_strict) || !sources.iter().any(allows) {
                // `default-src` is too wide for one address.
                let name = if directive == "default-src" {
                    if is_script { "script-src" } else { "frame-src" }
                } else {
                    directive
                };
                let kept = sources.iter().map(String::as_str);
                let kept = kept.filter(|source| *source != "'none'");
                let host = proxy.origin().ascii_serialization();
                let line = [name].into_iter().chain(kept).chain([host.as_str()]);
                let line = line.collect::<Vec<_>>().join(" ");
                found.push(Stopped {
                    directive: directive.to_owned(),
                    what,
                    line: (!is_script || !is_strict).then_some(line),
                });
                break;
            }
        }
    }
    found
}

impl Policy {
    /// The policies of a header: one or more, separated by commas.
    pub(crate) fn of_header(text: &str) -> Vec<Self> {
        text.split(',').map(Self::parse).collect()
    }

    /// The policies of a page's `<meta http-equiv>`.
    pub(crate) fn of_page(html: &str) -> Vec<Self> {
        let mut found = Vec::new();
        for tag in html.split('<').skip(1) {
            let lower = tag.to_ascii_lowercase();
            if !lower.starts_with("meta") || !lower.contains("content-security-policy") {
                continue;
            }
            let content = [" content=\"", " content='"].iter().find_map(|start| {
                let at = lower.find(start)? + start.len();
                let quote = start.chars().next_back()?;
                tag[at..].split(quote).next()
            });
            if let Some(content) = content {
                let content = content.replace("&#39;", "'").replace("&apos;", "'");
                found.push(Self::parse(&content));
            }
        }
        found
    }

    fn parse(text: &str) -> Self {
        let directives = text.split(';').filter_map(|directive| {
            let mut words = directive.split_ascii_whitespace();
            let name = words.next()?.to_ascii_lowercase();
            Some((name, words.map(str::to_owned).collect()))
        });
        Self(directives.collect())
    }

    /// The first of these directives that the policy has. Of two of one name the first one holds.
    fn directive(&self, names: &[&str]) -> Option<(&str, &[String])> {
        names.iter().find_map(|name| {
            let found = self.0.iter().find(|(known, _)| known == name);
            found.map(|(name, sources)| (name.as_str(), sources.as_slice()))
        })
    }
}

/// Whether a source of a directive lets an address in.
fn matches(source: &str, page: &Url, wanted: &Url) -> bool {
    if source == "*" {
        return true;
    }
    if source.eq_ignore_ascii_case("'self'") {
        return page.origin() == wanted.origin();
    }
    if source.starts_with('\'') {
        return false;
    }
    if let Some(scheme) = source.strip_suffix(':') {
        return is_scheme(scheme, wanted.scheme());
    }
    let (scheme, rest) = match source.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => (page.scheme(), source),
    };
    let (host, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (host, None),
    };
    is_scheme(scheme, wanted.scheme())
        && is_host(host, wanted.host_str().unwrap_or_default())
        && is_port(port, wanted)
        && is_path(path, wanted.path())
}

/// An encrypted address is let in where an unencrypted one is.
fn is_scheme(source: &str, wanted: &str) -> bool {
    source.eq_ignore_ascii_case(wanted)
        || (source.eq_ignore_ascii_case("http") && wanted == "https")
}

fn is_host(source: &str, wanted: &str) -> bool {
    let (source, wanted) = (source.to_ascii_lowercase(), wanted.to_ascii_lowercase());
    match source.strip_prefix('*') {
        Some(domain) => domain.starts_with('.') && wanted.ends_with(domain),
        None => source == wanted,
    }
}

fn is_port(source: Option<&str>, wanted: &Url) -> bool {
    match source {
        Some("*") => true,
        Some(port) => port.parse().ok() == wanted.port_or_known_default(),
        // The default port is no part of an address.
        None => wanted.port().is_none(),
    }
}

/// A path that ends in a slash stands for all below it.
fn is_path(source: &str, wanted: &str) -> bool {
    match source {
        "" | "/" => true,
        folder if folder.ends_with('/') => wanted.starts_with(folder),
        file => file == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(policy: &str, page: &str, proxy: &str) -> Vec<Stopped> {
        let url = |text: &str| Url::parse(text).unwrap();
        stopped(&Policy::of_header(policy), &url(page), &url(proxy))
    }

    #[test]
    fn a_policy_lets_in_what_its_sources_name() {
        let https = "https://pay.shop.example";
        for (policy, proxy, stopped) in [
            ("", https, &[][..]),
            ("img-src 'none'", https, &[]),
            ("default-src 'self'", https, &["default-src", "default-src"]),
            ("default-src *", https, &[]),
            ("default-src https:", https, &[]),
            ("script-src https://pay.shop.example", https, &[]),
            (
                "script-src https://pay.shop.example; frame-src 'none'",
                https,
                &["frame-src"],
            ),
            ("script-src http://pay.shop.example", https, &[]),
            ("script-src pay.shop.example", https, &[]),
            (
                "script-src *.shop.example; child-src *.shop.example",
                https,
                &[],
            ),
            ("script-src *.pay.shop.example", https, &["script-src"]),
            (
                "script-src https://pay.shop.example:8443",
                https,
                &["script-src"],
            ),
            ("script-src https://pay.shop.example:*", https, &[]),
            ("script-src https://pay.shop.example/florin.js", https, &[]),
            (
                "script-src https://pay.shop.example/assets/",
                https,
                &["script-src"],
            ),
            ("script-src 'none'; script-src *", https, &["script-src"]),
            (
                "script-src-elem 'self'; script-src *",
                https,
                &["script-src-elem"],
            ),
            ("script-src 'strict-dynamic' https:", https, &["script-src"]),
            ("script-src *, frame-src 'self'", https, &["frame-src"]),
            (
                "script-src http://127.0.0.1:8080",
                "http://127.0.0.1:8080",
                &[],
            ),
            (
                "script-src http://127.0.0.1",
                "http://127.0.0.1:8080",
                &["script-src"],
            ),
            ("default-src 'self'", "https://shop.example", &[]),
        ] {
            let found = stops(policy, "https://shop.example/cart", proxy);
            let directives = found.iter().map(|stopped| stopped.directive.as_str());
            assert_eq!(directives.collect::<Vec<_>>(), stopped, "{policy}");
            for Stopped {
                directive,
                line,
                what,
            } in found
            {
                // The first directive of a name holds.
                let Some(line) = line else {
                    assert!(policy.contains("'strict-dynamic'"));
                    continue;
                };
                let pasted = format!("{line}; {policy}");
                let left = stops(&pasted, "https://shop.example/cart", proxy);
                let is_left = left.iter().any(|left| left.what == what);
                assert!(!is_left || policy.contains(','), "{directive}: {line}");
            }
        }
    }

    #[test]
    fn a_policy_in_the_page_counts() {
        let page = "<META http-equiv='Content-Security-Policy' content=\"frame-src &#39;none&#39;\"><meta name=a content='b'>";
        let policies = Policy::of_page(page);
        assert_eq!(policies.len(), 1);
        let url = Url::parse("https://pay.shop.example").unwrap();
        assert_eq!(stopped(&policies, &url, &url)[0].directive, "frame-src");
    }
}
