//! Offers: what a page shows before a choice. The rules of the list stand here alone; pages place what they get.

use florin_checkout_api::{Environment, Offer, Quote, Unavailable};
use florin_gateway::PriceEntry;
use florin_money::{Amount, Asset, CryptoCode, Network, trimmed};
use florin_orders::NewOrder;

use crate::config::Store;
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

/// Lists the accepted assets: known ones first, in our order, then what else the gateway offers.
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
    write_rows(&mut listed);
    listed
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

/// Writes what the row of each asset says, which depends on the others.
fn write_rows(listed: &mut [Quote]) {
    let assets: Vec<String> = listed.iter().map(|quote| quote.asset.clone()).collect();
    for quote in listed {
        let networks = assets.iter().filter(|asset| **asset == quote.asset).count();
        let coin = Network::coin_of(&quote.network);
        let on_network = format!("{} · {}", quote.asset, quote.network);
        quote.confirms_network = networks > 1 || coin != quote.asset;
        quote.is_folded = networks > 1 && assets.len() >= LONG_LIST;
        let is_named = !quote.network.is_empty();
        quote.name = if quote.confirms_network && is_named {
            on_network.clone()
        } else {
            quote.asset_name.clone()
        };
        let exchanges_say = Network::of(&quote.network).filter(|_| quote.is_folded);
        quote.detail = match exchanges_say {
            Some(network) if quote.available => network.names.to_owned(),
            _ if quote.confirms_network => quote.asset_name.clone(),
            _ if is_named && quote.asset_name != quote.network => on_network,
            _ => quote.asset.clone(),
        };
        // A network that is not known has a letter for its badge, which may be the asset's.
        let is_repeated = coin == quote.asset
            || coin == quote.network && coin.chars().next() == quote.asset.chars().next();
        let has_badge = quote.confirms_network && is_named && !is_repeated;
        quote.badge = has_badge.then(|| coin.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use florin_gateway::{ConversionId, Limits, Rates};
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
            ("Ether", "ETH · Ethereum", None, false),
            ("USDT · Tron", "Tether", Some("TRX"), true),
            ("USDT · Ethereum", "Tether", Some("ETH"), true),
            ("Litecoin", "LTC", None, false),
            ("TRON", "TRX · Tron", None, false),
            ("BNB", "BNB · BNB Chain", None, false),
            ("Bitcoin Cash", "BCH", None, false),
            ("Dogecoin", "DOGE", None, false),
        ];
        let quotes = listed(&Asset::ALL, ["", ""]);
        for (quote, (name, detail, badge, confirms)) in quotes.iter().zip(rows) {
            let written = (&*quote.name, &*quote.detail, quote.badge.as_deref());
            assert_eq!(written, (name, detail, badge));
            assert_eq!(quote.confirms_network, confirms, "{name}");
            assert!(!quote.is_folded, "{name}");
        }
        assert_eq!(quotes[0].amount_shown.as_deref(), Some("6.63334\u{a0}BTC"));
        assert_eq!(quotes[0].limit_shown, None);
        // A token is confirmed also where it is alone.
        assert!(listed(&[Asset::USDTTRC20], ["", ""])[0].confirms_network);
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
        assert_eq!(listed(&assets, ["100", ""])[0].detail, "Tether");
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
