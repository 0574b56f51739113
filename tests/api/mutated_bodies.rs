//! Ten thousand bodies that were good once, changed here and there: whatever is created costs what the catalogue, a
//! signed token or a donation's bounds say, and nothing breaks.

use std::collections::BTreeMap;

use florin_proxy::clock::{RandomBytes as _, SystemRandom};
use serde_json::{Value, json};
use support::World;

const BODIES: usize = 10_000;
/// The variable that repeats a run.
const SEED: &str = "FLORIN_BODIES_SEED";

/// In cents, per piece, and how many at most: by hand, from the two stores' configuration.
const PRODUCTS: [(&str, &str, u64, u64); 5] = [
    ("demo", "ebook", 1990, 5),
    ("demo", "mug", 1250, 10),
    ("demo", "sticker", 150, 20),
    ("demo", "piano", 520_000, 1),
    ("other", "ebook", 700, 1),
];
/// From and to, in cents.
const DONATIONS: [(&str, u64, u64); 2] = [("demo", 200, 50_000), ("other", 100, 900)];

/// Values that somebody might hope to be read as something else, as JSON text.
const VALUES: [&str; 46] = [
    "0",
    "1",
    "2",
    "5",
    "6",
    "-1",
    "-0",
    "1.0",
    "1e0",
    "0.1",
    "1E400",
    "4294967295",
    "4294967297",
    "18446744073709551617",
    "01",
    "+1",
    "NaN",
    "Infinity",
    "null",
    "true",
    "[]",
    "[1]",
    "{}",
    "\"\"",
    "\"0\"",
    "\"1\"",
    "\"2\"",
    "\"1.99\"",
    "\"2.00\"",
    "\"2.001\"",
    "\"500\"",
    "\"500.01\"",
    "\"-3\"",
    "\"+3\"",
    "\"3e1\"",
    "\"03\"",
    "\" 3\"",
    "\"3 \"",
    "\"3,00\"",
    "\"\u{663}\"",
    "\"3.\"",
    "\".5\"",
    "\"demo\"",
    "\"other\"",
    "\"ebook\"",
    "\"mug\"",
];
/// Members that some door has, or that somebody might hope for.
const NAMES: [&str; 16] = [
    "store",
    "product",
    "quantity",
    "donation",
    "amount",
    "order_token",
    "price",
    "currency",
    "title",
    "reference",
    "metadata",
    "tolerance",
    "expires_at",
    "Quantity",
    "amount ",
    "\\u0061mount",
];

/// Numbers that follow from a seed (`SplitMix64`). Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.roll(among.len())]
    }
}

/// A body as it is written: members in order, names and values as JSON text.
#[derive(Clone)]
struct Written(Vec<(String, String)>);

impl Written {
    fn of(door: &Value) -> Self {
        let members = door.as_object().unwrap().iter();
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

    /// Changes one thing.
    fn change(&mut self, dice: &mut Dice, doors: &[Self]) {
        let place = dice.roll(self.0.len().max(1)).min(self.0.len());
        match dice.roll(7) {
            0 if place < self.0.len() => {
                self.0.remove(place);
            }
            1 if place < self.0.len() => (*dice.pick(&NAMES)).clone_into(&mut self.0[place].0),
            2 | 3 if place < self.0.len() => (*dice.pick(&VALUES)).clone_into(&mut self.0[place].1),
            4 if place < self.0.len() => self.0.push(self.0[place].clone()),
            5 => {
                let another = dice.pick(doors).0.clone();
                self.0.push(another[dice.roll(another.len())].clone());
            }
            _ => {
                let member = (
                    (*dice.pick(&NAMES)).to_owned(),
                    (*dice.pick(&VALUES)).to_owned(),
                );
                self.0.insert(place, member);
            }
        }
    }
}

/// Changes a few bytes, wherever they are.
fn spoil(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.roll(3) {
        let place = dice
            .roll(bytes.len().max(1))
            .min(bytes.len().saturating_sub(1));
        match dice.roll(4) {
            _ if bytes.is_empty() => {}
            0 => bytes[place] ^= 1 << dice.roll(8),
            1 => {
                bytes.remove(place);
            }
            2 => bytes.insert(place, *dice.pick(b"0123456789.-+eE\"{}[],: \\\0\xff")),
            _ => bytes.truncate(place),
        }
    }
}

/// Good doors of every kind, and the price of each token's reference.
fn doors(world: &World) -> (Vec<Written>, BTreeMap<String, String>) {
    let mut doors = Vec::new();
    for (store, sku, _, most) in PRODUCTS {
        doors.push(json!({ "store": store, "product": sku }));
        doors.push(json!({ "store": store, "product": sku, "quantity": most }));
    }
    for (store, least, most) in DONATIONS {
        for cents in [least, most] {
            let amount = format!("{}.{:02}", cents / 100, cents % 100);
            doors.push(json!({ "store": store, "donation": "coffee", "amount": amount }));
        }
    }
    let mut prices = BTreeMap::new();
    for (reference, price) in [
        ("lamp-1", "42.00"),
        ("lamp-2", "0.50"),
        ("lamp-3", "1999.99"),
    ] {
        prices.insert(reference.to_owned(), price.to_owned());
        doors.push(json!({ "order_token": world.token_signer().token(reference, price) }));
    }
    (doors.iter().map(Written::of).collect(), prices)
}

/// Two decimals, and not more, as a count of cents.
fn cents(amount: &Value) -> u64 {
    let (whole, part) = amount.as_str().unwrap().split_once('.').unwrap();
    assert_eq!(part.len(), 2, "{amount}");
    format!("{whole}{part}").parse().unwrap()
}

/// Whether an order costs what it may cost, by what the proxy says that it is.
#[track_caller]
fn costs_what_it_may(store: &str, order: &Value, tokens: &BTreeMap<String, String>) {
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
        other => panic!("nobody opened an order as {other}: {order}"),
    }
}

fn drawn() -> u64 {
    let mut bytes = [0; 8];
    SystemRandom.fill(&mut bytes);
    u64::from_ne_bytes(bytes)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_created_costs_what_it_may_and_nothing_breaks() {
    let seed = std::env::var(SEED).map_or_else(|_| drawn(), |seed| seed.parse().unwrap());
    println!("to try the same again: {SEED}={seed}");
    let world = World::start().await;
    let (doors, tokens) = doors(&world);
    let mut dice = Dice(seed);
    let (mut asking, mut created, mut again, mut refused) = (tokio::task::JoinSet::new(), 0, 0, 0);
    for number in 0..BODIES {
        let mut written = dice.pick(&doors).clone();
        // One in eight is good as it is; of the rest half are changed where it makes sense, half anywhere.
        for _ in 0..dice.roll(4) {
            written.change(&mut dice, &doors);
        }
        let mut body = written.bytes();
        if dice.roll(2) == 0 {
            spoil(&mut body, &mut dice);
        }
        let is_other = dice.roll(4) == 0;
        let page = if is_other {
            "https://other.example".to_owned()
        } else {
            world.shop_url()
        };
        let page = world.shopper().from_page_of(&page);
        asking.spawn(async move { (page.request_order_with(body.clone()).await, body) });
        while asking.len() >= 8 || (number + 1 == BODIES && !asking.is_empty()) {
            let (answer, body) = asking.join_next().await.unwrap().unwrap();
            let body = String::from_utf8_lossy(&body).into_owned();
            match answer.status {
                201 => created += 1,
                200 => again += 1,
                400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 => refused += 1,
                status => panic!("{status} {} for {body:?}", answer.text),
            }
            assert!(answer.status != 409, "{} for {body:?}", answer.text);
        }
    }
    println!("{created} created, {again} opened again, {refused} refused");
    assert!(created > 200 && again > 50 && refused > 5_000);
    let mut found = 0;
    for (store, server) in [("demo", world.store()), ("other", world.other_store())] {
        for order in server.orders().await {
            costs_what_it_may(store, &order, &tokens);
            found += 1;
        }
    }
    assert_eq!(found, created, "an order was made for a refusal");
    world.end().await;
}
