//! Whatever a broken gateway answers, a page shows the response's own checked address, and a code that asks for exactly the
//! amount due in the asset, or the address alone.
//!
//! The expected codes are written here as whole texts, so a code that carries anything more is found. The address crate's
//! tests read the codes as wallets do.

use florin_address::WalletTransaction;
use florin_money::{CryptoCode, Currency};
use florin_orders::{Amounts, QuotedAmounts};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::*;

const CONTRACTS: [&str; 2] = [
    "0xdAC17F958D2ee523a2206206994597C13D831ec7",
    "0xaA8E23Fb1079EA71e0a56F48a2aA51851D8433D0",
];
const TOKENS: [&str; 2] = [
    "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
];
const CHAINS: [&[&str]; 2] = [&["1"], &["11155111", "560048", "17000"]];
const BNB_CHAINS: [&str; 2] = ["56", "97"];

/// A request and the amount that is due of it.
#[derive(Clone, Debug)]
struct Case {
    asset: Asset,
    is_test: bool,
    bytes: [u8; 20],
    /// In the smallest unit.
    units: u128,
    due: u128,
}

fn address(asset: Asset, is_test: bool, bytes: [u8; 20]) -> String {
    let [main, test]: [u8; 2] = match asset {
        Asset::BTC => [0x00, 0x6f],
        Asset::LTC => [0x30, 0x3a],
        Asset::DOGE => [0x1e, 0x71],
        Asset::TRX | Asset::USDTTRC20 => [0x41, 0x41],
        Asset::BCH => {
            let [main, test] = [
                "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
                "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
            ];
            return if is_test { test } else { main }.to_owned();
        }
        Asset::ETH | Asset::BNB | Asset::USDTERC20 => {
            return format!("0x{}", hex::encode(bytes));
        }
        _ => panic!("the addresses of {asset:?} are not written here"),
    };
    let version = if is_test { test } else { main };
    bs58::encode(bytes)
        .with_check_version(version)
        .into_string()
}

/// Units as a number of coins, at least with one decimal.
fn coins(units: u128, decimals: u32) -> String {
    let width = usize::try_from(decimals).unwrap();
    let digits = format!("{units:0>width$}", width = width + 1);
    let (whole, fraction) = digits.split_at(digits.len() - width);
    let fraction = fraction.trim_end_matches('0');
    format!(
        "{whole}.{}",
        if fraction.is_empty() { "0" } else { fraction }
    )
}

impl Case {
    fn environment(&self) -> Environment {
        if self.is_test {
            Environment::Test
        } else {
            Environment::Production
        }
    }

    fn terms(&self) -> CustomTerms {
        let money = Amount::parse("19.90").unwrap();
        let crypto = Amount::parse(&coins(self.units, self.asset.decimals())).unwrap();
        CustomTerms {
            crypto_code: self.asset.crypto_code(),
            conversion_id: "conv".to_owned(),
            requested: QuotedAmounts {
                amounts: Amounts {
                    crypto,
                    usd: money,
                    local: money,
                },
                local_currency: Currency::USD,
            },
        }
    }

    fn address(&self) -> String {
        address(self.asset, self.is_test, self.bytes)
    }

    /// Every code that asks for `units` to `address`, besides the address alone.
    fn codes(&self, address: &str, units: u128) -> Vec<String> {
        let environment = usize::from(self.is_test);
        let point = coins(units, self.asset.decimals());
        let amount = point.trim_end_matches(".0");
        let evm = |chain: &str| format!("ethereum:{address}@{chain}?value={units}");
        let mut chains = CHAINS[environment].iter();
        match self.asset {
            Asset::BTC => vec![format!("bitcoin:{address}?amount={amount}")],
            Asset::LTC => vec![format!("litecoin:{address}?amount={amount}")],
            Asset::DOGE => vec![format!("dogecoin:{address}?amount={amount}")],
            Asset::BCH => {
                let prefix = if self.is_test {
                    "bchtest"
                } else {
                    "bitcoincash"
                };
                let payload = address.rsplit(':').next().unwrap().to_lowercase();
                vec![format!("{prefix}:{payload}?amount={amount}")]
            }
            Asset::ETH => chains.map(|chain| evm(chain)).collect(),
            Asset::BNB => vec![evm(BNB_CHAINS[environment])],
            Asset::TRX if self.is_test => Vec::new(),
            Asset::TRX => vec![format!("tron:{address}?amount={point}")],
            Asset::USDTTRC20 => {
                let token = TOKENS[environment];
                vec![format!("tron:{address}?token={token}&amount={point}")]
            }
            Asset::USDTERC20 => {
                let contract = CONTRACTS[environment];
                let code = |chain| {
                    format!(
                        "ethereum:{contract}@{chain}/transfer?address={address}&uint256={units}"
                    )
                };
                chains.by_ref().map(code).collect()
            }
            asset => panic!("the codes of {asset:?} are not written here"),
        }
    }

    /// What a correct gateway answers.
    fn response(&self) -> Value {
        let address = self.address();
        let codes = self.codes(&address, self.units);
        json!({
            "invoice_id": "inv_1",
            "invoice_expired_in": "15",
            "deposit_crypto": self.asset.crypto_code().as_str(),
            "deposit_address": address,
            "qr_string": codes.first().unwrap_or(&address),
            "invoice_amount_in_crypto": coins(self.units, self.asset.decimals()),
            "invoice_amount_in_usd": "19.90",
            "local_currency_amount": "19.90",
            "local_currency_code": "USD",
            "warning_messages": ["Send only this asset."],
        })
    }
}

/// What happens to one member of the response, or to the response's text.
#[derive(Clone, Debug)]
enum Mutation {
    Letter(&'static str, Index, char),
    Insert(&'static str, Index, char),
    Cut(&'static str, Index),
    Case(&'static str, Index),
    Uppercase(&'static str),
    Encode(&'static str, Index),
    Append(&'static str, &'static str),
    /// One member takes the value of another.
    Copy(&'static str, &'static str),
    Set(&'static str, &'static str),
    /// Another address of the asset, in one place alone.
    Address(&'static str, [u8; 20]),
    /// Another asset's address and code, in both places.
    OtherAsset(Asset),
    OtherNetwork,
    /// A member that comes twice in the text, once with another value.
    Twice(&'static str, &'static str),
}

const MEMBERS: [&str; 8] = [
    "invoice_id",
    "deposit_crypto",
    "deposit_address",
    "qr_string",
    "qr_string",
    "qr_string",
    "invoice_amount_in_crypto",
    "invoice_expired_in",
];
const STRANGE: [char; 18] = [
    'а', 'О', 'ı', 'ſ', 'K', '１', '٣', '\u{200b}', '\u{202e}', '\u{feff}', '\u{301}', '\u{a0}',
    '\n', '\t', ' ', '\0', '%', '&',
];
const APPENDED: [&str; 18] = [
    "&amount=1",
    "?amount=1",
    "&AMOUNT=0.00000001",
    "&%61mount=1",
    "&value=1",
    "&uint256=1",
    "&pj=https://elsewhere.example",
    "&pjos=0",
    "&r=https%3A%2F%2Felsewhere.example",
    "&lightning=lnbc1",
    "&req-x=1",
    "&contractAddress=0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    "&gasPrice=1000000000000000000",
    "&gas=21000",
    "&address=0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    "&token=TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8",
    "&label=a&message=b",
    "#?amount=1",
];
const VALUES: [&str; 8] = ["", "0", "1", "1e3", "-1", "BTC", "TRX", "ethereum:"];

fn mutation() -> impl Strategy<Value = Mutation> {
    let member = || prop::sample::select(MEMBERS.to_vec());
    let index = any::<Index>;
    let letter = || {
        prop_oneof![
            proptest::char::range('!', '~'),
            prop::sample::select(STRANGE.to_vec()),
        ]
    };
    let value = || prop::sample::select(VALUES.to_vec());
    prop_oneof![
        (member(), index(), letter()).prop_map(|(of, at, to)| Mutation::Letter(of, at, to)),
        (member(), index(), letter()).prop_map(|(of, at, to)| Mutation::Insert(of, at, to)),
        (member(), index()).prop_map(|(of, at)| Mutation::Cut(of, at)),
        (member(), index()).prop_map(|(of, at)| Mutation::Case(of, at)),
        member().prop_map(Mutation::Uppercase),
        (member(), index()).prop_map(|(of, at)| Mutation::Encode(of, at)),
        prop::sample::select(APPENDED.to_vec())
            .prop_map(|tail| Mutation::Append("qr_string", tail)),
        (member(), member()).prop_map(|(to, from)| Mutation::Copy(to, from)),
        (member(), value()).prop_map(|(of, to)| Mutation::Set(of, to)),
        (member(), any::<[u8; 20]>()).prop_map(|(of, bytes)| Mutation::Address(of, bytes)),
        prop::sample::select(Asset::ALL.to_vec()).prop_map(Mutation::OtherAsset),
        Just(Mutation::OtherNetwork),
        (member(), value()).prop_map(|(of, to)| Mutation::Twice(of, to)),
    ]
}

impl Mutation {
    fn apply(&self, case: &Case, response: &mut Value) {
        let text =
            |response: &Value, of: &str| response[of].as_str().unwrap_or_default().to_owned();
        let edit = |response: &mut Value, of: &str, change: &dyn Fn(&mut Vec<char>)| {
            let mut chars: Vec<char> = text(response, of).chars().collect();
            change(&mut chars);
            response[of] = chars.into_iter().collect::<String>().into();
        };
        let at = |index: &Index, chars: &[char]| index.index(chars.len().max(1));
        match self {
            Self::Letter(of, index, to) => edit(response, of, &|chars| {
                let at = at(index, chars);
                if let Some(letter) = chars.get_mut(at) {
                    *letter = *to;
                }
            }),
            Self::Insert(of, index, letter) => edit(response, of, &|chars| {
                chars.insert(index.index(chars.len() + 1), *letter);
            }),
            Self::Cut(of, index) => edit(response, of, &|chars| {
                chars.truncate(index.index(chars.len() + 1));
            }),
            Self::Case(of, index) => edit(response, of, &|chars| {
                let at = at(index, chars);
                if let Some(letter) = chars.get_mut(at) {
                    *letter = match *letter {
                        small @ 'a'..='z' => small.to_ascii_uppercase(),
                        other => other.to_ascii_lowercase(),
                    };
                }
            }),
            Self::Uppercase(of) => response[*of] = text(response, of).to_uppercase().into(),
            Self::Encode(of, index) => edit(response, of, &|chars| {
                if chars.is_empty() {
                    return;
                }
                let at = at(index, chars);
                let encoded = format!("%{:02X}", u32::from(chars[at]) & 0xff);
                chars.splice(at..=at, encoded.chars());
            }),
            Self::Append(of, tail) => {
                response[*of] = format!("{}{tail}", text(response, of)).into();
            }
            Self::Copy(to, from) => response[*to] = response[*from].clone(),
            Self::Set(of, to) => response[*of] = (*to).into(),
            Self::Address(of, bytes) => {
                let other = address(case.asset, case.is_test, *bytes);
                response[*of] = text(response, of).replace(&case.address(), &other).into();
            }
            Self::OtherAsset(asset) => {
                let other = Case {
                    asset: *asset,
                    ..case.clone()
                };
                let other = other.response();
                for of in ["deposit_address", "qr_string"] {
                    response[of] = other[of].clone();
                }
            }
            Self::OtherNetwork => {
                let other = Case {
                    is_test: !case.is_test,
                    ..case.clone()
                };
                let other = other.response();
                for of in ["deposit_address", "qr_string"] {
                    response[of] = other[of].clone();
                }
            }
            // In the text, by `written`.
            Self::Twice(..) => {}
        }
    }
}

/// The response as the gateway sends it.
fn written(response: &Value, mutations: &[Mutation]) -> String {
    let mut text = response.to_string();
    for mutation in mutations {
        if let Mutation::Twice(of, value) = mutation {
            text = text.replacen('{', &format!("{{\"{of}\":\"{value}\","), 1);
        }
    }
    text
}

fn cases() -> impl Strategy<Value = Case> {
    let asset = prop::sample::select(Asset::ALL.to_vec());
    let amounts = (1..=10_u128.pow(12), 1_u128..=100);
    (asset, any::<bool>(), any::<[u8; 20]>(), amounts).prop_map(
        |(asset, is_test, bytes, (units, share))| Case {
            asset,
            is_test,
            bytes,
            units,
            due: (units * share / 100).max(1),
        },
    )
}

/// What a page shows of a response: address and code, and what it asks a wallet in the browser to sign.
fn shown(case: &Case, response: &str) -> Option<(String, String, Option<WalletTransaction>)> {
    let response: florin_gateway::Invoice = serde_json::from_str(response).ok()?;
    let (terms, environment) = (case.terms(), case.environment());
    let invoice = check_invoice(&terms, &response, environment, Timestamp::UNIX_EPOCH).ok()?;
    let Destination::Address {
        address, qr_string, ..
    } = invoice.destination
    else {
        panic!("an invoice has an address");
    };
    let due = Amount::parse(&coins(case.due, case.asset.decimals())).unwrap();
    let target = target(case.asset, &terms, &address, &qr_string, environment).ok()?;
    let code = target.uri(due);
    let transaction = target.evm_transaction(due);
    let transaction = transaction.or_else(|| target.tron_transaction(due));
    Some((address, code, transaction))
}

/// The transaction that pays what a code of these tests asks for: nothing but digits is taken from the code, the chain's.
fn expected_transaction(case: &Case, address: &str, code: &str) -> Option<WalletTransaction> {
    // No code names TRX on a test network.
    if case.asset == Asset::TRX && case.is_test {
        assert_eq!(code, address);
        return Some(WalletTransaction {
            chain_id: "0xcd8690dc".to_owned(),
            to: address.to_owned(),
            value: format!("{:#x}", case.due),
            data: "0x".to_owned(),
        });
    }
    if let Some(code) = code.strip_prefix("tron:") {
        let is_token = case.asset == Asset::USDTTRC20;
        let token = code.split_once("token=").map(|(_, rest)| &rest[..34]);
        let is_nile = token == Some("TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf");
        let account = hex::encode(case.bytes);
        let (value, data) = if is_token {
            let data = format!("0xa9059cbb{}{account}{:064x}", "0".repeat(24), case.due);
            ("0x0".to_owned(), data)
        } else {
            (format!("{:#x}", case.due), "0x".to_owned())
        };
        return Some(WalletTransaction {
            chain_id: if is_nile { "0xcd8690dc" } else { "0x2b6653dc" }.to_owned(),
            to: token.unwrap_or(address).to_owned(),
            value,
            data,
        });
    }
    let (target, _) = code.strip_prefix("ethereum:")?.split_once(['?', '/'])?;
    let (_, chain) = target.split_once('@')?;
    let chain_id = format!("{:#x}", chain.parse::<u32>().unwrap());
    let to = address[2..].to_lowercase();
    Some(if case.asset == Asset::USDTERC20 {
        WalletTransaction {
            chain_id,
            to: target.split_once('@')?.0.to_owned(),
            value: "0x0".to_owned(),
            data: format!("0xa9059cbb{}{to}{:064x}", "0".repeat(24), case.due),
        }
    } else {
        WalletTransaction {
            chain_id,
            to: address.to_owned(),
            value: format!("{:#x}", case.due),
            data: "0x".to_owned(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn a_correct_answer_is_shown_with_a_code_for_the_amount_due(case in cases()) {
        let (address, code, transaction) = shown(&case, &case.response().to_string()).unwrap();
        prop_assert_eq!(&address, &case.address());
        let codes = case.codes(&address, case.due);
        let expected = codes.first().unwrap_or(&address);
        prop_assert_eq!(&code, expected);
        prop_assert_eq!(transaction, expected_transaction(&case, &address, expected));
    }

    #[test]
    fn no_answer_makes_a_code_that_pays_elsewhere(
        case in cases(),
        mutations in prop::collection::vec(mutation(), 1..=3),
    ) {
        let mut response = case.response();
        for mutation in &mutations {
            mutation.apply(&case, &mut response);
        }
        let Some((address, code, transaction)) = shown(&case, &written(&response, &mutations)) else {
            return Ok(());
        };
        prop_assert_eq!(Some(&*address), response["deposit_address"].as_str());
        prop_assert!(florin_address::check(case.asset, &address, network(case.environment())).is_ok());
        prop_assert!(address.bytes().all(|b| b.is_ascii_alphanumeric() || b == b':'), "{address:?}");
        prop_assert!(is_expected(&case, &address, &code), "{code:?} for {address:?}");
        prop_assert_eq!(transaction, expected_transaction(&case, &address, &code));
    }

    #[test]
    fn no_session_sends_a_customer_elsewhere(
        mutations in prop::collection::vec((any::<Index>(), any::<bool>(), prop_oneof![
            proptest::char::range('!', '~'), prop::sample::select(STRANGE.to_vec())
        ]), 1..=4),
    ) {
        let mut page: Vec<char> = "https://checkout.example/pay?id=ses_1".chars().collect();
        for (at, inserts, letter) in mutations {
            let at = at.index(page.len());
            if inserts { page.insert(at, letter) } else { page[at] = letter }
        }
        let response = HostedSession {
            session_id: florin_gateway::InvoiceId::parse("ses_1").unwrap(),
            payment_process_url: page.into_iter().collect(),
        };
        let base = Url::parse("https://checkout.example/pay").unwrap();
        let Ok(session) = check_session(&response, &base, Timestamp::UNIX_EPOCH) else {
            return Ok(());
        };
        let url = session.page().unwrap().as_str();
        prop_assert!(url.starts_with("https://checkout.example/pay"), "{url}");
        let end = &url["https://checkout.example/pay".len()..];
        prop_assert!(end.starts_with(['/', '?']) && end.contains("id=ses_1"), "{url}");
        prop_assert!(url.bytes().all(|b| (b'!'..=b'~').contains(&b)), "{url:?}");
    }
}

#[test]
fn every_asset_has_an_address_and_codes_here() {
    for asset in Asset::ALL {
        for is_test in [false, true] {
            let case = Case {
                asset,
                is_test,
                bytes: [1; 20],
                units: 1,
                due: 1,
            };
            let address = case.address();
            assert_eq!(
                shown(&case, &case.response().to_string()).unwrap().0,
                address
            );
        }
    }
}

/// Returns `true` for the address alone, and for a code that asks for the amount due. On a test network the gateway may have
/// deployed its own token.
fn is_expected(case: &Case, address: &str, code: &str) -> bool {
    let codes = case.codes(address, case.due);
    if code == address || codes.iter().any(|expected| expected == code) {
        return true;
    }
    if case.asset != Asset::USDTERC20 || !case.is_test {
        return false;
    }
    let contract = code.get(9..51).unwrap_or_default();
    let is_contract = florin_address::check(Asset::ETH, contract, Network::Test).is_ok();
    is_contract && codes.contains(&code.replacen(contract, CONTRACTS[1], 1))
}

#[test]
fn the_codes_of_these_tests_are_those_of_the_assets() {
    for asset in Asset::ALL {
        assert!(CryptoCode::parse(asset.crypto_code().as_str()).is_ok());
        for is_test in [false, true] {
            let case = Case {
                asset,
                is_test,
                bytes: [7; 20],
                units: 1_500_000,
                due: 1,
            };
            assert!(
                shown(&case, &case.response().to_string()).is_some(),
                "{asset:?}"
            );
        }
    }
}

#[test]
fn an_invoice_of_another_amount_currency_or_asset_is_not_shown() {
    for asset in Asset::ALL {
        let case = Case {
            asset,
            is_test: false,
            bytes: [7; 20],
            units: 30_973,
            due: 30_973,
        };
        assert!(
            shown(&case, &case.response().to_string()).is_some(),
            "{asset:?}"
        );
        for (member, value) in [
            ("invoice_amount_in_crypto", coins(30_972, asset.decimals())),
            ("invoice_amount_in_crypto", coins(30_974, asset.decimals())),
            ("invoice_amount_in_usd", "19.89".to_owned()),
            ("local_currency_amount", "19.91".to_owned()),
            ("local_currency_code", "EUR".to_owned()),
            ("deposit_crypto", "XXX".to_owned()),
        ] {
            let mut response = case.response();
            response[member] = json!(value);
            let response: florin_gateway::Invoice = serde_json::from_value(response).unwrap();
            let now = Timestamp::UNIX_EPOCH;
            let checked = check_invoice(&case.terms(), &response, case.environment(), now);
            let is_found =
                matches!(&checked, Err(InvoiceMismatch::Field { field, .. }) if *field == member);
            assert!(is_found, "{asset:?}, {member} {value}: {checked:?}");
        }
    }
}
