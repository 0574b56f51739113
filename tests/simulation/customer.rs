//! Customers open an order, choose an asset, pay, and reload their page. Every view is compared with the agreed price
//! and with the model.

use std::sync::Arc;

use florin_invariants::Price;
use florin_invariants::amount::{ONE, text, units};
use serde_json::{Value, json};

use crate::invoice::{Invoice, Payment};
use crate::order_sources::{ORDER_SOURCES, OrderRequest, OrderSource};
use crate::proxy::Proxy;
use crate::stores::{CALLBACK_TOKEN, PRODUCTS, STORES, Store};
use crate::timeline::Millis;
use crate::world::World;

pub(crate) struct Customer {
    pub(crate) world: Arc<World>,
    proxy: Proxy,
    store: Store,
    pub(crate) price: i128,
    currency: &'static str,
    pub(crate) order: String,
    token: String,
    pub(crate) is_hosted: bool,
    saw_it_paid: bool,
    restores: usize,
    /// Factor on the times of chains and customers: 1 for minutes, more for days.
    pub(crate) slowness: i64,
}

impl Customer {
    pub(crate) async fn open(proxy: &Proxy, slowness: i64, number: usize) -> Option<Self> {
        let world = proxy.world();
        let store = loop {
            let store = world.random.pick(&STORES);
            if store.currency == "USD" || store.currency == world.gateway.local_currency {
                break store;
            }
        };
        let (product, each) = world.random.pick(&PRODUCTS);
        let quantity = world.random.between(1, 3);
        let each = units(each).expect("our own prices");
        let source = world.random.pick(&ORDER_SOURCES);
        let mut price = each * i128::from(quantity);
        let is_donation = matches!(source, OrderSource::Donation);
        if is_donation {
            // A unique amount, so that a second order is noticed.
            price += i128::try_from(number).expect("a few dozen") * (ONE / 100);
        }
        let has_key = is_donation || world.random.percent(50);
        let mut request = OrderRequest {
            store,
            source,
            product,
            quantity,
            price,
            key: has_key.then(|| world.random.hex()),
            reference: format!("cart-{number}"),
            expires_in_seconds: world
                .random
                .percent(20)
                .then(|| world.random.between(60, 900)),
            choice: None,
        };
        if world.random.percent(60) {
            request.choose(proxy).await;
        }
        for _ in 0..25 {
            let response = request.open(proxy).await;
            // A refused choice has opened no order: the asset is chosen afterwards.
            let refused = response.as_ref().map(|(_, refusal)| &refusal["offer"]);
            if refused.is_some_and(Value::is_object) {
                request.choice = None;
            }
            if let Some((200 | 201, opened)) = response {
                let id = opened["order"]["id"].as_str()?.to_owned();
                let token = opened["client_token"].as_str()?.to_owned();
                world.count("order sources", format!("{:?}", request.source));
                let tolerance = units(store.tolerance).expect("our own settings");
                // Of a price of which it is more than a tenth, nothing may be missing.
                let is_tolerable = tolerance * 10 <= request.price;
                let tolerance = if is_tolerable { tolerance } else { 0 };
                let price = Price {
                    amount: request.price,
                    tolerance,
                };
                world.expectations.lock().agreed.insert(id.clone(), price);
                let mut customer = Self {
                    world: world.clone(),
                    proxy: proxy.clone(),
                    store,
                    price: request.price,
                    currency: store.currency,
                    order: id,
                    token,
                    is_hosted: matches!(request.source, OrderSource::Hosted),
                    saw_it_paid: false,
                    restores: world.restores.lock().len(),
                    slowness,
                };
                customer.repeat_request(&request).await;
                return Some(customer);
            }
            world.timeline.sleep(world.random.between(500, 6000)).await;
        }
        None
    }

    /// Repeats the request with the same key, as after a lost response: it must return the same order.
    async fn repeat_request(&mut self, request: &OrderRequest) {
        let world = self.world.clone();
        if request.key.is_none() || world.random.percent(60) {
            return;
        }
        self.wait_between(0, 20_000).await;
        if let Some((200 | 201, again)) = request.open(&self.proxy).await {
            if again["order"]["id"] != self.order.as_str() && !world.has_lost(&self.order) {
                let details = format!("{} and then {}", self.order, again["order"]["id"]);
                world.violated("a key opens one order", &details);
            }
            if let Some(token) = again["client_token"].as_str() {
                token.clone_into(&mut self.token);
            }
        }
        if matches!(
            request.source,
            OrderSource::StoreServer | OrderSource::Hosted
        ) {
            request.reuse_key(&self.proxy).await;
        }
    }

    pub(crate) async fn open_hosted_page(&mut self) -> Option<Invoice> {
        for _ in 0..12 {
            if let Some((200, view)) = self.send("GET", "/v1/checkout", None).await
                && let Some(page) = view["payment_process_url"].as_str()
            {
                let there = self.world.gateway.invoice_on(page)?;
                self.wait_between(500, 15_000).await;
                self.world.gateway.change(&there.id, |invoice| {
                    if let Some(session) = &mut invoice.session {
                        session.has_chosen = true;
                    }
                });
                return Some(there);
            }
            self.wait_between(1_000, 12_000).await;
            self.post("/v1/checkout/session", None).await;
        }
        None
    }

    /// Sends a POST, with a key in half of the cases, and sometimes twice.
    async fn post(&mut self, path: &str, body: Option<&Value>) {
        let key = self.world.random.hex();
        let (key, token) = (
            self.world.random.percent(50).then_some(key),
            self.token.clone(),
        );
        let times = if self.world.random.percent(20) { 2 } else { 1 };
        for _ in 0..times {
            let response = self
                .proxy
                .call_once("POST", path, Some(&token), body, key.as_deref());
            if let Some((200, view)) = &response.await
                && times == 1
            {
                self.check(view);
            }
        }
    }

    /// Chooses an asset other than `not` and returns its invoice.
    pub(crate) async fn choose(&mut self, not: Option<&str>) -> Option<Invoice> {
        if self.is_hosted {
            return match not {
                None => self.open_hosted_page().await,
                Some(_) => None,
            };
        }
        for _ in 0..12 {
            let quotes = self.send("GET", "/v1/checkout/quotes", None).await;
            if let Some((200, quotes)) = quotes {
                let quotes = quotes.as_array().cloned().unwrap_or_default();
                let usable: Vec<&Value> = quotes
                    .iter()
                    .filter(|quote| quote["available"] == true)
                    .filter(|quote| quote["crypto_code"].as_str() != not)
                    .collect();
                if !usable.is_empty() {
                    let quote = self.world.random.pick(&usable);
                    self.wait_between(500, 15_000).await;
                    let request = json!({
                        "crypto_code": quote["crypto_code"],
                        "quote_id": quote["quote_id"],
                    });
                    self.post("/v1/checkout/attempt", Some(&request)).await;
                }
            }
            if let Some(shown) = self.reload().await
                && not != Some(shown.asset.code)
            {
                return Some(shown);
            }
            self.wait_between(1_000, 12_000).await;
        }
        None
    }

    pub(crate) async fn pay_all(&mut self, invoice: &Invoice) {
        self.pay(invoice, invoice.amounts[0]).await;
    }

    pub(crate) async fn pay(&mut self, invoice: &Invoice, amount: i128) {
        self.send_money(invoice, amount, None, true).await;
    }

    /// Sends money; the model confirms it, after `stuck_until`, and sends callbacks if wanted.
    pub(crate) async fn send_money(
        &mut self,
        invoice: &Invoice,
        amount: i128,
        stuck_until: Option<Millis>,
        calls_back: bool,
    ) {
        let (world, slowness) = (&self.world, self.slowness);
        let now = world.timeline.now();
        let block = |from: Millis| from + world.random.between(4_000, 50_000) * slowness;
        let seen_at = now + world.random.between(500, 10_000);
        let first = block(stuck_until.unwrap_or(seen_at));
        let second = block(first);
        let confirmed_at = [first, second, block(second)];
        world.log(|| format!("pays {} of {}: {confirmed_at:?}", invoice.id, self.order));
        let payment = Payment {
            units: amount,
            seen_at,
            confirmed_at,
            gone: None,
            hash: world.random.hex(),
        };
        let gateway = &world.gateway;
        gateway.change(&invoice.id, |invoice| invoice.payments.push(payment));
        world.count("actions of customers", "paid");
        if calls_back {
            let (proxy, id) = (self.proxy.clone(), invoice.id.clone());
            tokio::spawn(send_callbacks(proxy, id, confirmed_at[2]));
        }
        if world.random.percent(40) {
            let email = world.random.percent(30).then_some("buyer@example.com");
            let body = email.map_or(json!({}), |email| json!({ "email": email }));
            self.send("POST", "/v1/checkout/paid", Some(&body)).await;
        }
    }

    pub(crate) async fn cancel_by_store(&self) {
        let path = format!("/v1/orders/{}/cancel", self.order);
        let key = self.store.secret_key();
        let response = self.proxy.call("POST", &path, Some(&key), None).await;
        if response.is_some_and(|(status, _)| status == 200) {
            self.world.count("actions of customers", "was cancelled");
        }
    }

    /// The store sends money back, and records it: once with its key, however often it asks.
    pub(crate) async fn refund_by_store(&self, sent: i128) {
        self.wait_between(60_000, 400_000 * self.slowness).await;
        let path = format!("/v1/orders/{}/refunds", self.order);
        let body = json!({ "amount_in_crypto": text(sent) });
        let (key, once) = (self.store.secret_key(), format!("refund-{}", self.order));
        for _ in 0..3 {
            let sent = self
                .proxy
                .call_once("POST", &path, Some(&key), Some(&body), Some(&once));
            if matches!(sent.await, Some((200, _))) {
                self.world.count("actions of customers", "was refunded");
            }
        }
    }

    pub(crate) async fn reload_repeatedly(&mut self) {
        for _ in 0..self.world.random.between(1, 5) {
            self.wait_between(3_000, 60_000).await;
            self.reload().await;
        }
    }

    async fn reload(&mut self) -> Option<Invoice> {
        match self.send("GET", "/v1/checkout", None).await {
            Some((200, view)) => self.invoice_of(&view),
            _ => None,
        }
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Option<(u16, Value)> {
        let token = self.token.clone();
        let response = self.proxy.call(method, path, Some(&token), body).await;
        if let Some((200, view)) = &response
            && view["status"].is_string()
        {
            self.check(view);
        }
        response
    }

    pub(crate) async fn wait_between(&self, least: Millis, most: Millis) {
        let pause = self.world.random.between(least, most);
        self.world.timeline.sleep(pause).await;
    }

    fn invoice_of(&self, view: &Value) -> Option<Invoice> {
        let address = view["attempt"]["address"].as_str()?;
        let can_be_paid = view["status"] == "awaiting_payment" || view["status"] == "checking";
        self.world
            .gateway
            .invoice_at(address)
            .filter(|_| can_be_paid)
    }

    fn check(&mut self, view: &Value) {
        let (world, order) = (&self.world, &self.order);
        let shown = |member: &Value| units(member.as_str().unwrap_or_default());
        let violated = |invariant: &str, details: String| {
            world.violated(invariant, &format!("{order}: {details}"));
        };
        if shown(&view["amount"]) != Some(self.price) || view["currency"] != self.currency {
            let details = format!("{} {}", view["amount"], view["currency"]);
            violated("the price is the one agreed on", details);
        }
        let is_paid = view["status"] == "paid" || view["status"] == "overpaid";
        let restores = world.restores.lock().len();
        if self.restores != restores {
            // A restored backup may not know the payment yet.
            self.restores = restores;
            self.saw_it_paid = false;
        }
        if self.saw_it_paid && !is_paid {
            let details = format!("{} is shown after it was paid", view["status"]);
            violated("paid stays paid", details);
        }
        self.saw_it_paid |= is_paid;
        if let Some(page) = view["payment_process_url"].as_str() {
            let session = world.gateway.invoice_on(page);
            if session.is_none_or(|session| session.is_tainted || !self.is_hosted) {
                violated("a page that is shown is the gateway's", page.to_owned());
            }
        }
        let attempt = &view["attempt"];
        let Some(address) = attempt["address"].as_str() else {
            return;
        };
        let Some(invoice) = world.gateway.invoice_at(address) else {
            let invariant = "an address that is shown is the gateway's";
            return violated(invariant, address.to_owned());
        };
        if invoice.is_tainted {
            violated("no suspicious invoice is shown", invoice.id.clone());
        }
        let members = [
            "amount_in_crypto",
            "amount_in_usd",
            "amount_in_local_currency",
        ];
        for (amount, member) in invoice.amounts.iter().zip(members) {
            if shown(&attempt[member]) != Some(*amount) {
                let details = format!("{member} is {}", attempt[member]);
                violated("the shown amount is the invoice's", details);
            }
        }
        let due = shown(&attempt["remaining_in_crypto"]).filter(|_| !is_paid);
        let due = due.unwrap_or(0);
        let link = invoice.asset.link(address, due);
        if attempt["qr_string"] != link {
            let details = format!("{} for {link}", attempt["qr_string"]);
            violated("the QR code requests the amount due", details);
        }
    }
}

/// Sends callbacks: once, twice, late, never, or with a wrong status.
async fn send_callbacks(proxy: Proxy, invoice: String, completed_at: Millis) {
    let world = proxy.world();
    let path = format!("/callbacks/{CALLBACK_TOKEN}");
    if world.random.percent(15) {
        let early = world.random.between(0, 30_000);
        world.timeline.sleep(early).await;
        let known = world.random.percent(60);
        let callback = json!({
            "invoice_id": if known { &invoice } else { "inv_that_never_was" },
            "status": world.random.pick(&["COMPLETED", "FAILED", "PAID"]),
        });
        world.count("callbacks", "a wrong status");
        proxy.call("POST", &path, None, Some(&callback)).await;
    }
    let left = completed_at - world.timeline.now();
    world.timeline.sleep(left).await;
    if world.random.percent(30) {
        return world.count("callbacks", "lost");
    }
    let times = if world.random.percent(25) { 3 } else { 1 };
    for time in 0..times {
        world.timeline.sleep(world.random.between(10, 5_000)).await;
        let body = json!({ "invoice_id": invoice, "status": "COMPLETED" });
        let kind = if time == 0 { "sent" } else { "repeated" };
        world.count("callbacks", kind);
        proxy.call("POST", &path, None, Some(&body)).await;
    }
}
