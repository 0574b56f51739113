//! The operator's pages: sign-in, forms, and what they show.

use reqwest::Response;
use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use serde_json::json;
use support::{Checkout, Reply, World, WorldConfig, eventually, secrets};

use crate::helpers::paid_event_count;
use crate::secret_leaks::secrets_in;

/// A browser on the pages of operators or staff: it keeps cookies and sends forms.
pub(crate) struct Pages<'w> {
    world: &'w World,
    base: String,
    pub(crate) cookies: Vec<(String, String)>,
    /// `X-Forwarded-For` of a form.
    forwarded_for: Option<String>,
}

/// A page as it came.
pub(crate) struct Page {
    status: u16,
    pub(crate) location: Option<String>,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
}

impl Page {
    #[track_caller]
    pub(crate) fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The value of the first hidden input of a name.
    #[track_caller]
    pub(crate) fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let found = self.text.split_once(&start);
        let (_, rest) = found.unwrap_or_else(|| panic!("no {name} in {}", self.text));
        rest.split_once('"').unwrap().0.to_owned()
    }
}

impl<'w> Pages<'w> {
    pub(crate) fn of(world: &'w World) -> Self {
        Self::at(world, &world.admin_url())
    }

    /// On the pages of a listener.
    pub(crate) fn at(world: &'w World, base: &str) -> Self {
        Self {
            world,
            base: base.to_owned(),
            cookies: Vec::new(),
            forwarded_for: None,
        }
    }

    async fn keep(&mut self, response: Response) -> Page {
        for cookie in response.headers().get_all(SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
            let (name, rest) = cookie.split_once('=').unwrap();
            self.cookies.retain(|(known, _)| known != name);
            let value = rest.split_once(';').unwrap().0.to_owned();
            self.cookies.push((name.to_owned(), value));
        }
        let headers = response.headers().clone();
        let location = headers
            .get(LOCATION)
            .map(|it| it.to_str().unwrap().to_owned());
        Page {
            status: response.status().as_u16(),
            location,
            headers,
            text: response.text().await.unwrap(),
        }
    }

    fn cookie(&self) -> String {
        let pairs = self.cookies.iter();
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        pairs.join("; ")
    }

    pub(crate) async fn get(&mut self, path: &str) -> Page {
        let url = format!("{}{path}", self.base);
        let request = self.world.http().get(url).header(COOKIE, self.cookie());
        let response = request.send().await.unwrap();
        self.keep(response).await
    }

    pub(crate) async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Page {
        let url = format!("{}{path}", self.base);
        let body = reqwest::Url::parse_with_params("http://form", form).unwrap();
        let body = body.query().unwrap_or_default().to_owned();
        let request = self.world.http().post(url).header(COOKIE, self.cookie());
        let mut request = request.header("content-type", "application/x-www-form-urlencoded");
        if let Some(address) = &self.forwarded_for {
            request = request.header("x-forwarded-for", address);
        }
        let response = request.body(body).send().await.unwrap();
        self.keep(response).await
    }

    pub(crate) async fn sign_in(&mut self, name: &str, password: &str) -> Page {
        let csrf = self.get("/login").await.hidden("csrf");
        let form = [("csrf", &*csrf), ("name", name), ("password", password)];
        self.post("/login", &form).await
    }
}

/// An operator who is signed in.
pub(crate) async fn ada(world: &World) -> Pages<'_> {
    let mut pages = Pages::of(world);
    let signed_in = pages
        .sign_in("ada", secrets::OPERATOR_PASSWORD)
        .await
        .with(303);
    assert_eq!(signed_in.location.as_deref(), Some("/"));
    pages
}

/// An order of which half is paid and confirmed.
pub(crate) async fn underpaid(world: &World) -> Checkout {
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "half").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("underpaid").await;
    world.wait_for_deliveries().await;
    checkout
}

const PAGES: [&str; 8] = [
    "/",
    "/orders",
    "/settlements",
    "/settlements.csv",
    "/stores",
    "/gateway",
    "/audit",
    "/configuration",
];

#[tokio::test]
async fn every_page_asks_for_a_sign_in_and_is_stored_nowhere_and_shows_no_secret() {
    let world = World::start().await;
    let checkout = underpaid(&world).await;
    let order = format!("/orders/{}", checkout.order);
    let pages: Vec<&str> = PAGES.iter().copied().chain([&*order]).collect();
    let mut public = Pages::at(&world, &world.proxy_url());
    for path in &pages {
        let page = Pages::of(&world).get(path).await.with(303);
        assert_eq!(page.location.as_deref(), Some("/login"), "{path}");
        if *path != "/" {
            public.get(path).await.with(404);
        }
    }
    let mut ada = ada(&world).await;
    for path in pages {
        let page = ada.get(path).await.with(200);
        is_guarded(&page, path);
        assert_eq!(secrets_in(page.text.as_bytes()), [""; 0], "{path}");
    }
    let csrf = ada.get("/").await.hidden("csrf");
    ada.post("/logout", &[("csrf", &*csrf)]).await.with(303);
    ada.get("/").await.with(303);
    world.end().await;
}

/// A page of operators or staff loads nothing but its style sheet, and is stored nowhere.
#[track_caller]
pub(crate) fn is_guarded(page: &Page, path: &str) {
    assert_eq!(page.headers["cache-control"], "no-store", "{path}");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    let start = "default-src 'none'; style-src 'self';";
    assert!(policy.starts_with(start), "{policy}");
    assert!(!policy.contains("unsafe") && !page.text.contains("<script"));
    assert!(!page.text.contains(" style="), "{path}");
}

/// Behind a reverse proxy on the same machine, which the configuration lists, a client writes the header as it likes.
#[tokio::test]
async fn invented_addresses_lock_a_name_out_and_not_the_browser_of_its_operator() {
    let world = World::start_with(WorldConfig {
        trusted_proxies: vec!["127.0.0.1".to_owned()],
        ..WorldConfig::default()
    })
    .await;
    let mut known = ada(&world).await;
    let mut eve = Pages::of(&world);
    let mut refused = None;
    for number in 1..=14 {
        eve.forwarded_for = Some(format!("203.0.113.{number}"));
        let page = eve.sign_in("ada", "a wrong password").await;
        if page.status == 429 {
            refused.get_or_insert(number);
        }
    }
    assert_eq!(refused, Some(11));
    eve.forwarded_for = Some("203.0.113.99".to_owned());
    let right = eve.sign_in("ada", secrets::OPERATOR_PASSWORD).await;
    right.with(429);
    let csrf = known.get("/").await.hidden("csrf");
    known.post("/logout", &[("csrf", &*csrf)]).await.with(303);
    let again = known.sign_in("ada", secrets::OPERATOR_PASSWORD).await;
    again.with(303);
    world.end().await;
}

#[tokio::test]
async fn the_form_of_the_sign_in_is_taken_from_its_own_page_alone() {
    let world = World::start().await;
    let mut eve = Pages::of(&world);
    let form = [
        ("csrf", "0"),
        ("name", "ada"),
        ("password", secrets::OPERATOR_PASSWORD),
    ];
    eve.post("/login", &form).await.with(403);
    eve.get("/login").await.with(200);
    eve.post("/login", &form).await.with(403);
    world.end().await;
}

/// The form of a decision. A page would name itself as the way back.
fn decision<'f>(
    csrf: &'f str,
    version: &'f str,
    reason: &'f str,
    kind: &'f str,
) -> [(&'f str, &'f str); 5] {
    [
        ("csrf", csrf),
        ("version", version),
        ("back", "https://evil.example"),
        ("reason", reason),
        ("decision", kind),
    ]
}

#[tokio::test]
async fn an_operator_decides_on_the_page() {
    let world = World::start().await;
    let checkout = underpaid(&world).await;
    let mut ada = ada(&world).await;
    let page = ada.get("/").await.with(200);
    assert!(page.text.contains("Underpaid"), "{}", page.text);
    assert!(page.text.contains("received_crypto_amount"));
    let (csrf, version) = (page.hidden("csrf"), page.hidden("version"));
    let path = format!("/orders/{}/decision", checkout.order);
    let reason = "the customer sent the rest by bank";
    for wrong in ["", "0", &"0".repeat(64)] {
        let form = decision(wrong, &version, reason, "accept_as_paid");
        ada.post(&path, &form).await.with(403);
    }
    assert_eq!(checkout.view().await["status"], "underpaid");
    // What a person wrote is kept when it cannot be done, and no word of a library explains why.
    let long = "refund agreed ".repeat(40);
    for (version, reason, status, text) in [
        (&*version, &*long, 400, "reason: write why"),
        ("1", "refund agreed", 409, "Nothing was done: "),
    ] {
        let form = decision(&csrf, version, reason, "close");
        let refused = ada.post(&path, &form).await.with(status).text;
        let kept = format!("required maxlength=\"500\">{reason}</textarea>");
        assert!(refused.contains(text), "{refused}");
        assert!(refused.contains(&kept), "{refused}");
    }
    let incomplete = ada.post(&path, &[("csrf", &*csrf)]).await.with(400).text;
    assert!(incomplete.contains("form: missing field"), "{incomplete}");
    assert!(!incomplete.contains("deserialize"), "{incomplete}");
    let form = decision(&csrf, &version, reason, "accept_as_paid");
    let decided = ada.post(&path, &form).await.with(303);
    assert_eq!(
        decided.location,
        Some(format!("/orders/{}", checkout.order))
    );
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    let again = ada.post(&path, &form).await.with(409);
    for text in ["Nothing was done", "the customer sent the rest by bank</q>"] {
        assert!(again.text.contains(text), "{text} in {}", again.text);
    }

    let order = ada
        .get(&format!("/orders/{}", checkout.order))
        .await
        .with(200);
    for text in [
        "by a decision",
        "Operator ada: accept as paid",
        "by bank",
        "Event order.paid",
    ] {
        assert!(order.text.contains(text), "{text}: {}", order.text);
    }
    let audit = ada.get("/audit").await.with(200);
    assert!(audit.text.contains("underpaid → paid"), "{}", audit.text);
    let csv = ada.get("/settlements.csv").await.with(200);
    let lines: Vec<&str> = csv.text.lines().collect();
    assert_eq!(lines.len(), 2, "{}", csv.text);
    assert!(lines[1].contains(&checkout.order) && lines[1].ends_with(",decision"));
    let settled = ada.get("/settlements").await.with(200);
    assert!(settled.text.contains("1 by a decision"), "{}", settled.text);
    world.end().await;
}

#[tokio::test]
async fn no_text_of_a_store_turns_round_what_stands_beside_it() {
    let world = World::start().await;
    let order = json!({"amount": "5.00", "currency": "USD", "reference": "-1-1", "title": "mug \u{202e}00.1"});
    let opened = world.store().open(&order).await.with(201);
    let id = opened.text_at("/order/id");
    let mut ada = ada(&world).await;
    for path in ["/orders".to_owned(), format!("/orders/{id}")] {
        let page = ada.get(&path).await.with(200).text;
        assert!(page.contains("mug \u{fffd}00.1"), "{page}");
        assert!(!page.contains('\u{202e}'), "{path}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_reader_sees_the_order_and_decides_nothing() {
    let world = World::start().await;
    let checkout = underpaid(&world).await;
    let mut rita = Pages::of(&world);
    rita.sign_in("rita", secrets::READER_PASSWORD)
        .await
        .with(303);
    let page = rita.get("/").await.with(200);
    assert!(
        page.text.contains("Your role is read") && !page.text.contains("Accept as paid</button>")
    );
    let csrf = page.hidden("csrf");
    let path = format!("/orders/{}/decision", checkout.order);
    let form = decision(&csrf, "1", "x", "close");
    rita.post(&path, &form).await.with(403);
    for action in ["test", "enable"] {
        let path = format!("/stores/demo/{action}");
        rita.post(&path, &[("csrf", &*csrf)]).await.with(403);
    }
    assert_eq!(checkout.view().await["status"], "underpaid");
    world.end().await;
}

#[tokio::test]
async fn the_configuration_page_shows_what_is_in_force() {
    let world = World::start().await;
    let page = ada(&world).await.get("/configuration").await.with(200).text;
    for (key, value) in [
        ("listen", world.listen_address().to_string()),
        ("gateway.quote_ttl_seconds", "60 (default)".to_owned()),
        ("gateway.api_secret", "set".to_owned()),
        ("product.ebook.price", "19.90".to_owned()),
    ] {
        let line = format!("<code>{key}</code></dt><dd>{value}</dd>");
        assert!(page.contains(&line), "{line} in {page}");
    }
    world.end().await;
}

#[tokio::test]
async fn without_an_operator_the_page_says_how_to_add_one() {
    let config = WorldConfig {
        has_operators: false,
        ..WorldConfig::default()
    };
    let world = World::start_with(config).await;
    let mut pages = Pages::of(&world);
    let page = pages.get("/login").await.with(200);
    for text in [
        "No operator is set up",
        "florin-proxy secrets hash",
        "[[operator]]",
    ] {
        assert!(page.text.contains(text), "{}", page.text);
    }
    assert!(!page.text.contains("<form"));
    world.end().await;
}

#[tokio::test]
async fn the_time_line_has_the_payment_seen_its_confirmations_and_the_credit() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    world.sandbox().pay(&checkout, "exact").await;
    world.sandbox().mine(1).await;
    checkout.wait_for("processing").await;
    world.sandbox().mine(2).await;
    checkout.wait_for("paid").await;
    world.wait_for_deliveries().await;
    let path = format!("/orders/{}", checkout.order);
    let page = ada(&world).await.get(&path).await.with(200).text;
    let mut rest = page.split_once("id=\"timeline\"").unwrap().1;
    // The latest first.
    for entry in [
        "Credited</strong> <span>19.9",
        "/3 confirmations",
        "Payment seen",
        "Address shown",
        "Order opened",
    ] {
        let found = rest.split_once(entry);
        rest = found.unwrap_or_else(|| panic!("{entry} in {page}")).1;
    }
    world.end().await;
}

#[tokio::test]
async fn a_disabled_webhook_is_enabled_on_the_page() {
    let world = World::start().await;
    world.expect_error("a store's endpoint says that it is gone");
    world.webhooks.reply_with(Reply::Status(410));
    let checkout = world.customer().open("ebook").await;
    let mut ada = ada(&world).await;
    let page = eventually("the webhook is disabled", async || {
        let mut pages = Pages::of(&world);
        pages.cookies.clone_from(&ada.cookies);
        let page = pages.get("/").await.text;
        page.contains("Disabled webhooks").then_some(page)
    })
    .await;
    assert!(page.contains("answered 410 Gone"), "{page}");
    let stores = ada.get("/stores").await.with(200);
    assert!(
        stores.text.contains("Enable the webhook"),
        "{}",
        stores.text
    );
    world.webhooks.reply_with(Reply::Accept);
    let csrf = stores.hidden("csrf");
    for (action, status) in [("enable", 303), ("test", 200)] {
        let path = format!("/stores/demo/{action}");
        ada.post(&path, &[("csrf", "0")]).await.with(403);
        ada.post(&path, &[("csrf", &*csrf)]).await.with(status);
    }
    world.wait_for_deliveries().await;
    assert_eq!(
        world.webhooks.event_types(&checkout.order),
        ["order.created"]
    );
    let page = ada.get("/").await.with(200).text;
    assert!(page.contains("Nothing waits for you."), "{page}");
    let audit = ada.get("/audit").await.with(200).text;
    assert!(audit.contains("enable webhook"), "{audit}");
    world.end().await;
}
