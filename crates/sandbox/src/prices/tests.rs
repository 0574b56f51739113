use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn code(text: &str) -> CryptoCode {
    CryptoCode::parse(text).unwrap()
}

fn prices(seed: u64) -> Prices {
    let settings = Settings {
        seed,
        ..Settings::default()
    };
    Prices::new(&settings, Seed::new(seed)).unwrap()
}

fn offer(prices: &mut Prices, text: &str) -> Offer {
    let offers = prices.offer(at(1_000));
    offers
        .into_iter()
        .find(|offer| offer.code == code(text))
        .unwrap()
}

#[test]
fn the_seed_makes_the_prices() {
    let usd = |seed| offer(&mut prices(seed), "BTC").usd;
    assert_eq!(usd(1), usd(1));
    assert_ne!(usd(1), usd(2));
}

#[test]
fn a_conversion_holds_for_its_asset_and_its_time() {
    let mut prices = prices(1);
    let id = offer(&mut prices, "BTC").conversion_id;
    let held = |text, second| {
        let held = prices.promised(&id, &code(text), at(second), 120);
        held.map(|_| ())
    };
    assert_eq!(held("BTC", 1_119), Ok(()));
    assert_eq!(
        held("ETH", 1_000),
        Err(NotPromised::ForAnother(code("BTC")))
    );
    assert_eq!(held("BTC", 1_120), Err(NotPromised::Lapsed));
}

#[test]
fn an_id_never_issued_is_unknown() {
    let unknown = prices(1)
        .promised("conv_1", &code("BTC"), at(1_000), 120)
        .map(|_| ());
    assert_eq!(unknown, Err(NotPromised::Unknown));
}

#[test]
fn the_oldest_conversions_are_forgotten_when_there_are_too_many() {
    let mut prices = prices(1);
    let first = offer(&mut prices, "BTC").conversion_id;
    let known = |prices: &Prices| {
        prices
            .promised(&first, &code("BTC"), at(1_000), 120)
            .is_ok()
    };
    for _ in 0..1_000 {
        prices.offer(at(1_000));
    }
    assert!(known(&prices));
    for _ in 0..200 {
        prices.offer(at(1_000));
    }
    assert!(!known(&prices));
    assert_eq!(
        (prices.conversions.len(), prices.oldest_first.len()),
        (CAPACITY, CAPACITY)
    );
}

#[test]
fn promises_can_be_told_to_lapse_at_once() {
    let mut prices = prices(1);
    let before = offer(&mut prices, "BTC").conversion_id;
    prices.lapse();
    let after = offer(&mut prices, "BTC").conversion_id;
    let held = |id: &str| {
        prices
            .promised(id, &code("BTC"), at(1_000), 120)
            .map(|_| ())
    };
    assert_eq!(held(&before), Err(NotPromised::Lapsed));
    assert_eq!(held(&after), Ok(()));
}

#[test]
fn a_moved_price_holds_for_new_promises_alone() {
    let mut prices = prices(1);
    let before = offer(&mut prices, "BTC");
    let moved = prices.set(&code("BTC"), Amount::parse("70000").unwrap());
    assert_eq!(moved, Some(Ok(())));
    let promised = prices.promised(&before.conversion_id, &code("BTC"), at(1_000), 120);
    assert_eq!(promised.unwrap().usd, before.usd);
    assert_eq!(offer(&mut prices, "BTC").usd.to_string(), "70000.00");
    assert_eq!(prices.set(&code("XMR"), Amount::ONE), None);
}

#[test]
fn prices_walk_by_the_seed_and_the_time_alone() {
    let walked = |looks: &[i64]| {
        let mut prices = prices(1);
        prices.walk_every(5, 50, at(1_000));
        for second in looks {
            prices.walk(at(*second));
        }
        let mut usd = |text| offer(&mut prices, text).usd;
        (usd("BTC"), usd("USDTTRC20"))
    };
    assert_eq!(walked(&[1_004]), walked(&[]));
    assert_ne!(walked(&[1_005]), walked(&[]));
    assert_eq!(walked(&[1_005, 1_006, 1_025]), walked(&[1_025]));
    assert_eq!(walked(&[1_025]).1, Amount::ONE);
}

#[test]
fn a_price_moves_by_no_more_than_a_step() {
    let mut prices = prices(1);
    let before = offer(&mut prices, "BTC").usd;
    prices.walk_every(5, 100, at(1_000));
    prices.walk(at(1_005));
    let after = offer(&mut prices, "BTC").usd;
    let change = after
        .checked_sub(before)
        .or_else(|_| before.checked_sub(after))
        .unwrap();
    assert!(
        change.checked_mul(100).unwrap() <= before,
        "{before} {after}"
    );
}

#[test]
fn the_local_price_follows_the_local_rate() {
    let settings = Settings {
        local_currency: Currency::parse("JPY").unwrap(),
        local_per_usd: whole(150),
        ..Settings::default()
    };
    let mut prices = Prices::new(&settings, Seed::new(1)).unwrap();
    let tether = offer(&mut prices, "USDTTRC20");
    assert_eq!(tether.usd.to_string(), "1.00");
    assert_eq!(tether.local.to_string(), "150");
}
