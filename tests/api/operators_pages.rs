//! The operator's pages: sign-in, forms, and what they show.

use reqwest::RequestBuilder;
use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::json;
use support::{Checkout, HttpResponse, Reply, World, eventually, secrets};

use crate::helpers::paid_event_count;
use crate::isolation::secrets_in;

/// A browser on the pages of operators or staff: it keeps cookies and sends forms.
pub(crate) struct Pages<'w> {
    world: &'w World,
    base: String,
    pub(crate) cookies: Vec<(String, String)>,
}

/// The value of the first hidden input of a name.
#[track_caller]
pub(crate) fn hidden(page: &HttpResponse, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let found = page.text.split_once(&start);
    let (_, rest) = found.unwrap_or_else(|| panic!("no {name} in {}", page.text));
    rest.split_once('"').unwrap().0.to_owned()
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
        }
    }

    async fn send(&mut self, request: RequestBuilder) -> HttpResponse {
        let pairs = self.cookies.iter();
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = request.header(COOKIE, pairs.join("; "));
        let page = HttpResponse::read(request.send().await.unwrap()).await;
        for cookie in page.headers.get_all(SET_COOKIE) {
            let cookie = cookie.to_str().unwrap();
            assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
            let (name, rest) = cookie.split_once('=').unwrap();
            self.cookies.retain(|(known, _)| known != name);
            let value = rest.split_once(';').unwrap().0.to_owned();
            self.cookies.push((name.to_owned(), value));
        }
        page
    }

    pub(crate) async fn get(&mut self, path: &str) -> HttpResponse {
        let request = self.world.http().get(format!("{}{path}", self.base));
        self.send(request).await
    }

    /// What a form of this page must send back.
    pub(crate) async fn csrf(&mut self, path: &str) -> String {
        hidden(&self.get(path).await.with(200), "csrf")
    }

    pub(crate) async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> HttpResponse {
        let body = reqwest::Url::parse_with_params("http://form", form).unwrap();
        let body = body.query().unwrap_or_default().to_owned();
        let request = self.world.http().post(format!("{}{path}", self.base));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(body)).await
    }

    async fn sign_in(&mut self, name: &str, password: &str) -> HttpResponse {
        let csrf = self.csrf("/login").await;
        let form = [("csrf", &*csrf), ("name", name), ("password", password)];
        self.post("/login", &form).await
    }
}

pub(crate) async fn ada(world: &World) -> Pages<'_> {
    let mut pages = Pages::of(world);
    let signed_in = pages.sign_in("ada", secrets::OPERATOR_PASSWORD).await;
    assert_eq!(signed_in.with(303).header("location"), Some("/"));
    pages
}

pub(crate) async fn underpaid(world: &World) -> Checkout {
    let checkout = world.customer().open_with("ebook", "BTC").await;
    world.sandbox().settle(&checkout, "half").await;
    checkout.wait_for("underpaid").await;
    world.wait_for_deliveries().await;
    checkout
}

/// The form of a decision, as the first page has it.
pub(crate) fn decision<'f>(
    csrf: &'f str,
    version: &'f str,
    reason: &'f str,
    kind: &'f str,
) -> [(&'f str, &'f str); 5] {
    [
        ("csrf", csrf),
        ("version", version),
        ("back", "/"),
        ("reason", reason),
        ("decision", kind),
    ]
}

/// A page of operators or staff loads nothing but its style sheet and script, is stored nowhere, and shows no secret.
#[track_caller]
pub(crate) fn assert_guarded(page: &HttpResponse, path: &str) {
    assert_eq!(page.header("cache-control"), Some("no-store"), "{path}");
    let policy = page.header("content-security-policy").unwrap();
    let start = "default-src 'none'; style-src 'self'; script-src 'self';";
    assert!(policy.starts_with(start), "{policy}");
    assert!(!policy.contains("unsafe") && !page.text.contains("<script>"));
    assert!(!page.text.contains(" style="), "{path}");
    assert_eq!(secrets_in(page.text.as_bytes()), [""; 0], "{path}");
}

/// The time line of a paid order has these entries, the latest first.
pub(crate) async fn assert_time_line(world: &World, order: &str, entries: &[&str]) {
    let path = format!("/orders/{order}");
    let page = ada(world).await.get(&path).await.with(200).text;
    let mut rest = page.split_once("id=\"timeline\"").unwrap().1;
    for entry in entries {
        let found = rest.split_once(entry);
        rest = found.unwrap_or_else(|| panic!("{entry} in {page}")).1;
    }
}

#[tokio::test]
async fn every_page_asks_for_a_sign_in_and_is_stored_nowhere_and_shows_no_secret() {
    let world = World::start().await;
    let underpaid = format!("/orders/{}", underpaid(&world).await.order);
    let overpaid = world.customer().open_with("ebook", "USDTTRC20").await;
    world.sandbox().settle(&overpaid, "double").await;
    overpaid.wait_for("overpaid").await;
    // A title that would turn round what stands beside it.
    let order = json!({"amount": "5.00", "currency": "USD", "reference": "-1-1", "title": "mug \u{202e}00.1"});
    let opened = world.store().open(&order).await.with(201);
    let titled = format!("/orders/{}", opened.text_at("/order/id"));
    let title = "mug \u{fffd}00.1";
    let pages = [
        ("/", "<th scope=\"row\">received crypto amount</th>"),
        ("/", " USDT · Tron</strong></p>"),
        ("/", "<h1>2 need you · today $19.90 in 1 order</h1>"),
        ("/", ", midnight in UTC.</p>"),
        ("/orders", title),
        (&*titled, title),
        (&*underpaid, "Underpaid"),
        ("/settlements", ""),
        ("/stores", "Quiet Goods"),
        ("/gateway", ""),
        ("/audit", ""),
        (
            "/configuration",
            "<code>gateway.quote_ttl_seconds</code></dt><dd>60 (default)</dd>",
        ),
    ];
    let mut public = Pages::at(&world, &world.proxy_url());
    for (path, _) in pages {
        let page = Pages::of(&world).get(path).await.with(303);
        assert_eq!(page.header("location"), Some("/login"), "{path}");
        if path != "/" {
            public.get(path).await.with(404);
        }
    }
    let mut ada = ada(&world).await;
    for (path, text) in pages {
        let page = ada.get(path).await.with(200);
        assert_guarded(&page, path);
        assert!(page.text.contains(text), "{text} in {}", page.text);
        assert!(!page.text.contains('\u{202e}'), "{path}");
    }
    let csrf = ada.csrf("/").await;
    ada.post("/logout", &[("csrf", &*csrf)]).await.with(303);
    ada.get("/").await.with(303);
    // The form of the sign-in counts from its own page alone.
    let mut eve = Pages::of(&world);
    let form = [
        ("csrf", "0"),
        ("name", "ada"),
        ("password", secrets::OPERATOR_PASSWORD),
    ];
    for _ in 0..2 {
        eve.post("/login", &form).await.with(403);
        eve.get("/login").await.with(200);
    }
    world.end().await;
}

#[tokio::test]
async fn a_writer_decides_on_the_page_and_a_reader_does_not() {
    let world = World::start().await;
    let checkout = underpaid(&world).await;
    let path = format!("/orders/{}/decision", checkout.order);
    let mut rita = Pages::of(&world);
    let reader = rita.sign_in("rita", secrets::READER_PASSWORD).await;
    reader.with(303);
    let page = rita.get("/").await.with(200);
    assert!(page.text.contains("Your role is read"), "{}", page.text);
    assert!(!page.text.contains("Accept as paid</button>"));
    let csrf = hidden(&page, "csrf");
    let form = decision(&csrf, "1", "x", "resolve");
    rita.post(&path, &form).await.with(403);
    for action in ["test", "enable"] {
        let path = format!("/stores/demo/default/{action}");
        rita.post(&path, &[("csrf", &*csrf)]).await.with(403);
    }

    let mut ada = ada(&world).await;
    let page = ada.get("/").await.with(200);
    let (csrf, version) = (hidden(&page, "csrf"), hidden(&page, "version"));
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
        let form = decision(&csrf, version, reason, "resolve");
        let refused = ada.post(&path, &form).await.with(status).text;
        let kept = format!("required maxlength=\"500\">{reason}</textarea>");
        assert!(refused.contains(text), "{refused}");
        assert!(refused.contains(&kept), "{refused}");
    }
    let incomplete = ada.post(&path, &[("csrf", &*csrf)]).await.with(400).text;
    assert!(incomplete.contains("form: missing field"), "{incomplete}");
    assert!(!incomplete.contains("deserialize"), "{incomplete}");
    let mut form = decision(&csrf, &version, reason, "accept_as_paid");
    form[2].1 = "https://evil.example";
    let decided = ada.post(&path, &form).await.with(303);
    let order = format!("/orders/{}", checkout.order);
    assert_eq!(decided.header("location"), Some(&*order));
    assert_eq!(paid_event_count(&world, &checkout.order).await, 1);
    let again = ada.post(&path, &form).await.with(409);
    for text in ["Nothing was done", "the customer sent the rest by bank</q>"] {
        assert!(again.text.contains(text), "{text} in {}", again.text);
    }

    for (path, text) in [
        ("/", "<h1>Nothing needs you · today $19.90 in 1 order</h1>"),
        (&*order, "by a decision"),
        (&order, "Operator ada: accept as paid"),
        (&order, "by bank"),
        (&order, "Event order.paid"),
        ("/audit", "underpaid → paid"),
        ("/settlements?store=demo", "accepted"),
    ] {
        let page = ada.get(path).await.with(200).text;
        assert!(page.contains(text), "{text} in {page}");
    }
    let csv = ada
        .get("/settlements?store=demo&format=csv")
        .await
        .with(200)
        .text;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 2, "{csv}");
    assert!(lines[1].contains(&checkout.order) && lines[1].ends_with(",accepted"));
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
    let webhook = world.store().get("/v1/webhooks").await;
    assert_eq!(webhook.text_at("/webhooks/0/state"), "disabled");
    let stores = ada.get("/stores").await.with(200);
    let has_button = stores.text.contains("Enable the webhook");
    assert!(has_button, "{}", stores.text);
    world.webhooks.reply_with(Reply::Accept);
    let csrf = hidden(&stores, "csrf");
    for (action, status) in [("enable", 303), ("test", 200)] {
        let path = format!("/stores/demo/default/{action}");
        ada.post(&path, &[("csrf", "0")]).await.with(403);
        ada.post(&path, &[("csrf", &*csrf)]).await.with(status);
    }
    world.wait_for_deliveries().await;
    let delivered = world.webhooks.event_types(&checkout.order);
    assert_eq!(delivered, ["order.created"]);
    for (path, text) in [
        ("/", "Nothing waits for you."),
        ("/audit", "enable webhook"),
    ] {
        let page = ada.get(path).await.with(200).text;
        assert!(page.contains(text), "{text} in {page}");
    }
    world.end().await;
}
