mod payments;

use Network::{Main, Regtest, Test};
use serde::Deserialize;

use super::*;

const BTC: &str = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
const BCH: &str = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a";
const BARE_BCH: &str = "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a";
const EVM: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const OTHER_EVM: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
const TETHER: &str = "0xdAC17F958D2ee523a2206206994597C13D831ec7";
const TRON: &str = "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL";
const TETHER_ON_TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
const NILE_TOKEN: &str = "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf";

fn address(asset: Asset, network: Network) -> &'static str {
    match asset {
        Asset::BTC => BTC,
        Asset::LTC => "ltc1qhdhvrwe6rgqns8fz28tee0hphr5x7ulw5exv4w",
        Asset::DOGE => "DD4KSSuBJqcjuTcvUg1CgUKeurPUFeEZkE",
        Asset::BCH if network == Test => "bchtest:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t",
        Asset::BCH if network == Regtest => "bchreg:qqaz6s295ncfs53m86qj0uw6sl8u2kuw0ypvash69n",
        Asset::BCH => BCH,
        Asset::TRX | Asset::USDTTRC20 => TRON,
        _ => EVM,
    }
}

/// A line of a table: asset, network, the gateway's text, and what is expected of it. Words in angle brackets stand for
/// addresses, for the whole text, or for its path.
#[derive(Clone, Debug)]
struct Row {
    asset: Asset,
    network: Network,
    text: String,
    expected: String,
}

impl Row {
    fn read(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let mut word = || words.next().unwrap_or_else(|| panic!("{line}"));
        let (code, network, text) = (word(), word(), word());
        let mut all = Asset::ALL.into_iter();
        let asset = all.find(|asset| asset.crypto_code().as_str() == code);
        let asset = asset.unwrap_or_else(|| panic!("{line}"));
        let network = match network {
            "main" => Main,
            "test" => Test,
            _ => Regtest,
        };
        let named = |text: &str| {
            let address = address(asset, network);
            text.replace("<upper>", &address.to_uppercase())
                .replace("<lower>", &address.to_lowercase())
                .replace("<bare-bch>", BARE_BCH)
                .replace("<to>", address)
                .replace("<other>", OTHER_EVM)
                .replace("<mistyped>", &OTHER_EVM.replace("fB", "Fb"))
                .replace("<tether>", TETHER)
                .replace("<tether-on-tron>", TETHER_ON_TRON)
                .replace("<nile-token>", NILE_TOKEN)
        };
        let text = named(text);
        let (_, path) = text.split_once(':').unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        let expected = named(&words.collect::<Vec<_>>().join(" "));
        let expected = expected.replace("<text>", &text).replace("<path>", path);
        Self {
            asset,
            network,
            text,
            expected,
        }
    }

    fn target(&self) -> Result<PaymentTarget, UriError> {
        let address = address(self.asset, self.network);
        PaymentTarget::check(self.asset, &self.text, address, amount("0.5"), self.network)
    }
}

fn rows(table: &str) -> impl Iterator<Item = Row> {
    let lines = table.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(Row::read)
}

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

/// `ok`, or the refused part and what was found there.
fn verdict<T>(result: &Result<T, UriError>) -> String {
    let Err(UriError { part, found }) = result else {
        return "ok".to_owned();
    };
    let part = format!("{part:?}").to_lowercase();
    format!("{part} {found}").trim_end().to_owned()
}

const CHECKED: &str = "
BTC       main <to>                                                                 ok
BTC       main bitcoin:<to>                                                         ok
BTC       main bitcoin:<to>?amount=0.5                                              ok
BTC       main Bitcoin:<to>?amount=0.50000000&label=A%20shop&message=&time&exp=1    ok
BTC       main BITCOIN:<upper>?AMOUNT=0.5                                           ok
LTC       main litecoin:<to>?amount=0.5                                             ok
DOGE      main dogecoin:<to>?amount=0.500                                           ok
TRX       main <to>                                                                 ok
TRX       main tron:<to>?amount=0.5                                                 ok
USDTTRC20 main tron:<to>?amount=0.500000                                            ok
USDTTRC20 main tron:<to>?token=<tether-on-tron>&amount=0.5                          ok
BCH       main <to>                                                                 ok
BCH       main <bare-bch>                                                           ok
BCH       main <to>?amount=0.5                                                      ok
BCH       main <upper>?AMOUNT=0.5                                                   ok
BCH       test <to>?amount=0.5                                                      ok
BCH       regtest <to>?amount=0.5                                                   ok
ETH       main <to>                                                                 ok
ETH       main <lower>                                                              ok
ETH       main ethereum:<to>?value=500000000000000000                               ok
ETH       main ethereum:<lower>@1?value=0.5e18&gas=21000                            ok
ETH       main ethereum:pay-<to>?value=50E16&gasLimit=21000                         ok
ETH       main ethereum:<to>?amount=0.5                                             ok
USDTERC20 main <to>                                                                 ok
USDTERC20 main ethereum:<tether>/transfer?address=<to>&uint256=500000               ok
USDTERC20 main ethereum:<tether>@1/transfer?uint256=0.5e6&address=<lower>           ok
BNB       main ethereum:<to>@56?value=5e17                                          ok
BNB       main smartchain:<to>?amount=0.5                                           ok
BNB       main bnb:<to>?value=500000000000000000                                    ok

# Another scheme.
BTC       main litecoin:<to>?amount=0.5                                             scheme litecoin
BTC       main 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa                                   scheme <text>
ETH       main bitcoin:<to>                                                         scheme bitcoin
ETH       main smartchain:<to> scheme smartchain
TRX       main ethereum:<to>                                                        scheme ethereum
BCH       test bitcoincash:pr6m7j9njldwwzlg9v7v53unlr4jkmx6eyvwc0uz5t scheme bitcoincash

# Another address. Base58 is another one in another case, and bech32 none in both.
BTC       main bitcoin:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa?amount=0.5                address <path>
BTC       main bitcoin:?amount=0.5                                                  address
BTC       main bitcoin:bc1%71cr8te4kr609gcawutmrza0j4xv80jy8z306fyu                 address <path>
BTC       main bitcoin:bc1Qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu                   address <path>
DOGE      main dogecoin:<lower>                                                     address <lower>
BCH       main bitcoincash:qPm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a               address <path>
BCH       main bitcoincash:bchtest:<bare-bch>                                       address <path>
ETH       main ethereum:<other>?value=1                                             address <other>
USDTERC20 main ethereum:<tether>/transfer?address=<other>&uint256=500000            address <other>
USDTERC20 main ethereum:<tether>/transfer?uint256=500000                            address
TRX       main tron:<tether-on-tron>?amount=0.5                                     address <path>

# Another amount.
BTC       main bitcoin:<to>?amount=0.51                                             amount 0.51
BTC       main bitcoin:<to>?amount=50000000                                         amount 50000000
BTC       main bitcoin:<to>?amount=                                                 amount
BTC       main bitcoin:<to>?amount=0,5                                              amount 0,5
BTC       main bitcoin:<to>?amount=0.5e0                                            amount 0.5e0
BTC       main bitcoin:<to>?amount=.5                                               amount .5
BTC       main bitcoin:<to>?amount=0.50000000000000000001 amount 0.50000000000000000001
ETH       main ethereum:<to>?value=500000000000000001 amount 500000000000000001
ETH       main ethereum:<to>?value=0.5                                              amount 0.5
ETH       main ethereum:<to>?value=5e16                                             amount 5e16
ETH       main ethereum:<to>?value=-5e17                                            amount -5e17
ETH       main ethereum:<to>?value=5e                                               amount 5e
ETH       main ethereum:<to>?value=e17                                              amount e17
ETH       main ethereum:<to>?value=0.0.5e18                                         amount 0.0.5e18
ETH       main ethereum:<to>?amount=5                                               amount 5
USDTERC20 main ethereum:<tether>/transfer?address=<to>&uint256=0.5                  amount 0.5
USDTERC20 main ethereum:<tether>/transfer?address=<to>&amount=5                     amount 5
USDTTRC20 main tron:<to>?amount=500000                                              amount 500000

# Another token: a wallet would send ether, or let another account send the token.
USDTERC20 main ethereum:<to>?value=500000                                           token
USDTERC20 main ethereum:<tether>/approve?address=<to>&uint256=500000                token
USDTERC20 main ethereum:<other>/transfer?address=<to>&uint256=500000                token <other>
USDTERC20 test ethereum:<other>/transfer?address=<to>&uint256=500000                ok
USDTERC20 test ethereum:<mistyped>/transfer?address=<to>                    token <mistyped>
ETH       main ethereum:<tether>/transfer?address=<to>&uint256=500000               token <tether>
USDTTRC20 main tron:<to>?token=<to>                                                 token <to>
TRX       main tron:<to>?token=<tether-on-tron> token <tether-on-tron>

# Another chain: main networks, test networks of other coins, and other spellings.
ETH       main ethereum:<to>@56?value=5e17                                          chain 56
ETH       main ethereum:<to>@11155111?value=5e17                                    chain 11155111
BNB       main ethereum:<to>?value=5e17                                             chain
BNB       main bnb:<to>@1?value=5e17                                                chain 1
BNB       main ethereum:<to>@97?value=5e17                                          chain 97
BNB       test ethereum:<to>@97?value=5e17                                          ok
BNB       test ethereum:<to>@56?value=5e17                                          chain 56
ETH       test ethereum:<to>@11155111?value=5e17                                    ok
ETH       test ethereum:<to>@1?value=5e17                                           chain 1
ETH       test ethereum:<to>@8453?value=5e17                                        chain 8453
ETH       test ethereum:<to>@?value=5e17                                            chain
ETH       regtest ethereum:<to>@31337?value=5e17                                    ok
ETH       regtest ethereum:<to>@1?value=5e17                                        chain 1
ETH       regtest ethereum:<to>@11155111?value=5e17                                 chain 11155111
ETH       test ethereum:<to>@0xaa36a7?value=5e17                                    chain 0xaa36a7
ETH       test ethereum:<to>@011155111?value=5e17                                   chain 011155111

# A parameter that comes twice.
BTC       main bitcoin:<to>?label=a&label=b                                         twice label
BTC       main bitcoin:<to>?amount=0.5&AMOUNT=0.5                                   twice amount
BTC       main bitcoin:<to>?amount=0.5&%61mount=0.5                                 twice amount
ETH       main ethereum:<to>?value=5e17&value=5e17                                  twice value
TRX       main tron:<to>?amount=0.5&amount=0.5                                      twice amount

# RFC 3986, section 2.3: a text that need not be encoded means the same when it is.
BTC       main bitcoin:<to>?%61mount=5                                              amount 5
BTC       main bitcoin:<to>?amount%3d5 parameter amount=5
BTC       main bitcoin:<to>?%6c%69ghtning=lnbc1 parameter lightning
BTC       main bitcoin:<to>?%52E%71-pop=a parameter req-pop
BTC       main bitcoin:<to>?label=%26amount%3D5                                     ok
BTC       main bitcoin:<to>?amount=0%2E5                                            ok
BTC       main bitcoin:<to>?amount=5#                                               amount 5#
BTC       main bitcoin:<to>?%6=5                                                    encoding %6
BTC       main bitcoin:<to>?%zz=5                                                   encoding %zz
BTC       main bitcoin:<to>?amount=%                                                encoding %
BTC       main bitcoin:<to>?amount=%C3                                              encoding %C3
";

#[test]
fn a_text_is_accepted_if_it_asks_for_the_payment_and_for_nothing_else() {
    for row in rows(CHECKED) {
        assert_eq!(verdict(&row.target()), row.expected, "{}", row.text);
    }
    let target = |address: &str, text: &str| {
        PaymentTarget::check(Asset::BCH, text, address, amount("0.5"), Main)
    };
    for text in [BCH.to_owned(), format!("{BCH}?amount=0.5")] {
        assert_eq!(verdict(&target(BARE_BCH, &text)), "ok", "{text}");
    }
    assert_eq!(verdict(&target(BCH, "")), "scheme");
    let long = format!("bitcoincash:{}", "x".repeat(10_000));
    assert_eq!(
        verdict(&target(BCH, &long)),
        format!("address {}", "x".repeat(80))
    );
}

#[test]
fn a_parameter_that_is_not_on_the_list_is_refused() {
    let bip21 = "r lightning LNO pay pj pjos sp bc tb req-x somethingyoudontunderstand value token";
    let tron = "contract contractAddress value memo label";
    for (line, keys) in [
        ("BTC main bitcoin:<to>?amount=0.5", bip21),
        ("BCH main <to>?amount=0.5", bip21),
        (
            "ETH main ethereum:<to>@1?value=5e17",
            "gasPrice contractAddress address uint256 data label req-x",
        ),
        (
            "USDTERC20 main ethereum:<tether>@1/transfer?address=<to>&uint256=500000",
            "value gasPrice contractAddress bytes32",
        ),
        ("TRX main tron:<to>?amount=0.5", tron),
        ("USDTTRC20 main tron:<to>?amount=0.5", tron),
    ] {
        for key in keys.split(' ') {
            let row = Row::read(&format!("{line}&{key}=x"));
            let expected = format!("parameter {}", key.to_lowercase());
            assert_eq!(verdict(&row.target()), expected, "{}", row.text);
        }
    }
}

/// The URI that is written for 0.5 of the asset. A text without a link is the bare address.
const WRITTEN: &str = "
BTC       main <to>                                                   bitcoin:<to>?amount=0.5
BTC       main bitcoin:<to>?label=A%20shop&message=%26amount%3D9      bitcoin:<to>?amount=0.5
LTC       main <to>                                                   litecoin:<to>?amount=0.5
DOGE      main <to>                                                   dogecoin:<to>?amount=0.5
BCH       main <bare-bch>                                             <to>?amount=0.5
BCH       main <upper>                                                <to>?amount=0.5
BCH       test <to>                                                   <to>?amount=0.5
ETH       main <lower> ethereum:<to>@1?value=500000000000000000
ETH       test ethereum:<to>@560048?value=5e17 ethereum:<to>@560048?value=500000000000000000
ETH       test ethereum:<to>?value=5e17                               <to>
BNB       main smartchain:<to> ethereum:<to>@56?value=500000000000000000
BNB       test smartchain:<to>?amount=0.5                             <to>
USDTERC20 main <to> ethereum:<tether>@1/transfer?address=<to>&uint256=500000
USDTERC20 test ethereum:<other>@11155111/transfer?address=<to>        <text>&uint256=500000
USDTERC20 test ethereum:<tether>/transfer?address=<to>&uint256=5e5    <to>
TRX       main <to>                                                   tron:<to>?amount=0.5
TRX       test tron:<to>?amount=0.5                                   <to>
USDTTRC20 main tron:<to>?token=<tether-on-tron>                       <text>&amount=0.5
USDTTRC20 main tron:<to>?amount=0.50                                  <to>
USDTTRC20 test tron:<to>?token=<nile-token>                           <text>&amount=0.5
USDTTRC20 test tron:<to>?token=<tether-on-tron>                       <to>
# A token that the gateway has deployed itself.
USDTTRC20 test tron:<to>?token=TY1DBj7Ys1bDcK37kwATaQpHxdTCnYrr1f     <to>
BCH       regtest <to>                                                <to>?amount=0.5
ETH       regtest <to> ethereum:<to>@31337?value=500000000000000000
USDTERC20 regtest ethereum:<tether>@31337/transfer?address=<to>       <text>&uint256=500000
# No text of a development node leads to a network that others watch.
TRX       regtest tron:<to>?amount=0.5                                <to>
USDTTRC20 regtest tron:<to>?token=<tether-on-tron>                    <to>
";

#[test]
fn a_uri_names_address_amount_chain_and_token_or_is_the_bare_address() {
    for row in rows(WRITTEN) {
        let target = row
            .target()
            .unwrap_or_else(|error| panic!("{}: {error}", row.text));
        assert_eq!(target.uri(amount("0.5")), row.expected, "{}", row.text);
    }
    for (line, due, expected) in [
        // The rest of a payment.
        (
            "BTC main <to>",
            "0.19999999",
            "bitcoin:<to>?amount=0.19999999",
        ),
        ("BTC main <to>", "120.00", "bitcoin:<to>?amount=120"),
        // Without the point some wallets send 0.15 TRX.
        ("TRX main <to>", "150000", "tron:<to>?amount=150000.0"),
        // Amounts that no wallet can send.
        ("BTC main <to>", "0.00", "<to>"),
        ("BTC main <to>", "0.000000001", "<to>"),
        ("BTC main <to>", "0.100000001", "<to>"),
        ("USDTERC20 main <to>", "0.1234567", "<to>"),
    ] {
        let row = Row::read(&format!("{line} {expected}"));
        let uri = row.target().unwrap().uri(amount(due));
        assert_eq!(uri, row.expected, "{due}");
    }
}

/// The examples of BIP-321, kept in `vectors/` with their source.
#[derive(Deserialize)]
struct Bip321 {
    accepted: Vec<Example>,
    unknown: Vec<Example>,
    elsewhere: Vec<Example>,
    invalid: Vec<Example>,
    broken_address: String,
}

#[derive(Deserialize)]
struct Example {
    uri: String,
    address: String,
    amount: String,
}

#[test]
fn the_examples_of_bip_321_are_accepted_if_a_wallet_pays_nothing_else() {
    let table: Bip321 =
        serde_json::from_str(include_str!("../../vectors/uri_bip321.json")).unwrap();
    for (examples, expected) in [
        (table.accepted, "ok"),
        // The standard lets a wallet ignore them. But what a gateway means by them cannot be checked.
        (table.unknown, "parameter"),
        // A wallet that follows one pays by Lightning, silently or to a second address, which the gateway's invoice does
        // not watch, or needs a required parameter (`req-…`) that no wallet knows.
        (table.elsewhere, "parameter address twice"),
        (
            table.invalid,
            "amount parameter address twice scheme encoding",
        ),
    ] {
        for example in examples {
            let Example {
                uri,
                address,
                amount,
            } = example;
            let amount = self::amount(&amount);
            let result = PaymentTarget::check(Asset::BTC, &uri, &address, amount, Main);
            let verdict = verdict(&result);
            let part = verdict.split(' ').next().unwrap();
            assert!(
                expected.split(' ').any(|word| word == part),
                "{uri}: {verdict}"
            );
        }
    }
    // Its checksum is wrong on purpose: the example must not be payable.
    let refusal = crate::check(Asset::BTC, &table.broken_address, Main);
    assert_eq!(refusal, Err(crate::AddressError::Checksum));
}

// Source: ERC-681, "Semantics". The address of its first example is in both cases and fails ERC-55's checksum.
#[test]
fn the_examples_of_erc_681_are_parsed() {
    let address = "0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359";
    let uri = format!("ethereum:{address}?value=2.014e18");
    let result = PaymentTarget::check(Asset::ETH, &uri, address, amount("2.014"), Main);
    assert_eq!(verdict(&result), "ok");
    let refusal = crate::check(Asset::ETH, address, Main);
    assert_eq!(refusal, Err(crate::AddressError::Checksum));

    let receiver = "0x8e23ee67d1332ad560396262c48ffbb01f93d052";
    let contract = "0x89205a3a3b2a69de6dbf7f01ed13b2108b2c43e7";
    let uri = format!("ethereum:{contract}/transfer?address={receiver}&uint256=1");
    for (network, expected) in [(Main, format!("token {contract}")), (Test, "ok".into())] {
        let unit = amount("0.000001");
        let result = PaymentTarget::check(Asset::USDTERC20, &uri, receiver, unit, network);
        assert_eq!(verdict(&result), expected);
    }
}
