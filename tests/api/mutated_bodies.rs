//! Thousands of mutated bodies: every order that is created has the price of the catalogue, the signed token or the
//! donation's bounds, and no request causes a 500.

use std::collections::BTreeMap;

use florin_proxy::clock::{RandomBytes as _, SystemRandom};
use serde_json::{Value, json};
use support::World;

const BODIES: usize = 4_000;
/// The variable that repeats a run.
const SEED: &str = "FLORIN_BODIES_SEED";

/// Price per piece in cents and the maximum quantity, copied from the two stores' configuration.
const PRODUCTS: [(&str, &str, u64, u64); 5] = [
    ("demo", "ebook", 1990, 5),
    ("demo", "mug", 1250, 10),
    ("demo", "sticker", 150, 20),
    ("demo", "piano", 520_000, 1),
    ("other", "ebook", 700, 1),
];
/// Bounds in cents.
const DONATIONS: [(&str, u64, u64); 2] = [("demo", 200, 50_000), ("other", 100, 900)];

/// JSON values that a parser might misread.
const VALUES: [&str; 21] = [
    "0",
    "1",
    "6",
    "1.0",
    "4294967297",
    "18446744073709551617",
    "01",
    "null",
    "[1]",
    "\"0\"",
    "\"1.99\"",
    "\"2.00\"",
    "\"2.001\"",
    "\"500.01\"",
    "\"-3\"",
    "\"03\"",
    "\" 3\"",
    "\"\u{663}\"",
    "\".5\"",
    "\"other\"",
    "\"ebook\"",
];
/// Members of some request, and members that no request has.
const NAMES: [&str; 10] = [
    "store",
    "product",
    "quantity",
    "donation",
    "amount",
    "order_token",
    "price",
    "Quantity",
    "amount ",
    "\\u0061mount",
];

/// Numbers that follow from a seed (`SplitMix64`). Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014.
struct SeededRandom(u64);

impl SeededRandom {
    fn next(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.next(among.len())]
    }
}

/// A body as text: members in order, names and values as JSON text.
#[derive(Clone)]
struct RawBody(Vec<(String, String)>);

impl RawBody {
    fn of(request: &Value) -> Self {
        let members = request.as_object().unwrap().iter();
        Self(
            members
                .map(|(name, value)| (name.clone(), value.to_string()))
                .collect(),
        )
    }

    fn bytes(&self) -> Vec<u8> {
        let members = self
            .0
            .iter()
            .map(|(name, value)| format!("\"{name}\":{value}"));
        let members: Vec<_> = members.collect();
        format!("{{{}}}", members.join(",")).into_bytes()
    }

    /// Applies one mutation.
    fn change(&mut self, random: &mut SeededRandom, requests: &[Self]) {
        let place = random.next(self.0.len().max(1)).min(self.0.len());
        match random.next(7) {
            0 if place < self.0.len() => {
                self.0.remove(place);
            }
            1 if place < self.0.len() => (*random.pick(&NAMES)).clone_into(&mut self.0[place].0),
            2 | 3 if place < self.0.len() => {
                (*random.pick(&VALUES)).clone_into(&mut self.0[place].1);
            }
            4 if place < self.0.len() => self.0.push(self.0[place].clone()),
            5 => {
                let another = random.pick(requests).0.clone();
                self.0.push(another[random.next(another.len())].clone());
            }
            _ => {
                let member = (
                    (*random.pick(&NAMES)).to_owned(),
                    (*random.pick(&VALUES)).to_owned(),
                );
                self.0.insert(place, member);
            }
        }
    }
}

/// Valid requests of every kind, and the price of each token's reference.
fn requests(world: &World) -> (Vec<RawBody>, BTreeMap<String, String>) {
    let mut requests = Vec::new();
    for (store, sku, _, most) in PRODUCTS {
        requests.push(json!({ "store": store, "product": sku }));
        requests.push(json!({ "store": store, "product": sku, "quantity": most }));
    }
    for (store, least, most) in DONATIONS {
        for cents in [least, most] {
            let amount = format!("{}.{:02}", cents / 100, cents % 100);
            requests.push(json!({ "store": store, "donation": "coffee", "amount": amount }));
        }
    }
    let mut requests: Vec<_> = std::iter::repeat_n(requests, 8).flatten().collect();
    let mut prices = BTreeMap::new();
    // Enough tokens that none is used thirty times in a minute, the limit of a reference.
    for (number, price) in (0..24).zip(["42.00", "0.50", "1999.99"].iter().cycle()) {
        let reference = format!("lamp-{number}");
        requests.push(json!({ "order_token": world.token_signer().token(&reference, price) }));
        prices.insert(reference, (*price).to_owned());
    }
    (requests.iter().map(RawBody::of).collect(), prices)
}

/// Converts an amount with exactly two decimals to cents.
fn cents(amount: &Value) -> u64 {
    let (whole, part) = amount.as_str().unwrap().split_once('.').unwrap();
    assert_eq!(part.len(), 2, "{amount}");
    format!("{whole}{part}").parse().unwrap()
}

/// Checks that the price of an order is one that its source allows.
#[track_caller]
fn assert_allowed_price(store: &str, order: &Value, tokens: &BTreeMap<String, String>) {
    let (amount, what) = (cents(&order["amount"]), &order["metadata"]);
    assert_eq!(order["currency"], "USD", "{order}");
    match order["price_source"].as_str().unwrap() {
        "catalogue" => {
            let is_it =
                |known: &&(&str, &str, u64, u64)| known.0 == store && what["sku"] == known.1;
            let (_, _, price, most) = PRODUCTS.iter().find(is_it).unwrap();
            let pieces = what["quantity"].as_u64().unwrap();
            assert!((1..=*most).contains(&pieces), "{order}");
            assert_eq!(amount, price * pieces, "{order}");
        }
        "customer" => {
            let (_, least, most) = DONATIONS.iter().find(|known| known.0 == store).unwrap();
            assert!((*least..=*most).contains(&amount), "{order}");
            assert_eq!(what["donation"], "coffee", "{order}");
        }
        "order_token" => {
            let reference = order["reference"].as_str().unwrap();
            assert_eq!(order["amount"], *tokens[reference], "{order}");
        }
        other => panic!("unknown price source {other}: {order}"),
    }
}

fn seed() -> u64 {
    let mut bytes = [0; 8];
    SystemRandom.fill(&mut bytes);
    u64::from_ne_bytes(bytes)
}

#[tokio::test(flavor = "multi_thread")]
async fn mutated_bodies_create_only_allowed_prices_and_no_errors() {
    let seed = std::env::var(SEED).map_or_else(|_| seed(), |seed| seed.parse().unwrap());
    println!("to try the same again: {SEED}={seed}");
    let world = World::start().await;
    let (requests, tokens) = requests(&world);
    let mut random = SeededRandom(seed);
    let (mut asking, mut created, mut again, mut refused) = (tokio::task::JoinSet::new(), 0, 0, 0);
    for number in 0..BODIES {
        let mut written = random.pick(&requests).clone();
        // One in eight stays valid.
        for _ in 0..random.next(8) {
            written.change(&mut random, &requests);
        }
        let body = written.bytes();
        let is_other = random.next(4) == 0;
        let page = if is_other {
            "https://other.example".to_owned()
        } else {
            world.shop_url()
        };
        let page = world.customer().from_page_of(&page);
        asking.spawn(async move { (page.request_order_with(body.clone()).await, body) });
        while asking.len() >= 8 || (number + 1 == BODIES && !asking.is_empty()) {
            let (response, body) = asking.join_next().await.unwrap().unwrap();
            let body = String::from_utf8_lossy(&body).into_owned();
            match response.status {
                201 => created += 1,
                200 => again += 1,
                400 | 401 | 403 | 404 | 413 | 415 | 422 => refused += 1,
                status => panic!("{status} {} for {body:?}", response.text),
            }
        }
    }
    println!("{created} created, {again} opened again, {refused} refused");
    assert!(created > 80 && again > 15 && refused > 2_000);
    let mut found = 0;
    for (store, server) in [("demo", world.store()), ("other", world.other_store())] {
        for order in server.orders().await {
            assert_allowed_price(store, &order, &tokens);
            found += 1;
        }
    }
    assert_eq!(found, created, "an order was made for a refusal");
    world.end().await;
}
