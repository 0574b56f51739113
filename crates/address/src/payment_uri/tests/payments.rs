//! What the URI or the transaction asks a wallet for: exactly what is due, where it was asked for, or nothing.

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Table {
    transfers: Vec<Transfer>,
}

#[derive(Deserialize)]
struct Transfer {
    address: String,
    units: String,
    #[serde(default)]
    value: String,
    data: String,
}

fn transfers(table: &str) -> Vec<Transfer> {
    serde_json::from_str::<Table>(table).unwrap().transfers
}

#[test]
fn a_token_transfer_is_encoded_as_viem_and_tronweb_encode_it() {
    let form = Form::Eip681 {
        chain_id: "1",
        contract: None,
    };
    for row in transfers(include_str!("../../../vectors/evm_transfer_viem.json")) {
        let data = forms::transfer(&row.address, row.units.parse().unwrap());
        assert_eq!(data.as_ref(), Some(&row.data));
        // A whole number of units of an asset without decimals.
        if let Ok(amount) = Amount::parse(&row.units) {
            let units = Units::of(amount, 0).unwrap();
            let written = forms::evm_transaction(&form, EVM, units).unwrap();
            assert_eq!(written.value, row.value);
        }
    }
    for row in transfers(include_str!("../../../vectors/tron_transfer_tronweb.json")) {
        let data = forms::tron_transfer(&row.address, row.units.parse().unwrap());
        assert_eq!(data, Some(row.data), "{}", row.address);
    }
}

/// A gateway's text for each asset that names everything; on a chain of Ethereum's kind with its chain and token.
const PAID: &str = "
BTC       main bitcoin:<to>?amount=0.5
LTC       main litecoin:<to>?amount=0.5
DOGE      main dogecoin:<to>?amount=0.5
BCH       main <to>?amount=0.5
BCH       test <to>?amount=0.5
ETH       main ethereum:<to>@1?value=500000000000000000                 1
ETH       test ethereum:<to>@560048?value=500000000000000000            560048
BNB       main ethereum:<to>@56?value=500000000000000000                56
BNB       test ethereum:<to>@97?value=500000000000000000                97
USDTERC20 main ethereum:<tether>@1/transfer?address=<to>&uint256=500000 1 <tether>
USDTERC20 test ethereum:<other>@17000/transfer?address=<to>&uint256=500000 17000 <other>
TRX       main tron:<to>?amount=0.5
USDTTRC20 main tron:<to>?token=<tether-on-tron>&amount=0.5
USDTTRC20 test tron:<to>?token=<nile-token>&amount=0.5
";

impl Row {
    /// The transaction on a chain of Ethereum's kind.
    fn transaction(&self, units: u128) -> Option<WalletTransaction> {
        let mut words = self.expected.split(' ').filter(|word| !word.is_empty());
        let chain_id: u64 = words.next()?.parse().unwrap();
        let address = address(self.asset, self.network);
        let (to, value, data) = match words.next() {
            None => (address, units, "0x".to_owned()),
            Some(token) => (token, 0, forms::transfer(address, units).unwrap()),
        };
        Some(WalletTransaction {
            chain_id: format!("{chain_id:#x}"),
            to: to.to_owned(),
            value: format!("{value:#x}"),
            data,
        })
    }

    /// Returns `true` if this accepted text leads to where the payment goes. Where it does not name that, to the address
    /// alone; on a test network the gateway chooses the chain, and the contract there.
    fn leads_to(&self, right: &PaymentTarget) -> bool {
        let target = self.target().unwrap();
        let is_token = self.asset == Asset::USDTERC20;
        match &target.form {
            _ if target == *right => true,
            Form::Address => self.network == Test || self.asset == Asset::USDTTRC20,
            Form::Eip681 { chain_id, contract } => {
                let chains = ["11155111", "560048", "17000"];
                let is_chosen = self.network == Test && chains.contains(chain_id);
                is_chosen && contract.is_some() == is_token && target.address == right.address
            }
            _ => false,
        }
    }
}

#[test]
fn every_asset_has_a_payment_to_an_intact_address() {
    for asset in Asset::ALL {
        let mut paid = rows(PAID).filter(|row| row.asset == asset).peekable();
        assert!(paid.peek().is_some(), "{asset:?}");
        for row in paid {
            let address = address(asset, row.network);
            assert_eq!(crate::check(asset, address, row.network), Ok(()));
        }
    }
}

/// Texts that an edit puts into a gateway's text: parts of other payments, and letters that look like others, are not seen,
/// or turn the text around.
const PIECES: &str = "\
    0 1 9 . e a A @ @1 @56 @97 @8453 ? & = % : / # + \0 \u{430} \u{202e} \u{200b} %61 &amount=1 \
    &AMOUNT=9 &value=1 &uint256=1 &address=0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359 \
    &token=TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8 &contract=a &req-x=1 &label=a /transfer bitcoin: \
    ethereum: tron:";

/// A place in the text, the letters that go there, and the piece that comes instead.
type Edit = (prop::sample::Index, usize, &'static str);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let pieces = PIECES.split(' ').chain(["", " ", OTHER_EVM, TETHER]);
    let piece = prop::sample::select(pieces.collect::<Vec<_>>());
    prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, piece), 1..=3)
}

fn edited(text: &str, edits: &[Edit]) -> String {
    edits
        .iter()
        .fold(text.to_owned(), |text, (at, gone, piece)| {
            let mut letters: Vec<char> = text.chars().collect();
            let at = at.index(letters.len() + 1);
            let end = letters.len().min(at + gone);
            letters.splice(at..end, piece.chars());
            letters.into_iter().collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    /// The units are written by [`Units`], and read as decimal numbers.
    #[test]
    fn a_uri_and_a_transaction_ask_for_exactly_what_is_due(
        row in prop::sample::select(rows(PAID).collect::<Vec<_>>()),
        whole in 0_u32..2_000_000,
        fraction in prop_oneof![Just(0_u32), 1_u32..1_000_000],
    ) {
        prop_assume!(whole + fraction > 0);
        let millionths = u128::from(whole) * 1_000_000 + u128::from(fraction);
        let due = amount(&format!("{whole}.{fraction:06}"));
        let target = row.target().unwrap();
        let uri = target.uri(due);
        let read = |amount| {
            let address = address(row.asset, row.network);
            PaymentTarget::check(row.asset, &uri, address, amount, row.network)
        };
        prop_assert_eq!(read(due), Ok(target.clone()));
        let more = read(due.checked_add(amount("0.000001")).unwrap());
        prop_assert!(verdict(&more).starts_with("amount "), "{}", uri);
        let units = millionths * 10_u128.pow(row.asset.decimals() - 6);
        prop_assert_eq!(target.evm_transaction(due), row.transaction(units));
    }

    #[test]
    fn a_changed_text_never_pays_elsewhere(
        row in prop::sample::select(rows(PAID).collect::<Vec<_>>()),
        edits in edits(),
    ) {
        let right = row.target().unwrap();
        let changed = Row { text: edited(&row.text, &edits), ..row };
        prop_assert!(changed.target().is_err() || changed.leads_to(&right), "{}", changed.text);
    }
}

#[test]
fn no_transaction_is_written_where_the_uri_is_the_bare_address_or_of_another_chain() {
    // A test network or a token that the text does not name, and assets of other chains.
    for line in [
        "ETH test <to>",
        "USDTERC20 test <to>",
        "BTC main <to>",
        "BCH main <to>",
        "TRX main <to>",
    ] {
        let target = Row::read(line).target().unwrap();
        assert_eq!(target.evm_transaction(amount("0.5")), None, "{line}");
    }
    for line in [
        "USDTTRC20 test <to>",
        "USDTTRC20 main <to>",
        "ETH main ethereum:<to>@1",
    ] {
        let target = Row::read(line).target().unwrap();
        assert_eq!(target.tron_transaction(amount("0.5")), None, "{line}");
    }
    let ether = Row::read("ETH main <to>").target().unwrap();
    assert_eq!(ether.evm_transaction(Amount::ZERO), None);
    let tether = Row::read("USDTERC20 main <to>").target().unwrap();
    assert_eq!(tether.evm_transaction(amount("0.0000001")), None);
}

#[test]
fn a_transaction_of_tron_names_chain_contract_and_amount() {
    let target = |asset, text: &str, network| {
        PaymentTarget::check(asset, text, TRON, amount("19.9"), network).unwrap()
    };
    let due = amount("12.5");
    let coin = target(Asset::TRX, &format!("tron:{TRON}?amount=19.9"), Main);
    let expected = WalletTransaction {
        chain_id: "0x2b6653dc".to_owned(),
        to: TRON.to_owned(),
        value: "0xbebc20".to_owned(),
        data: "0x".to_owned(),
    };
    assert_eq!(coin.tron_transaction(due), Some(expected.clone()));
    // No URI names TRX on a test network.
    let expected = WalletTransaction {
        chain_id: "0xcd8690dc".to_owned(),
        ..expected
    };
    for text in [TRON.to_owned(), format!("tron:{TRON}?amount=19.9")] {
        let coin = target(Asset::TRX, &text, Test);
        assert_eq!(coin.tron_transaction(due), Some(expected.clone()));
        assert_eq!(coin.uri(due), TRON);
        let coin = target(Asset::TRX, &text, Regtest);
        assert_eq!(coin.tron_transaction(due), None);
    }
    for (network, token, chain) in [
        (Main, TETHER_ON_TRON, "0x2b6653dc"),
        (Test, NILE_TOKEN, "0xcd8690dc"),
    ] {
        let text = format!("tron:{TRON}?token={token}&amount=19.9");
        let tether = target(Asset::USDTTRC20, &text, network);
        let transaction = tether.tron_transaction(due).unwrap();
        let data = forms::tron_transfer(TRON, 12_500_000).unwrap();
        let expected = WalletTransaction {
            chain_id: chain.to_owned(),
            to: token.to_owned(),
            value: "0x0".to_owned(),
            data,
        };
        assert_eq!(transaction, expected);
        assert_eq!(tether.evm_transaction(due), None);
    }
}
