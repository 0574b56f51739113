//! Customers: they open an order through some door, choose an asset, pay as people do, and look at their page. Whatever
//! they are shown is compared with what they agreed to and with what truly happened.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::{DOORS, Door, Wanted};
use crate::behaviour::MANNERS;
use crate::decimal::{ONE, units};
use crate::invoice::{Invoice, Payment, Price};
use crate::stores::{CALLBACK_TOKEN, PRODUCTS, STORES, Store};
use crate::timeline::Millis;
use crate::world::World;

pub(crate) struct Customer {
    pub(crate) world: Arc<World>,
    store: Store,
    pub(crate) price: i128,
    currency: &'static str,
    order: String,
    token: String,
    /// Whether the service's own page shows how to pay.
    pub(crate) is_hosted: bool,
    saw_it_paid: bool,
    /// How slow chains and people are here: 1 for minutes, more for days.
    pub(crate) slowness: i64,
}

impl Customer {
    /// A whole life of an order.
    pub(crate) async fn live(world: Arc<World>, slowness: i64, number: usize) {
        let start = world.chance.between(0, 150_000 * slowness);
        world.timeline.sleep(start).await;
        let Some(mut customer) = Self::opens(&world, slowness, number).await else {
            return world.tally.one("customers", "gave up at the door");
        };
        let manner = world.chance.weigh(&MANNERS);
        world.tally.one("customers", format!("{manner:?}"));
        world.log(|| format!("customer {number}: order {} {manner:?}", customer.order));
        customer.acts(manner).await;
    }

    async fn opens(world: &Arc<World>, slowness: i64, number: usize) -> Option<Self> {
        let store = loop {
            let store = world.chance.pick(&STORES);
            if store.currency == "USD" || store.currency == world.service.local_currency {
                break store;
            }
        };
        let product = usize::try_from(world.chance.between(0, 2)).expect("one of three");
        let quantity = world.chance.between(1, 3);
        let each = units(PRODUCTS[product].1).expect("our own prices");
        let door = world.chance.pick(&DOORS);
        let mut price = each * i128::from(quantity);
        let is_donation = matches!(door, Door::Donation);
        if is_donation {
            // Nobody else gives just as much: a second order of it would be seen.
            price += i128::try_from(number).expect("a few dozen") * (ONE / 100);
        }
        let has_key = is_donation || world.chance.percent(50);
        let wanted = Wanted {
            store,
            door,
            product,
            quantity,
            price,
            key: has_key.then(|| world.chance.hex()),
            reference: format!("cart-{number}"),
            expires_in_seconds: world
                .chance
                .percent(20)
                .then(|| world.chance.between(60, 900)),
        };
        for _ in 0..25 {
            if let Some((200 | 201, opened)) = wanted.knock(world).await {
                let id = opened["order"]["id"].as_str()?.to_owned();
                let token = opened["client_token"].as_str()?.to_owned();
                world.tally.one("doors", format!("{:?}", wanted.door));
                let tolerance = units(store.tolerance).expect("our own settings");
                let price = Price {
                    amount: wanted.price,
                    tolerance,
                };
                world.memory().prices.insert(id.clone(), price);
                let mut customer = Self {
                    world: world.clone(),
                    store,
                    price: wanted.price,
                    currency: store.currency,
                    order: id,
                    token,
                    is_hosted: matches!(wanted.door, Door::Hosted),
                    saw_it_paid: false,
                    slowness,
                };
                customer.knocks_again(&wanted).await;
                return Some(customer);
            }
            world.timeline.sleep(world.chance.between(500, 6000)).await;
        }
        None
    }

    /// The answer was lost, or a button was pressed twice: the same request with the same key is the same order.
    async fn knocks_again(&mut self, wanted: &Wanted) {
        let world = self.world.clone();
        if wanted.key.is_none() || world.chance.percent(60) {
            return;
        }
        self.waits(0, 20_000).await;
        if let Some((200 | 201, again)) = wanted.knock(&world).await {
            if again["order"]["id"] != self.order.as_str() {
                let told = format!("{} and then {}", self.order, again["order"]["id"]);
                world.complain("a key opens one order", &told);
            }
            if let Some(token) = again["client_token"].as_str() {
                token.clone_into(&mut self.token);
            }
        }
        if matches!(wanted.door, Door::StoreServer | Door::Hosted) {
            wanted.knocks_with_a_used_key(&world).await;
        }
    }

    /// Goes to the service's page and chooses an asset there.
    pub(crate) async fn goes_to_the_page(&mut self) -> Option<Invoice> {
        for _ in 0..12 {
            if let Some((200, view)) = self.asks("GET", "/v1/checkout", None).await
                && let Some(page) = view["payment_process_url"].as_str()
            {
                let there = self.world.service.invoice_on(page)?;
                self.waits(500, 15_000).await;
                self.world.service.change(&there.id, |invoice| {
                    if let Some(session) = &mut invoice.session {
                        session.has_chosen = true;
                    }
                });
                return Some(there);
            }
            self.waits(1_000, 12_000).await;
            self.posts("/v1/checkout/session", None).await;
        }
        None
    }

    /// A POST, with a key in half of the cases; and sometimes twice, as it happens.
    async fn posts(&mut self, path: &str, body: Option<&Value>) {
        let key = self.world.chance.hex();
        let (key, token) = (
            self.world.chance.percent(50).then_some(key),
            self.token.clone(),
        );
        let times = if self.world.chance.percent(20) { 2 } else { 1 };
        for _ in 0..times {
            let answer = self
                .world
                .call_once("POST", path, Some(&token), body, key.as_deref());
            if let Some((200, view)) = &answer.await
                && times == 1
            {
                self.checks(view);
            }
        }
    }

    /// Chooses an asset, another one than `not`, and comes to see its invoice.
    pub(crate) async fn chooses(&mut self, not: Option<&str>) -> Option<Invoice> {
        if self.is_hosted {
            return match not {
                None => self.goes_to_the_page().await,
                Some(_) => None,
            };
        }
        for _ in 0..12 {
            let quotes = self.asks("GET", "/v1/checkout/quotes", None).await;
            if let Some((200, quotes)) = quotes {
                let quotes = quotes.as_array().cloned().unwrap_or_default();
                let usable: Vec<&Value> = quotes
                    .iter()
                    .filter(|quote| quote["available"] == true)
                    .filter(|quote| quote["crypto_code"].as_str() != not)
                    .collect();
                if !usable.is_empty() {
                    let quote = self.world.chance.pick(&usable);
                    self.waits(500, 15_000).await;
                    let wanted = json!({
                        "crypto_code": quote["crypto_code"],
                        "quote_id": quote["quote_id"],
                    });
                    self.posts("/v1/checkout/attempt", Some(&wanted)).await;
                }
            }
            if let Some(shown) = self.looks().await
                && not != Some(shown.coin.code)
            {
                return Some(shown);
            }
            self.waits(1_000, 12_000).await;
        }
        None
    }

    /// Sends money, and lets the chain and the service do what they do with it.
    pub(crate) async fn pays(
        &mut self,
        invoice: &Invoice,
        amount: i128,
        stuck_until: Option<Millis>,
    ) {
        let (world, slowness) = (&self.world, self.slowness);
        let now = world.timeline.now();
        let block = |from: Millis| from + world.chance.between(4_000, 50_000) * slowness;
        let seen_at = now + world.chance.between(500, 10_000);
        let first = block(stuck_until.unwrap_or(seen_at));
        let second = block(first);
        let confirmed_at = [first, second, block(second)];
        world.log(|| format!("pays {} of {}: {confirmed_at:?}", invoice.id, self.order));
        world.service.pay(
            &invoice.id,
            Payment {
                units: amount,
                seen_at,
                confirmed_at,
                gone: None,
                hash: world.chance.hex(),
            },
        );
        world.tally.one("customers' doings", "paid");
        tokio::spawn(calls_back(
            world.clone(),
            invoice.id.clone(),
            confirmed_at[2],
        ));
        if world.chance.percent(40) {
            let email = world.chance.percent(30).then_some("buyer@example.com");
            let said = email.map_or(json!({}), |email| json!({ "email": email }));
            self.asks("POST", "/v1/checkout/paid", Some(&said)).await;
        }
    }

    pub(crate) async fn is_cancelled_by_the_store(&self) {
        let path = format!("/v1/orders/{}/cancel", self.order);
        let key = self.store.secret_key();
        let answer = self.world.call("POST", &path, Some(&key), None).await;
        if answer.is_some_and(|(status, _)| status == 200) {
            self.world.tally.one("customers' doings", "was cancelled");
        }
    }

    pub(crate) async fn looks_now_and_then(&mut self) {
        for _ in 0..self.world.chance.between(1, 5) {
            self.waits(3_000, 60_000).await;
            self.looks().await;
        }
    }

    /// Reloads the page; answers the invoice that is shown.
    async fn looks(&mut self) -> Option<Invoice> {
        match self.asks("GET", "/v1/checkout", None).await {
            Some((200, view)) => self.invoice_of(&view),
            _ => None,
        }
    }

    async fn asks(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let token = self.token.clone();
        let answer = self.world.call(method, path, Some(&token), body).await;
        if let Some((200, view)) = &answer
            && view["status"].is_string()
        {
            self.checks(view);
        }
        answer
    }

    pub(crate) async fn waits(&self, least: Millis, most: Millis) {
        let pause = self.world.chance.between(least, most);
        self.world.timeline.sleep(pause).await;
    }

    /// The invoice that is shown, if one is.
    fn invoice_of(&self, view: &Value) -> Option<Invoice> {
        let address = view["attempt"]["address"].as_str()?;
        let can_be_paid = view["status"] == "awaiting_payment" || view["status"] == "checking";
        self.world
            .service
            .invoice_at(address)
            .filter(|_| can_be_paid)
    }

    /// What is shown must be what was agreed to, and true.
    fn checks(&mut self, view: &Value) {
        let (world, order) = (&self.world, &self.order);
        let shown = |member: &Value| units(member.as_str().unwrap_or_default());
        if shown(&view["amount"]) != Some(self.price) || view["currency"] != self.currency {
            let told = format!("{order}: {} {}", view["amount"], view["currency"]);
            world.complain("the price is the one agreed on", &told);
        }
        let is_paid = view["status"] == "paid" || view["status"] == "overpaid";
        if self.saw_it_paid && !is_paid {
            let told = format!("{order} is shown as {} after it was paid", view["status"]);
            world.complain("paid stays paid", &told);
        }
        self.saw_it_paid |= is_paid;
        if let Some(page) = view["payment_process_url"].as_str() {
            let session = world.service.invoice_on(page);
            if session.is_none_or(|session| session.is_tainted || !self.is_hosted) {
                let told = format!("{order}: {page}");
                world.complain("a page that is shown is the service's", &told);
            }
        }
        let attempt = &view["attempt"];
        let Some(address) = attempt["address"].as_str() else {
            return;
        };
        let Some(invoice) = world.service.invoice_at(address) else {
            let told = format!("{order}: {address}");
            return world.complain("an address that is shown is the service's", &told);
        };
        if invoice.is_tainted {
            let told = format!("{order}: {}", invoice.id);
            world.complain("no suspicious invoice is shown", &told);
        }
        let asked = [
            "amount_in_crypto",
            "amount_in_usd",
            "amount_in_local_currency",
        ];
        for (asked, member) in invoice.asked.iter().zip(asked) {
            if shown(&attempt[member]) != Some(*asked) {
                let told = format!("{order}: {member} is {}", attempt[member]);
                world.complain("what is shown is what the invoice asks", &told);
            }
        }
        let due = shown(&attempt["remaining_in_crypto"]).filter(|_| !is_paid);
        let link = invoice
            .coin
            .shown(&invoice.qr_string, address, due.unwrap_or(0));
        if attempt["qr_string"] != link {
            let told = format!("{order}: {} for {link}", attempt["qr_string"]);
            world.complain("the code asks for what is due", &told);
        }
    }
}

/// The service calls back: as it should, twice, late, not at all, or with a lie.
async fn calls_back(world: Arc<World>, invoice: String, completed_at: Millis) {
    let path = format!("/callbacks/{CALLBACK_TOKEN}");
    if world.chance.percent(15) {
        let early = world.chance.between(0, 30_000);
        world.timeline.sleep(early).await;
        let known = world.chance.percent(60);
        let lie = json!({
            "invoice_id": if known { &invoice } else { "inv_that_never_was" },
            "status": world.chance.pick(&["COMPLETED", "FAILED", "PAID"]),
        });
        world.tally.one("callbacks", "a lie");
        world.call("POST", &path, None, Some(&lie)).await;
    }
    let left = completed_at - world.timeline.now();
    world.timeline.sleep(left).await;
    if world.chance.percent(30) {
        return world.tally.one("callbacks", "lost");
    }
    let times = if world.chance.percent(25) { 3 } else { 1 };
    for time in 0..times {
        world.timeline.sleep(world.chance.between(10, 5_000)).await;
        let body = json!({ "invoice_id": invoice, "status": "COMPLETED" });
        let kind = if time == 0 { "sent" } else { "repeated" };
        world.tally.one("callbacks", kind);
        world.call("POST", &path, None, Some(&body)).await;
    }
}
