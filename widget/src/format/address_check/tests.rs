use super::*;

/// Made up; of the shapes that the networks use.
const SEGWIT: &str = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
const HEX: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TRON: &str = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
const CASH: &str = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap";

fn marked(address: &str, pasted: &str) -> String {
    let Verdict::Other([before, other, after]) = compare(address, pasted) else {
        panic!("{pasted} passes for {address}");
    };
    format!("{before}[{other}]{after}")
}

#[test]
fn the_address_is_the_same_whatever_white_space_is_in_it() {
    for pasted in [
        TRON.to_owned(),
        format!("  {TRON}\n"),
        "TJRa bPrw bZy4 5sba vfcj inPJ C18k jpRT v8".to_owned(),
        format!("\u{feff}\u{200b}{TRON}\u{2069}"),
    ] {
        assert_eq!(compare(TRON, &pasted), Verdict::Same, "{pasted:?}");
    }
    assert_eq!(compare(TRON, " \n\u{200b}"), Verdict::Nothing);
}

#[test]
fn case_counts_where_the_format_says_so() {
    for address in [
        SEGWIT,
        HEX,
        CASH,
        "qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
    ] {
        for pasted in [address.to_ascii_uppercase(), address.to_ascii_lowercase()] {
            assert_eq!(compare(address, &pasted), Verdict::Same, "{pasted}");
        }
    }
    assert_eq!(compare(&SEGWIT.to_uppercase(), SEGWIT), Verdict::Same);
    assert_eq!(
        marked(TRON, "TjRabPrwbZy45sbavfcjinPJC18kjpRTv8"),
        "T[j]RabPrwbZy45sbavfcjinPJC18kjpRTv8"
    );
    // Base58 of one's imagination that begins as bech32 does.
    assert_eq!(marked("bc1AbC", "bc1abc"), "bc1[abc]");
}

#[test]
fn the_address_is_found_in_payment_uris() {
    for (address, uri) in [
        (
            SEGWIT,
            format!("bitcoin:{SEGWIT}?amount=0.00030973&label=x"),
        ),
        (
            SEGWIT,
            format!("BITCOIN:{}?AMOUNT=1", SEGWIT.to_uppercase()),
        ),
        (HEX, format!("ethereum:{HEX}@97?value=1")),
        (HEX, format!("ethereum:pay-{HEX}")),
        (
            HEX,
            format!("ethereum:0x12@1/transfer?uint256=5&address={HEX}"),
        ),
        (TRON, format!("tron://{TRON}?amount=5")),
        (CASH, format!("{CASH}?amount=1")),
        (CASH, CASH.split_once(':').unwrap().1.to_owned()),
    ] {
        assert_eq!(compare(address, &uri), Verdict::Same, "{uri}");
    }
}

#[test]
fn a_tokens_contract_is_not_taken_for_the_receiver() {
    let other = "0x00000000000000000000000000000000000000ed";
    for uri in [
        format!("ethereum:{HEX}/transfer?address={other}&uint256=5"),
        format!("ethereum:{HEX}/transfer?uint256=5"),
        format!("ethereum:{other}?label={HEX}"),
    ] {
        assert!(matches!(compare(HEX, &uri), Verdict::Other(_)), "{uri}");
    }
}

#[test]
fn the_characters_that_differ_are_marked() {
    assert_eq!(
        marked(TRON, "TJRabPrwbZy45sbXXXcjinPJC18kjpRTv8"),
        "TJRabPrwbZy45sb[XXX]cjinPJC18kjpRTv8"
    );
    // What was pasted is shown as it was pasted.
    assert_eq!(
        marked(SEGWIT, "TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZSY"),
        "TB1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KXPJZS[Y]"
    );
    // A letter of another alphabet that looks alike.
    assert_eq!(marked("TAbc", "T\u{410}bc"), "T[\u{410}]bc");
}

#[test]
fn what_is_too_much_or_missing_marks_its_place_alone() {
    assert_eq!(marked("TJRabPrw", "TJRabXXPrw"), "TJRab[XX]Prw");
    assert_eq!(marked("TJRabPrw", "TJRaPrw"), "TJR[aP]rw");
    assert_eq!(marked("TJRabPrw", "TJRabPrwQ"), "TJRabPrw[Q]");
    assert_eq!(marked("aaaa", "aaaaaa"), "a[aaaa]a");
}

#[test]
fn a_part_of_the_address_is_neither_right_nor_wrong() {
    for pasted in [
        "T",
        "TJRabPrw",
        "kjpRTv8",
        "TJRab…RTv8",
        "TJRab...RTv8",
        "…",
    ] {
        assert_eq!(compare(TRON, pasted), Verdict::Part, "{pasted}");
    }
    assert!(matches!(compare(TRON, "TJRab…RTv9"), Verdict::Other(_)));
    assert!(matches!(compare(TRON, "TJRxb…RTv8"), Verdict::Other(_)));
}

#[test]
fn no_text_makes_it_fail() {
    for pasted in [
        ":",
        "a:",
        ":?",
        "x:/transfer?",
        "é",
        "…x…",
        &"é".repeat(9999),
    ] {
        let _ = compare("é1", pasted);
        let _ = compare(TRON, pasted);
        let _ = compare("", pasted);
    }
}
