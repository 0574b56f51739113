//! Offers: what a page shows before a choice. The rules of the list stand here alone; pages place what they get.

use florin_checkout_api::{Environment, Mark, Offer, Quote, Unavailable, WalletKind};
use florin_gateway_client::PriceEntry;
use florin_money::{Amount, Asset, CryptoCode, Currency, Network, Rounding, trimmed};
use florin_orders::NewOrder;

use crate::config::Store;
use crate::payments::glyphs::glyph;
use crate::payments::price_cache::PriceSnapshot;
use crate::payments::quotes::{QuoteError, Range, limit_in_order_currency, price, quote};
use crate::payments::view::{line_view, store_view};
use crate::state::AppState;

/// From this number of assets on, a row of a coin stands for its networks.
const LONG_LIST: usize = 12;

pub(crate) fn offer(
    store: &Store,
    environment: Environment,
    terms: &NewOrder,
    quotes: Option<Vec<Quote>>,
) -> Offer {
    Offer {
        environment,
        store: store_view(store),
        title: terms.title.clone(),
        lines: terms.lines.iter().map(line_view).collect(),
        amount: terms.amount.to_text(),
        currency: terms.currency.to_string(),
        quotes,
        order_exists: false,
    }
}

/// Lists the accepted assets: those that can be chosen first; known ones in our order, then what else the gateway offers.
pub(crate) fn quotes(app: &AppState, terms: &NewOrder, priced: &PriceSnapshot) -> Vec<Quote> {
    let valid_for_seconds = app.prices.seconds_left(priced, app.now());
    let entries = &priced.prices.entries;
    let known = Asset::ALL.into_iter().filter_map(|asset| {
        let entry = entries.get(&asset.crypto_code())?;
        Some(known_asset(terms, asset, entry, valid_for_seconds))
    });
    let unknown = entries.iter().filter(|(code, _)| Asset::of(code).is_none());
    let unknown = unknown.map(|(code, entry)| unknown_asset(code, entry, valid_for_seconds));
    let accepts = |quote: &Quote| {
        let mut codes = terms.assets.iter().map(CryptoCode::as_str);
        terms.assets.is_empty() || codes.any(|code| code == quote.crypto_code)
    };
    let mut listed: Vec<Quote> = known.chain(unknown).filter(accepts).collect();
    let config = app.config();
    for quote in &mut listed {
        let code = CryptoCode::parse(&quote.crypto_code).ok();
        let required = code.as_ref().map(|code| app.required_confirmations(code));
        quote.takes_seconds = required.and_then(|required| takes_seconds(&quote.network, required));
        let fee = code.and_then(|code| {
            let usd = *config.gateway.network_fees.get(&code)?;
            fee_in(terms.currency, usd, entries.get(&code)?)
        });
        quote.fee_in_order_currency = fee.map(Amount::to_text);
    }
    write_rows(&mut listed);
    listed
}

/// How long this number of blocks takes; `None` on a network whose pace is not known.
fn takes_seconds(network: &str, blocks: u32) -> Option<u32> {
    let pace = Network::of(network)?.block_ms;
    Some(pace.saturating_mul(blocks).div_ceil(1000))
}

/// A fee in the order's currency, at the rates of its asset.
fn fee_in(currency: Currency, usd: Amount, entry: &PriceEntry) -> Option<Amount> {
    let decimals = currency.decimals();
    let amount = if currency == Currency::USD {
        usd
    } else {
        let local = Amount::parse(&entry.rates.amount_in_local_currency).ok()?;
        let in_usd = Amount::parse(&entry.rates.amount_in_usd).ok()?;
        usd.mul_div(local, in_usd, decimals, Rounding::Up).ok()?
    };
    Some(amount.with_min_decimals(decimals))
}

fn known_asset(
    terms: &NewOrder,
    asset: Asset,
    entry: &PriceEntry,
    valid_for_seconds: u32,
) -> Quote {
    let requested = price(terms.amount, terms.currency, asset, &entry.rates).ok();
    let no_quote = quote(terms, asset, entry).err();
    let range = Range::of(&entry.limits).unwrap_or_default();
    let (reason, limit) = match no_quote {
        None => (None, None),
        Some(QuoteError::NotPriced) => (Some(Unavailable::NotPriced), None),
        Some(QuoteError::BelowMinimum) => (Some(Unavailable::BelowMinimum), range.min),
        Some(QuoteError::AboveMaximum) => (Some(Unavailable::AboveMaximum), range.max),
    };
    let limit_in_order_currency = requested.zip(no_quote).and_then(|(requested, no_quote)| {
        limit_in_order_currency(terms, &requested, range, no_quote)
    });
    let with_symbol = |amount: Amount| {
        let amount = trimmed(amount.to_text().as_str());
        format!("{amount}\u{a0}{}", asset.symbol())
    };
    let crypto = requested.map(|requested| requested.amounts.crypto);
    Quote {
        asset: asset.symbol().to_owned(),
        asset_name: asset.name().to_owned(),
        network: asset.network().to_owned(),
        wallet: match asset.network() {
            "Ethereum" | "BNB Chain" => Some(WalletKind::Evm),
            "Tron" => Some(WalletKind::Tron),
            _ => None,
        },
        amount_in_usd: requested.map(|requested| requested.amounts.usd.to_text()),
        min: range.min.map(Amount::to_text),
        max: range.max.map(Amount::to_text),
        available: reason.is_none(),
        reason,
        limit_in_order_currency: limit_in_order_currency.map(Amount::to_text),
        amount_shown: crypto.map(|amount| with_symbol(amount.shortened())),
        limit_shown: limit.map(with_symbol),
        amount_in_crypto: crypto.map(Amount::to_text),
        ..unknown_asset(&asset.crypto_code(), entry, valid_for_seconds)
    }
}

/// An asset that the gateway offers and that is not known here: shown by its code.
fn unknown_asset(code: &CryptoCode, entry: &PriceEntry, valid_for_seconds: u32) -> Quote {
    Quote {
        crypto_code: code.to_string(),
        asset_name: code.to_string(),
        asset: code.to_string(),
        reason: Some(Unavailable::UnknownAsset),
        quote_id: entry.conversion_id.as_str().to_owned(),
        valid_for_seconds,
        ..Quote::default()
    }
}

/// Writes what the row of each asset says, which depends on the others, and puts those that cannot be chosen last.
fn write_rows(listed: &mut [Quote]) {
    let assets: Vec<String> = listed.iter().map(|quote| quote.asset.clone()).collect();
    let choosable = || listed.iter().filter(|quote| quote.available);
    let fastest = best(choosable().filter_map(by_time));
    let lowest = best(choosable().filter_map(by_fee));
    for quote in &mut *listed {
        let networks = assets.iter().filter(|asset| **asset == quote.asset).count();
        let coin = Network::coin_of(&quote.network);
        let is_guest = coin != quote.asset && !quote.network.is_empty();
        let on_network = format!("{} · {}", quote.asset, quote.network);
        quote.confirms_network = networks > 1 || coin != quote.asset;
        quote.is_folded = networks > 1 && assets.len() >= LONG_LIST;
        let exchanges_say = Network::of(&quote.network).filter(|_| quote.is_folded);
        quote.name = quote.asset_name.clone();
        quote.detail = if is_guest { &on_network } else { &quote.asset }.clone();
        if let Some(network) = exchanges_say.filter(|_| quote.available) {
            quote.name = on_network;
            network.names.clone_into(&mut quote.detail);
        }
        quote.glyph = glyph(&quote.asset);
        quote.badge = is_guest.then(|| glyph(coin)).flatten();
        let is_fastest = fastest.is_some() && by_time(quote) == fastest;
        let is_lowest = lowest.is_some() && by_fee(quote) == lowest;
        let marks = [(Mark::LowestFee, is_lowest), (Mark::Fastest, is_fastest)];
        let marks = marks
            .into_iter()
            .filter(|(_, is_best)| *is_best && quote.available);
        quote.marks = marks.map(|(mark, _)| mark).collect();
    }
    listed.sort_by_key(|quote| !quote.available);
}

/// The time as a page shows it (`widget/js/first/list.js`): below 45 s without a number, then in whole minutes, then in whole hours.
fn shown_time(quote: &Quote) -> Option<u32> {
    let seconds = quote.takes_seconds?;
    Some(match seconds {
        0..45 => 0,
        45..=5400 => seconds.next_multiple_of(60),
        _ => seconds.div_ceil(3600).saturating_mul(3600),
    })
}

fn fee(quote: &Quote) -> Option<Amount> {
    Amount::parse(quote.fee_in_order_currency.as_ref()?.as_str()).ok()
}

/// The time, and the fee, by which assets of the same time differ; an unknown one is the last.
fn by_time(quote: &Quote) -> Option<(u32, (bool, Option<Amount>))> {
    let fee = fee(quote);
    Some((shown_time(quote)?, (fee.is_none(), fee)))
}

/// The fee, and the time, by which assets of the same fee differ.
fn by_fee(quote: &Quote) -> Option<(Amount, (bool, Option<u32>))> {
    let time = shown_time(quote);
    Some((fee(quote)?, (time.is_none(), time)))
}

/// Assets that share one mark.
const MOST_MARKED: usize = 2;

/// The least of the values; `None` where it says little: the first part of all is the same, or more than [`MOST_MARKED`] are.
fn best<A: Ord + Copy, B: Ord + Copy>(values: impl Iterator<Item = (A, B)>) -> Option<(A, B)> {
    let values: Vec<_> = values.collect();
    let best = values.iter().min().copied()?;
    let is_better = values.iter().any(|value| value.0 != best.0);
    let sharing = values.iter().filter(|value| **value == best).count();
    (is_better && sharing <= MOST_MARKED).then_some(best)
}

#[cfg(test)]
mod tests {
    use florin_gateway_client::{ConversionId, Limits, Rates};
    use florin_orders::{OrderStatus, fixtures};

    use super::*;

    /// One unit costs 3 dollars; an order costs 19.90.
    fn entry(limits: [&str; 2]) -> PriceEntry {
        let [min, max] = limits.map(str::to_owned);
        PriceEntry {
            rates: Rates {
                amount_in_local_currency: "3".into(),
                amount_in_crypto: "1".into(),
                amount_in_usd: "3".into(),
                local_currency_code: "USD".into(),
            },
            limits: Limits { min, max },
            conversion_id: ConversionId::parse("c1").unwrap(),
        }
    }

    fn terms() -> NewOrder {
        let mut terms = fixtures::order(OrderStatus::Open).terms;
        terms.amount = Amount::parse("19.90").unwrap();
        terms
    }

    fn listed(assets: &[Asset], limits: [&str; 2]) -> Vec<Quote> {
        let assets = assets.iter();
        let quotes = assets.map(|asset| known_asset(&terms(), *asset, &entry(limits), 60));
        let mut quotes: Vec<Quote> = quotes.collect();
        write_rows(&mut quotes);
        quotes
    }

    #[test]
    fn each_asset_has_what_its_row_says() {
        let rows = [
            ("Bitcoin", "BTC", None, false),
            ("Ethereum", "ETH", None, false),
            ("Tether", "USDT · Tron", Some("TRX"), true),
            ("Tether", "USDT · Ethereum", Some("ETH"), true),
            ("Litecoin", "LTC", None, false),
            ("Tron", "TRX", None, false),
            ("BNB", "BNB", None, false),
            ("Bitcoin Cash", "BCH", None, false),
            ("Dogecoin", "DOGE", None, false),
        ];
        let quotes = listed(&Asset::ALL, ["", ""]);
        for (quote, (name, detail, badge, confirms)) in quotes.iter().zip(rows) {
            assert_eq!((&*quote.name, &*quote.detail), (name, detail));
            assert_eq!(quote.badge, badge.and_then(glyph));
            assert!(quote.glyph.is_some());
            assert_eq!(quote.confirms_network, confirms, "{name}");
            assert!(!quote.is_folded, "{name}");
        }
        assert_eq!(quotes[0].amount_shown.as_deref(), Some("6.63334\u{a0}BTC"));
        assert_eq!(quotes[0].limit_shown, None);
        // A token is confirmed also where it is alone.
        assert!(listed(&[Asset::USDTTRC20], ["", ""])[0].confirms_network);
    }

    /// Seconds and fee of each quote; a quote with the word `off` cannot be chosen.
    fn marks(quotes: &str) -> String {
        let quotes = quotes.split(", ").map(|row| {
            let [takes, fee, ..] = row.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{row} has no fee");
            };
            Quote {
                takes_seconds: takes.parse().ok(),
                fee_in_order_currency: Amount::parse(fee).ok().map(Amount::to_text),
                available: !row.ends_with("off"),
                ..Quote::default()
            }
        });
        let mut quotes: Vec<Quote> = quotes.collect();
        write_rows(&mut quotes);
        let marks = quotes
            .iter()
            .map(|quote| format!("{} {:?}", u8::from(quote.available), quote.marks));
        marks.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_can_be_chosen_is_first_and_the_best_of_it_is_marked() {
        for (quotes, expected) in [
            (
                "9 0.02, 90 1.20, 1800 0.80",
                "1 [LowestFee, Fastest], 1 [], 1 []",
            ),
            (
                "9 1.20, 36 0.020, 45 0.02",
                "1 [], 1 [LowestFee, Fastest], 1 []",
            ),
            (
                "9 0.30, 9 0.20, 9 -, 90 -",
                "1 [], 1 [LowestFee, Fastest], 1 [], 1 []",
            ),
            // The same minute, and the same hour.
            ("61 -, 120 -, 121 -", "1 [Fastest], 1 [Fastest], 1 []"),
            ("5401 -, 7200 -, 7201 -", "1 [Fastest], 1 [Fastest], 1 []"),
            // Three share it.
            ("9 -, 9 -, 9 -, 90 -", "1 [], 1 [], 1 [], 1 []"),
            // No asset is better than the others, or is shown to be.
            ("9 -, 9 -", "1 [], 1 []"),
            ("3 -, 44 -", "1 [], 1 []"),
            // Of one that cannot be chosen nothing is compared, and a fee alone is the lowest of none.
            ("3 0.01 off, 60 0.02, 90 -", "1 [Fastest], 1 [], 0 []"),
            ("- 0.02, 36 0.03", "1 [LowestFee], 1 []"),
        ] {
            assert_eq!(marks(quotes), expected, "{quotes}");
        }
    }

    #[test]
    fn a_payment_takes_the_networks_pace_times_the_confirmations() {
        assert_eq!(takes_seconds("Bitcoin", 3), Some(1800));
        assert_eq!(takes_seconds("BNB Chain", 3), Some(3));
        assert_eq!(takes_seconds("Bitcoin", u32::MAX), Some(4_294_968));
        assert_eq!(takes_seconds("Atlantis", 3), None);
    }

    #[test]
    fn a_fee_is_in_the_orders_currency() {
        let mut entry = entry(["", ""]);
        entry.rates.amount_in_local_currency = "2".into();
        let fee = |currency| {
            let (currency, usd) = (Currency::parse(currency), Amount::parse("0.02"));
            fee_in(currency.unwrap(), usd.unwrap(), &entry)
                .unwrap()
                .to_string()
        };
        // Two thirds, rounded up.
        assert_eq!([fee("USD"), fee("EUR")], ["0.02", "0.02"]);
        assert_eq!(fee("JPY"), "1");
    }

    #[test]
    fn the_networks_of_a_coin_are_folded_in_a_long_list() {
        let mut assets = vec![Asset::USDTTRC20, Asset::USDTERC20];
        assets.extend([Asset::BTC; LONG_LIST - 3]);
        assert!(!listed(&assets, ["", ""])[0].is_folded);
        assets.push(Asset::LTC);
        let quotes = listed(&assets, ["", ""]);
        assert!(quotes[0].is_folded);
        assert_eq!(quotes[0].detail, "TRC20 / TRON");
        assert!(!quotes.last().unwrap().is_folded);
        // Of an asset that cannot be chosen the row has a reason, and no names of exchanges.
        assert_eq!(listed(&assets, ["100", ""])[0].detail, "USDT · Tron");
    }

    #[test]
    fn a_limit_is_named_with_its_reason() {
        for (limits, reason, limit, worth) in [
            (
                ["10", "20"],
                Unavailable::BelowMinimum,
                "10\u{a0}BTC",
                "30.00",
            ),
            (
                ["0.5", "6.5"],
                Unavailable::AboveMaximum,
                "6.50\u{a0}BTC",
                "19.49",
            ),
        ] {
            let quote = &listed(&[Asset::BTC], limits)[0];
            assert_eq!(quote.reason, Some(reason));
            assert_eq!(quote.limit_shown.as_deref(), Some(limit));
            let found = quote.limit_in_order_currency.as_ref().unwrap();
            assert_eq!(found.as_str(), worth);
            assert!(!quote.available && quote.amount_shown.is_some());
        }
    }

    #[test]
    fn an_unknown_asset_is_shown_by_its_code_on_no_network() {
        let code = CryptoCode::parse("USDTSOL").unwrap();
        let mut quotes = vec![unknown_asset(&code, &entry(["", ""]), 60)];
        write_rows(&mut quotes);
        let quote = &quotes[0];
        assert_eq!([&quote.name, &quote.detail], ["USDTSOL", "USDTSOL"]);
        assert_eq!((&quote.badge, quote.available), (&None, false));
    }
}
