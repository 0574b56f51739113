//! Whatever the gateway writes, a wallet pays what was asked for, where it was asked for, or gets no link.

use core::ops::RangeInclusive;

use super::wallet::{OPEN_CHAIN, Sent, sends};
use super::*;

/// An invoice, and how far it is paid.
#[derive(Clone, Debug)]
struct Case {
    asset: Asset,
    network: Network,
    address: String,
    /// In the smallest unit.
    asked: u128,
    /// At most `asked`.
    due: u128,
    /// What the gateway's text names.
    gateway_text: GatewayText,
}

/// The parts of the gateway's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GatewayText {
    /// All that the form has.
    All,
    /// No chain and no token.
    NoNetwork,
    NoAmount,
    AddressOnly,
}

const BCH_ADDRESSES: [[&str; 2]; 2] = [
    [
        "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
        "bitcoincash:pr95sy3j9xwd2ap32xkykttr4cvcu7as4yc93ky28e",
    ],
    [
        "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t",
        "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
    ],
];

const TEST_CHAINS: [u64; 3] = [11_155_111, 560_048, 17_000];

/// Intact addresses, made of bytes.
fn address(asset: Asset, network: Network, bytes: [u8; 20]) -> String {
    let base58 = |versions: [u8; 4]| {
        let nth = usize::from(bytes[0] % 2) + if network == Main { 0 } else { 2 };
        bs58::encode(bytes)
            .with_check_version(versions[nth])
            .into_string()
    };
    let is_segwit = bytes[1].is_multiple_of(2);
    let segwit = |[main, test]: [&str; 2]| {
        let hrp = bech32::Hrp::parse(if network == Main { main } else { test }).unwrap();
        bech32::segwit::encode_v0(hrp, &bytes).unwrap()
    };
    match asset {
        Asset::BTC if is_segwit => segwit(["bc", "tb"]),
        Asset::BTC => base58([0x00, 0x05, 0x6f, 0xc4]),
        Asset::LTC if is_segwit => segwit(["ltc", "tltc"]),
        Asset::LTC => base58([0x30, 0x32, 0x6f, 0x3a]),
        Asset::DOGE => base58([0x1e, 0x16, 0x71, 0xc4]),
        Asset::TRX | Asset::USDTTRC20 => base58([0x41; 4]),
        Asset::BCH => {
            let nth = usize::from(network == Test);
            BCH_ADDRESSES[nth][usize::from(bytes[0] % 2)].to_owned()
        }
        _ => format!("0x{}", hex::encode(bytes)),
    }
}

/// Units as a decimal number of coins, with zeros at its end.
fn coins(units: u128, decimals: u32) -> String {
    let width = usize::try_from(decimals).unwrap();
    let digits = format!("{units:0>width$}", width = width + 1);
    let (whole, fraction) = digits.split_at(digits.len() - width);
    format!("{whole}.{fraction}")
}

impl Case {
    fn test_chain(&self) -> u64 {
        let nth = usize::from(self.address.as_bytes()[5]) % TEST_CHAINS.len();
        TEST_CHAINS[nth]
    }

    /// What a correct gateway writes.
    fn qr_string(&self) -> String {
        let Self { asset, address, .. } = self;
        if self.gateway_text == GatewayText::AddressOnly {
            return address.clone();
        }
        let with_amount = |key: &str, amount: &dyn core::fmt::Display| match self.gateway_text {
            GatewayText::NoAmount => String::new(),
            _ => format!("{key}={amount}"),
        };
        let is_named = self.gateway_text != GatewayText::NoNetwork;
        let amount = coins(self.asked, asset.decimals());
        match *asset {
            Asset::BTC => format!("bitcoin:{address}?{}", with_amount("amount", &amount)),
            Asset::LTC => format!("litecoin:{address}?{}", with_amount("amount", &amount)),
            Asset::DOGE => format!("dogecoin:{address}?{}", with_amount("amount", &amount)),
            Asset::BCH => format!("{address}?{}", with_amount("amount", &amount)),
            Asset::TRX => format!("tron:{address}?{}", with_amount("amount", &amount)),
            Asset::USDTTRC20 => {
                let token = match self.network {
                    _ if !is_named => String::new(),
                    Main => format!("token={TETHER_ON_TRON}&"),
                    Test => format!("token={NILE_TOKEN}&"),
                };
                format!("tron:{address}?{token}{}", with_amount("amount", &amount))
            }
            Asset::BNB => {
                // Without the chain id the scheme must name the chain.
                let target = match self.network {
                    _ if !is_named => format!("smartchain:{address}"),
                    Main => format!("ethereum:{address}@56"),
                    Test => format!("ethereum:{address}@97"),
                };
                format!("{target}?{}", with_amount("value", &self.asked))
            }
            _ => {
                let chain = match self.network {
                    _ if !is_named => String::new(),
                    Main => "@1".into(),
                    Test => format!("@{}", self.test_chain()),
                };
                if *asset == Asset::ETH {
                    format!(
                        "ethereum:{address}{chain}?{}",
                        with_amount("value", &self.asked)
                    )
                } else {
                    let amount = with_amount("&uint256", &self.asked);
                    format!("ethereum:{TETHER}{chain}/transfer?address={address}{amount}")
                }
            }
        }
    }

    fn target(&self, qr_string: &str) -> Result<PaymentTarget, UriError> {
        let asked = Amount::parse(&coins(self.asked, self.asset.decimals())).unwrap();
        PaymentTarget::check(self.asset, qr_string, &self.address, asked, self.network)
    }

    fn uri(&self, target: &PaymentTarget) -> String {
        target.uri(Amount::parse(&coins(self.due, self.asset.decimals())).unwrap())
    }

    /// What a wallet must send for `amount`, if it sends anything.
    fn right(&self, amount: u128) -> Sent {
        let named = |[main, test]: [&str; 2]| match self.network {
            Main => main.to_owned(),
            Test => test.to_owned(),
        };
        let coin = |name: &str| named([name, &format!("{name} test")]);
        let (chain, token) = match self.asset {
            Asset::BTC => (coin("Bitcoin"), None),
            Asset::LTC => (coin("Litecoin"), None),
            Asset::DOGE => (coin("Dogecoin"), None),
            Asset::BCH => (coin("Bitcoin Cash"), None),
            Asset::BNB => (named(["chain 56", "chain 97"]), None),
            Asset::TRX => ("Tron".into(), None),
            Asset::USDTTRC20 => ("Tron".into(), Some(named([TETHER_ON_TRON, NILE_TOKEN]))),
            asset => {
                let chain = named(["chain 1", &format!("chain {}", self.test_chain())]);
                let is_token = asset == Asset::USDTERC20;
                (chain, is_token.then(|| TETHER.to_lowercase()))
            }
        };
        Sent {
            chain,
            token,
            to: self.address.clone(),
            amount: Some(amount),
            extra_wei: 0,
        }
    }

    /// Returns `true` if a URI can name the payment exactly when the gateway's text is `gateway_text`.
    fn has_link(&self) -> bool {
        let is_named = matches!(self.gateway_text, GatewayText::All | GatewayText::NoAmount);
        match (self.asset, self.network) {
            (Asset::USDTTRC20, _) | (Asset::ETH | Asset::BNB | Asset::USDTERC20, Test) => is_named,
            (Asset::TRX, network) => network == Main,
            _ => true,
        }
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let gateway_text = prop::sample::select(vec![
        GatewayText::All,
        GatewayText::NoNetwork,
        GatewayText::NoAmount,
        GatewayText::AddressOnly,
    ]);
    let asset = prop::sample::select(Asset::ALL.to_vec());
    let network = prop::sample::select(vec![Main, Test]);
    let amounts = (asset, 1..=10_u128.pow(9), 0_u32..=9, 0_u32..=100);
    (amounts, network, any::<[u8; 20]>(), gateway_text).prop_map(
        |((asset, count, zeros, share), network, bytes, gateway_text)| {
            let zeros = if asset.decimals() == 18 {
                zeros + 9
            } else {
                zeros
            };
            let asked = count * 10_u128.pow(zeros);
            Case {
                asset,
                network,
                address: address(asset, network, bytes),
                asked,
                due: (asked * u128::from(share) / 100).max(1),
                gateway_text,
            }
        },
    )
}

/// What may happen to a text on its way, or in a gateway that is broken or broken into.
#[derive(Clone, Debug)]
enum Change {
    Replace(prop::sample::Index, char),
    Insert(prop::sample::Index, char),
    Remove(prop::sample::Index),
    /// Another address of the asset.
    Address([u8; 20]),
    Contract([u8; 20]),
    Append(&'static str),
    Chain(u64),
    Scheme(&'static str),
    Uppercase,
    /// One letter in its other case.
    Case(prop::sample::Index),
    /// One letter percent-encoded.
    Encode(prop::sample::Index),
    /// One parameter once more, unchanged or with another value.
    Twice(prop::sample::Index, Option<&'static str>),
}

const LETTERS: &str = "[a-zA-Z0-9:@/?&=%.,+e0-]";
/// Letters that look like others, become others in another case, are not seen, turn the text around or end it.
const STRANGE: [char; 14] = [
    'а', 'О', 'ı', 'ſ', 'K', '１', '\u{200b}', '\u{202e}', '\u{feff}', '\u{301}', '\n', '\t', ' ',
    '\0',
];
const SCHEMES: [&str; 9] = [
    "bitcoin",
    "litecoin",
    "dogecoin",
    "bitcoincash",
    "bchtest",
    "ethereum",
    "tron",
    "smartchain",
    "solana",
];
const CHAINS: RangeInclusive<u64> = 0..=200;
const APPENDED: [&str; 22] = [
    "&amount=1",
    "&amount=1&amount=2",
    "&AMOUNT=9",
    "&value=1",
    "&uint256=1",
    "&address=0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    "&token=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    "&token=TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf",
    "&token=TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8",
    "&contract=TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8",
    "&contractAddress=0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
    "&gasPrice=1",
    "&gas=21000",
    "&pj=https://elsewhere.example",
    "&req-x=1",
    "&lightning=lnbc1",
    "&label=a",
    "&%61mount=1",
    "&r=https://elsewhere.example",
    "#amount=1",
    "/transfer",
    "/approve?address=0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed&uint256=1",
];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let letter = || {
        let usual = LETTERS.prop_map(|text: String| text.chars().next().unwrap());
        prop_oneof![3 => usual, 1 => prop::sample::select(STRANGE.to_vec())]
    };
    let other_value = prop::option::of(prop::sample::select(vec!["", "0", "1", "1e30"]));
    let index = any::<prop::sample::Index>;
    let change = prop_oneof![
        (index(), letter()).prop_map(|(at, letter)| Change::Replace(at, letter)),
        (index(), letter()).prop_map(|(at, letter)| Change::Insert(at, letter)),
        index().prop_map(Change::Remove),
        any::<[u8; 20]>().prop_map(Change::Address),
        any::<[u8; 20]>().prop_map(Change::Contract),
        prop::sample::select(APPENDED.to_vec()).prop_map(Change::Append),
        prop_oneof![
            CHAINS,
            any::<u64>(),
            prop::sample::select(TEST_CHAINS.to_vec())
        ]
        .prop_map(Change::Chain),
        prop::sample::select(SCHEMES.to_vec()).prop_map(Change::Scheme),
        Just(Change::Uppercase),
        index().prop_map(Change::Case),
        index().prop_map(Change::Encode),
        (index(), other_value).prop_map(|(at, value)| Change::Twice(at, value)),
    ];
    prop::collection::vec(change, 1..=3)
}

impl Change {
    fn apply(&self, case: &Case, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        match self {
            Self::Replace(at, letter) if !chars.is_empty() => {
                let at = at.index(chars.len());
                chars[at] = *letter;
            }
            Self::Insert(at, letter) => chars.insert(at.index(chars.len() + 1), *letter),
            Self::Remove(at) if !chars.is_empty() => {
                chars.remove(at.index(chars.len()));
            }
            Self::Address(bytes) => {
                let other = address(case.asset, case.network, *bytes);
                return text.replace(&case.address, &other);
            }
            Self::Contract(bytes) => {
                return text.replace(TETHER, &format!("0x{}", hex::encode(bytes)));
            }
            Self::Append(tail) => return format!("{text}{tail}"),
            Self::Chain(id) => {
                let end = text.find(['@', '/', '?']).unwrap_or(text.len());
                let after = text[end..]
                    .find(['/', '?'])
                    .map_or("", |at| &text[end + at..]);
                return format!("{}@{id}{after}", &text[..end]);
            }
            Self::Scheme(scheme) => {
                let rest = text.split_once(':').map_or(text, |(_, rest)| rest);
                return format!("{scheme}:{rest}");
            }
            Self::Uppercase => return text.to_uppercase(),
            Self::Case(at) if !chars.is_empty() => {
                let at = at.index(chars.len());
                chars[at] = match chars[at] {
                    small @ 'a'..='z' => small.to_ascii_uppercase(),
                    other => other.to_ascii_lowercase(),
                };
            }
            Self::Encode(at) if !chars.is_empty() => {
                let at = at.index(chars.len());
                let mut bytes = [0; 4];
                let bytes = chars[at].encode_utf8(&mut bytes).bytes();
                let encoded =
                    bytes.flat_map(|byte| format!("%{byte:02x}").chars().collect::<Vec<_>>());
                chars.splice(at..=at, encoded.collect::<Vec<_>>());
            }
            Self::Replace(..) | Self::Remove(_) | Self::Case(_) | Self::Encode(_) => {}
            Self::Twice(at, value) => {
                let query = text.split_once('?').map_or("", |(_, query)| query);
                let parameters: Vec<&str> = query.split('&').collect();
                let one = parameters[at.index(parameters.len())];
                let again = match (value, one.split_once('=')) {
                    (Some(value), Some((key, _))) => format!("{key}={value}"),
                    _ => one.to_owned(),
                };
                return format!("{text}&{again}");
            }
        }
        chars.into_iter().collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn an_honest_gateways_payment_is_written_and_read_exactly(case in cases()) {
        prop_assert_eq!(crate::check(case.asset, &case.address, case.network), Ok(()));
        let target = case.target(&case.qr_string());
        prop_assert!(target.is_ok(), "{:?}: {target:?}", case.qr_string());
        let sent = sends(&case.uri(&target.unwrap()));
        let expected = if case.has_link() {
            case.right(case.due)
        } else {
            Sent::address_only(&case.address)
        };
        prop_assert_eq!(sent, Ok(expected));
    }

    #[test]
    fn a_changed_text_never_pays_elsewhere(case in cases(), changes in changes()) {
        let changed = changes
            .iter()
            .fold(case.qr_string(), |text, change| change.apply(&case, &text));
        let Ok(target) = case.target(&changed) else {
            return Ok(());
        };
        // What is written.
        let sent = sends(&case.uri(&target)).unwrap();
        if sent == Sent::address_only(&case.address) {
            let is_uncertain = case.network == Test || case.asset == Asset::USDTTRC20;
            prop_assert!(is_uncertain, "{changed}: no link");
        } else {
            let is_test_trx = case.asset == Asset::TRX && case.network == Test;
            prop_assert!(!is_test_trx && is_right(&case, &sent, case.due), "{changed}: {sent:?}");
        }
        // What was accepted, where the wallet can read it: it may name less, and nothing else.
        if let Ok(named) = sends(&changed) {
            prop_assert!(names_nothing_else(&case, &named), "{changed}: {named:?}");
        }
    }
}

/// On a test network any of its chains will do, and any contract there.
fn is_right(case: &Case, sent: &Sent, amount: u128) -> bool {
    let mut right = case.right(amount);
    if case.network == Test && [Asset::ETH, Asset::USDTERC20].contains(&case.asset) {
        let chains = TEST_CHAINS.map(|id| format!("chain {id}"));
        right.chain = chains
            .into_iter()
            .find(|chain| *chain == sent.chain)
            .unwrap_or(right.chain);
        right.token = right.token.and(sent.token.clone());
    }
    *sent == right
}

/// A text may leave out chain, token and amount.
fn names_nothing_else(case: &Case, named: &Sent) -> bool {
    if named.chain.is_empty() {
        return case.address.eq_ignore_ascii_case(&named.to);
    }
    let right = case.right(case.asked);
    let mut full = named.clone();
    full.amount = full.amount.or(right.amount);
    if full.chain == OPEN_CHAIN {
        full.chain.clone_from(&right.chain);
    }
    // On a test network the gateway may name its own token of Tron; it is not written.
    if case.asset == Asset::USDTTRC20 && (full.token.is_none() || case.network == Test) {
        full.token = right.token;
    }
    if full.chain != "Tron" && full.to.eq_ignore_ascii_case(&case.address) {
        full.to.clone_from(&case.address);
    }
    is_right(case, &full, case.asked)
}
