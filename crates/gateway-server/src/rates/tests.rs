use serde::Deserialize;

use super::*;

const SOURCES: &str = include_str!("tests/sources.toml");

#[derive(Deserialize)]
struct Table {
    verdicts: Vec<Verdict>,
    refused: Vec<Refused>,
}

#[derive(Deserialize)]
struct Verdict {
    claim: String,
    #[serde(default)]
    keys: String,
    rounds: Vec<Round>,
    now: i64,
    expected: String,
}

#[derive(Deserialize)]
struct Round {
    at: i64,
    prices: BTreeMap<String, Amount>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Refused {
    keys: String,
    write: String,
    instead: String,
    expected: String,
}

fn table() -> Table {
    toml::from_str(include_str!("tests/verdicts.toml")).unwrap()
}

fn rates(keys: &str, symbols: &[&str]) -> Result<Rates, RatesError> {
    let options = toml::from_str(&format!("{keys}\n{SOURCES}")).unwrap();
    Rates::new(options, symbols.iter().copied(), Currency::USD)
}

fn amount(text: &str) -> Amount {
    Amount::parse(text).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn word(verdict: Result<Amount, NotOffered>) -> String {
    match verdict {
        Ok(price) => price.to_string(),
        Err(reason) => <&str>::from(reason).to_owned(),
    }
}

#[test]
fn a_price_is_offered_while_enough_sources_agree() {
    for verdict in table().verdicts {
        let rates = rates(&verdict.keys, &["BTC"]).unwrap();
        for round in verdict.rounds {
            for (name, price) in round.prices {
                let mut sources = rates.options.sources.iter();
                let source = sources.find(|source| source.name == name).unwrap();
                rates
                    .record(source, &Pair::asset("BTC"), price, at(round.at))
                    .unwrap();
            }
            rates.end_round(at(round.at));
        }
        let price = rates.accepted(&Pair::asset("BTC"), at(verdict.now));
        assert_eq!(word(price), verdict.expected, "{}", verdict.claim);
    }
}

#[test]
fn a_stable_coin_below_its_floor_is_the_merchants_decision() {
    for (price, below_floor, expected) in [
        ("0.98", "refuse", "0.98"),
        ("0.97999", "refuse", "below_floor"),
        ("0.97999", "offer", "0.97999"),
    ] {
        let keys = format!("below_floor = '{below_floor}'");
        let rates = rates(&keys, &["BTC", "USDT"]).unwrap();
        for source in &rates.options.sources[..2] {
            rates
                .record(source, &Pair::asset("USDT"), amount(price), at(0))
                .unwrap();
        }
        let verdict = rates.accepted(&Pair::asset("USDT"), at(0));
        assert_eq!(word(verdict), expected);
        // A token of the specification has the price of its symbol.
        let tron = rates.usd_price(&Asset::USDTTRC20.crypto_code(), at(0));
        assert_eq!(tron, verdict.ok());
    }
}

#[test]
fn a_price_in_a_stable_coin_is_converted_at_what_the_coin_is_worth() {
    let rates = rates("minimum_sources = 1", &["BTC"]).unwrap();
    let [a, .., quoted] = &rates.options.sources[..] else {
        panic!("the sources are missing");
    };
    let refused = rates.record(quoted, &Pair::asset("BTC"), amount("100"), at(0));
    assert_eq!(
        refused.unwrap_err(),
        "USDT, in which it quotes, has no price"
    );
    rates
        .record(a, &Pair::asset("USDT"), amount("0.95"), at(0))
        .unwrap();
    rates
        .record(quoted, &Pair::asset("BTC"), amount("100"), at(0))
        .unwrap();
    assert_eq!(rates.accepted(&Pair::asset("BTC"), at(0)), Ok(amount("95")));
}

#[test]
fn options_are_refused_by_key() {
    for refused in table().refused {
        let sources = SOURCES.replacen(&refused.write, &refused.instead, 1);
        let options = toml::from_str(&format!("{}\n{sources}", refused.keys)).unwrap();
        let error = Rates::new(options, ["BTC"], Currency::USD).unwrap_err();
        assert_eq!(error.to_string(), refused.expected);
    }
    let unknown = toml::from_str::<RatesOptions>("minimum = 2").unwrap_err();
    assert!(
        unknown.message().contains("unknown field `minimum`"),
        "{unknown}"
    );
}

#[test]
fn the_default_sources_have_three_prices_of_every_listed_asset() {
    for currency in ["USD", "EUR", "GBP", "CHF", "JPY", "PLN", "BRL"] {
        let local = Currency::parse(currency).unwrap();
        let mut options = RatesOptions::default();
        let rates = Rates::new(options.clone(), Asset::ALL.map(Asset::symbol), local).unwrap();
        let usd = (currency == "USD").then_some(Amount::ONE);
        assert_eq!(rates.local_per_usd(local, at(0)), usd);
        options.minimum_sources = 3;
        Rates::new(options, Asset::ALL.map(Asset::symbol), Currency::USD).unwrap();
    }
}

#[test]
fn recorded_answers_of_every_default_source_are_read() {
    #[derive(Deserialize)]
    struct Recorded {
        answers: Vec<Answer>,
    }
    #[derive(Deserialize)]
    struct Answer {
        source: String,
        pair: String,
        address: String,
        at: Timestamp,
        body: String,
        price: Amount,
    }
    let recorded: Recorded = toml::from_str(include_str!("tests/recorded.toml")).unwrap();
    for source in RatesOptions::default().sources {
        let of_source = |answer: &&Answer| answer.source == source.name;
        let answers: Vec<_> = recorded.answers.iter().filter(of_source).collect();
        assert!(
            !answers.is_empty(),
            "no answer of {} is recorded",
            source.name
        );
        for answer in answers {
            let local = Currency::parse(&answer.pair).map(Pair::Local);
            let pair = local.unwrap_or_else(|_| Pair::asset(&answer.pair));
            let (symbol, _) = source.symbol(&pair).unwrap();
            assert_eq!(source.filled(symbol), answer.address);
            let price = answer::price(&source, &pair, answer.body.as_bytes(), answer.at);
            assert_eq!(price, Ok(answer.price), "{}", source.name);
        }
    }
}
