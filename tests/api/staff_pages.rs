//! The pages for a store's staff: links of the store's server, sessions, and one store alone.

use serde_json::{Value, json};
use support::{HttpResponse, World, secrets};

use crate::operators_pages::{Pages, ada, assert_guarded, decision, hidden, underpaid};
use crate::program::start_program;
use crate::reload::{RELOADED, change, line};

/// A link's path and token, which the demo store's server has made.
async fn link(world: &World, wanted: &Value) -> (String, String) {
    let made = world.store().post("/v1/staff_links", wanted).await;
    path_and_token(world, &made.with(201).text_at("/url"))
}

fn path_and_token(world: &World, url: &str) -> (String, String) {
    let path = url.strip_prefix(&world.proxy_url()).unwrap();
    let token = path.strip_prefix("/staff/open/").unwrap();
    (path.to_owned(), token.to_owned())
}

async fn press(browser: &mut Pages<'_>, path: &str) -> HttpResponse {
    let csrf = browser.csrf(path).await;
    browser.post(path, &[("csrf", &*csrf)]).await
}

fn browser(world: &World) -> Pages<'_> {
    Pages::at(world, &world.proxy_url())
}

/// A member of the demo store's staff who is signed in.
async fn staff<'w>(world: &'w World, wanted: &Value) -> Pages<'w> {
    let (path, _) = link(world, wanted).await;
    let mut staff = browser(world);
    let opened = press(&mut staff, &path).await.with(303);
    assert_eq!(opened.header("location"), Some("/staff/"));
    staff
}

pub(crate) async fn zoe(world: &World) -> Pages<'_> {
    staff(world, &json!({ "person": "Zoë", "role": "write" })).await
}

/// Posts every form that changes something, as a page has it; each is refused.
async fn assert_changes_nothing(
    staff: &mut Pages<'_>,
    csrf: &str,
    [store, order, event]: [&str; 3],
    status: u16,
) {
    let token = ("csrf", csrf);
    let closes = decision(csrf, "1", "refund agreed", "resolve");
    let refunds = [
        token,
        ("version", "1"),
        ("asset", "BTC"),
        ("amount", "1"),
        ("transaction", ""),
        ("back", "/"),
    ];
    for (path, form) in [
        (format!("orders/{order}/decision"), &closes[..]),
        (format!("orders/{order}/refunds"), &refunds),
        (
            format!("orders/{order}/redeliver"),
            &[token, ("event", event)],
        ),
        (format!("stores/{store}/default/test"), &[token]),
        (format!("stores/{store}/default/enable"), &[token]),
    ] {
        let path = format!("/staff/{path}");
        staff.post(&path, form).await.with(status);
    }
}

#[tokio::test]
async fn a_link_opens_one_session_and_only_by_its_button() {
    let world = World::start().await;
    let (path, token) = link(&world, &json!({ "person": "Zoë", "role": "write" })).await;
    let mut zoe = browser(&world);
    // Looking at a link uses up nothing.
    for _ in 0..2 {
        let page = zoe.get(&path).await.with(200);
        assert!(page.text.contains("Continue as Zoë"), "{}", page.text);
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
    }
    // A form of another site has neither the cookie nor its value.
    let csrf = zoe.csrf(&path).await;
    let mut eve = browser(&world);
    eve.post(&path, &[("csrf", &*csrf)]).await.with(403);
    zoe.post(&path, &[("csrf", "0")]).await.with(403);

    let opened = zoe.post(&path, &[("csrf", &*csrf)]).await.with(303);
    assert_eq!(opened.header("location"), Some("/staff/"));
    let cookies = opened.headers.get_all("set-cookie").iter();
    let mut cookies = cookies.map(|it| it.to_str().unwrap());
    let session = cookies.find(|it| it.starts_with("florin_staff="));
    let session = session.unwrap();
    let rules = "; Path=/staff; HttpOnly; SameSite=Strict";
    assert!(session.ends_with(rules), "{session}");
    assert!(!session.contains(&token));
    zoe.get("/staff/").await.with(200);

    // The link is used up, for its own browser and for another one.
    zoe.get(&path).await.with(404);
    let second = eve.post(&path, &[("csrf", "0")]).await.with(403);
    assert!(!second.text.contains("Zoë"));
    let (other, _) = link(&world, &json!({})).await;
    let csrf = eve.csrf(&other).await;
    let ended = eve.post(&path, &[("csrf", &*csrf)]).await.with(404);
    assert!(ended.text.contains("This link has ended"), "{}", ended.text);
    eve.get("/staff/").await.with(401);
    assert!(!world.logged(&token), "the log has the token of a link");
    world.end().await;
}

#[tokio::test]
async fn every_page_needs_a_session_and_shows_its_store_alone() {
    let world = World::start().await;
    let order = json!({ "amount": "42.00", "currency": "USD", "reference": "lamp-1", "customer_email": "kim@mail.example" });
    let opened = world.other_store().open(&order).await.with(201);
    let other = opened.text_at("/order/id");
    let events = world.other_store().events_of(&other).await;
    let event = events[0]["id"].as_str().unwrap();
    let mut zoe = zoe(&world).await;
    for path in ["", "orders", "settlements", "stores"] {
        let path = format!("/staff/{path}");
        let refused = browser(&world).get(&path).await.with(401).text;
        assert!(refused.contains("You are signed out"), "{refused}");
        let page = zoe.get(&path).await.with(200);
        assert_guarded(&page, &path);
        assert_eq!(
            page.header("referrer-policy"),
            Some("no-referrer"),
            "{path}"
        );
        assert!(!page.text.contains("Another shop"), "{path}");
        assert!(!page.text.contains(&other), "{path}");
    }
    let unknown = format!("ord_{}", "0".repeat(32));
    let shown = zoe.get(&format!("/staff/orders/{other}")).await.with(404);
    let nothing = zoe.get(&format!("/staff/orders/{unknown}")).await.with(404);
    assert_eq!(shown.text, nothing.text);
    let csrf = zoe.csrf("/staff/").await;
    assert_changes_nothing(&mut zoe, &csrf, ["other", &other, event], 404).await;
    // What belongs to all stores is not here, and the operator's pages are not on this listener.
    for path in ["configuration", "gateway", "audit", "login"] {
        zoe.get(&format!("/staff/{path}")).await.with(404);
        zoe.get(&format!("/{path}")).await.with(404);
    }
    // A session of staff is none of an operator.
    let mut at_admin = Pages::of(&world);
    at_admin.cookies.clone_from(&zoe.cookies);
    at_admin.get("/orders").await.with(303);
    zoe.post("/staff/logout", &[("csrf", "0")]).await.with(403);
    let cookies = zoe.cookies.clone();
    let out = zoe.post("/staff/logout", &[("csrf", &*csrf)]).await;
    out.with(303);
    zoe.cookies = cookies;
    zoe.get("/staff/").await.with(401);
    world.end().await;
}

#[tokio::test]
async fn staff_decides_by_role_and_the_audit_log_names_the_store_and_the_person() {
    let world = World::start().await;
    let checkout = underpaid(&world).await;
    let operator = world.operator(secrets::OPERATOR_TOKEN);
    let waits = operator.decide(&checkout.order, "snooze").await;
    waits.with(200);
    let path = format!("/staff/orders/{}", checkout.order);
    let mut reader = staff(&world, &json!({ "person": "Rui" })).await;
    let page = reader.get(&path).await.with(200);
    let another = "a person whose role is write decides";
    assert!(page.text.contains(another), "{}", page.text);
    assert!(!page.text.contains("Accept as paid</button>"));
    let event = world.store().events_of(&checkout.order).await[0]["id"].clone();
    let objects = ["demo", &*checkout.order, event.as_str().unwrap()];
    let csrf = reader.csrf("/staff/").await;
    assert_changes_nothing(&mut reader, &csrf, objects, 403).await;

    let mut zoe = zoe(&world).await;
    let page = zoe.get(&path).await.with(200);
    // The store learns what an operator did, and neither the name nor the note.
    let waits = "Operator: snooze";
    assert!(page.text.contains(waits), "{}", page.text);
    let mut words = page.text.split(|letter: char| !letter.is_alphanumeric());
    assert!(words.all(|word| word != "ada") && !page.text.contains("agreed by phone"));
    let (csrf, version) = (hidden(&page, "csrf"), hidden(&page, "version"));
    let decide = format!("{path}/decision");
    let form = decision("0", &version, "the rest came by bank", "accept_as_paid");
    zoe.post(&decide, &form).await.with(403);
    assert_eq!(checkout.view().await["status"], "underpaid");
    let form = decision(&csrf, &version, "the rest came by bank", "accept_as_paid");
    let decided = zoe.post(&decide, &form).await.with(303);
    assert_eq!(decided.header("location"), Some("/staff/"));
    assert_eq!(checkout.view().await["status"], "paid");
    let page = zoe.get(&path).await.with(200);
    let accepted = "Staff Zoë: accept as paid";
    assert!(page.text.contains(accepted), "{}", page.text);
    let audit = operator.get("/api/audit?limit=1").await.with(200);
    let entry = &audit.body["entries"][0];
    assert_eq!(
        (&entry["operator"], &entry["staff_of"], &entry["order"]),
        (&json!("Zoë"), &json!("demo"), &json!(checkout.order))
    );
    let csv = zoe.get("/staff/settlements?format=csv").await.with(200);
    assert!(csv.text.contains(&checkout.order), "{}", csv.text);

    let audit = ada(&world).await.get("/audit").await.with(200).text;
    assert!(audit.contains("staff of demo"), "{audit}");
    world.end().await;
}

#[tokio::test]
async fn a_replaced_key_and_a_withdrawn_permission_end_sessions() {
    const NEXT_KEY: &str = "canary-store-key-next-2d71a9e0c4b85f36";
    let mut world = World::start().await;
    let program = start_program(&mut world).await;
    let checkout = underpaid(&world).await;
    let mut zoe = zoe(&world).await;
    let (unopened, _) = link(&world, &json!({})).await;
    let one = format!("secret_key = \"{}\"", secrets::STORE_KEY);
    let pair = format!("secret_key = [\"{NEXT_KEY}\", \"{}\"]", secrets::STORE_KEY);
    change(&world, &program, &[(&one, &pair)]);
    line(&program, 0, RELOADED).await;
    zoe.get("/staff/").await.with(200);

    // The operator allows the demo store's staff to read alone: the session may decide no longer.
    let is_write = format!("{pair}\nstaff_pages = \"write\"");
    let is_read = format!("{pair}\nstaff_pages = \"read\"");
    change(&world, &program, &[(&is_write, &is_read)]);
    line(&program, 1, RELOADED).await;
    let csrf = zoe.csrf("/staff/").await;
    let path = format!("/staff/orders/{}/decision", checkout.order);
    let form = decision(&csrf, "1", "refund agreed", "resolve");
    zoe.post(&path, &form).await.with(403);
    let wanted = json!({ "role": "write" });
    let refused = world.store().post("/v1/staff_links", &wanted).await;
    refused.refused(403, "staff_access_denied");

    let next = format!("secret_key = \"{NEXT_KEY}\"");
    change(&world, &program, &[(&pair, &next)]);
    line(&program, 2, RELOADED).await;
    zoe.get("/staff/").await.with(401);
    browser(&world).get(&unopened).await.with(404);
    drop(program);
    world.end().await;
}

#[tokio::test]
async fn without_operators_and_pages_for_staff_there_is_nothing_to_sign_in_to() {
    let world = World::with(|config| {
        config.staff_pages = "none";
        config.has_operators = false;
    })
    .await;
    for path in ["/staff/", "/staff/orders", "/staff/operator.css"] {
        let response = browser(&world).get(path).await.with(404);
        assert!(response.text.contains("\"not_found\""), "{}", response.text);
    }
    let refused = world.store().post("/v1/staff_links", &json!({})).await;
    refused.refused(403, "staff_access_denied");
    let page = Pages::of(&world).get("/login").await.with(200).text;
    for text in [
        "No operator is set up",
        "florin-proxy secrets hash",
        "[[operator]]",
    ] {
        assert!(page.contains(text), "{page}");
    }
    assert!(!page.contains("<form"), "{page}");
    world.end().await;
}

/// When links and sessions end is in `crates/storage/src/contract/staff.rs`.
#[tokio::test]
async fn a_link_is_refused_for_what_it_cannot_be_and_never_repeated() {
    let world = World::start().await;
    let store = world.store();
    for (wanted, field) in [
        (json!({ "person": "a\u{1b}b" }), "person"),
        (json!({ "role": "root" }), "role"),
        (json!({ "expires_in_seconds": 901 }), "expires_in_seconds"),
        (json!({ "session_seconds": 43_201 }), "session_seconds"),
        (json!({ "store": "other" }), "store"),
    ] {
        let refused = store.post("/v1/staff_links", &wanted).await;
        refused.refused(400, "invalid_request").naming(field);
    }
    // A repetition makes a fresh link: a link is not stored in clear text.
    let store = store.with_idempotency_key("9e1f5c3a7b2d4860");
    let first = store.post("/v1/staff_links", &json!({})).await.with(201);
    let again = store.post("/v1/staff_links", &json!({})).await.with(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_ne!(first.text_at("/url"), again.text_at("/url"));
    for made in [first, again] {
        let (path, _) = path_and_token(&world, &made.text_at("/url"));
        press(&mut browser(&world), &path).await.with(303);
    }
    world.end().await;
}
