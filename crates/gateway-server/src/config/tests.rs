use super::*;

const TEXT: &str = r#"
network = "regtest"
api_key = "shop"
api_secret = "0123456789abcdef0123456789abcdef"

[[chain]]
name = "litecoin"
key = "wpkh(tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJCTKvosUCJZL5B/0/*)"
node_url = "http://user:pass@127.0.0.1:19443"
"#;

fn problems(text: &str, variables: &[(&str, &str)]) -> String {
    let variables = variables.iter().map(|(name, value)| {
        let name = format!("{PREFIX}{name}");
        (name, (*value).to_owned())
    });
    match parse(text, variables) {
        Ok(_) => String::new(),
        Err(problems) => format!("{problems:#}"),
    }
}

/// What replaces what, and a part of the problem.
const CASES: &str = r#"
shop | shop | 
"regtest" | "mainnet" | network: unknown variant
"shop" | "" | api_key: it must not be empty
0123456789abcdef0123456789abcdef | short | api_secret: it has 5 characters
"litecoin" | "ethereum" | chain[0] (ethereum).key
node_url = | node_address = | chain[0].node_address: unknown field
http://user | ftp://user | chain[0] (litecoin).node_url
network = "regtest" | network = "main" | chain[0] (litecoin).key
node_url = | confirmations = [{ from_usd = "0", confirmations = 0 }] NEWLINE node_url = | 0 confirmations credit
node_url = | assets = ["BTC"] NEWLINE node_url = | assets: BTC does not move
network = | invoice_minutes = 0 NEWLINE network = | invoice_minutes: it is 1 to 1440
"#;

#[test]
fn each_problem_is_named_by_its_key() {
    for line in CASES.trim().lines() {
        let parts: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let (from, to, expected) = (parts[0], parts[1], parts.get(2).unwrap_or(&""));
        let text = TEXT.replacen(from, &to.replace("NEWLINE", "\n"), 1);
        let found = problems(&text, &[]);
        let is_expected = found.contains(expected) && found.is_empty() == expected.is_empty();
        assert!(is_expected, "{line}: {found}");
        assert!(!found.contains("user:pass"), "{found}");
    }
    assert!(problems("network = \"test\"", &[]).contains("missing field"));
}

#[test]
fn a_variable_wins_and_a_file_holds_a_secret() {
    let short = ("API_SECRET", "12345");
    assert!(problems(TEXT, &[short]).contains("api_secret: it has 5 characters"));
    let minutes = ("INVOICE_MINUTES", "0");
    assert!(problems(TEXT, &[minutes]).contains("invoice_minutes"));
    let key = ("CHAIN__0__KEY", "xprv");
    assert!(problems(TEXT, &[key]).contains("chain[0] (litecoin).key"));
    let gap = ("CHAIN__2__KEY", "xpub");
    assert!(problems(TEXT, &[gap]).contains("gap before this number"));
    let twice = ("API_SECRET_FILE", "/nowhere");
    assert!(problems(TEXT, &[twice]).contains("api_secret is set as well"));
    let without = TEXT.replace("api_secret = ", "#");
    assert!(problems(&without, &[twice]).contains("/nowhere"));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(problems(&without, &[("API_SECRET_FILE", path)]), "");
}
