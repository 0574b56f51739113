//! The layers of the proxy: HTTP and the pages of operators and staff are above workers, payments and orders; those are above the
//! storage, which is a crate and cannot import the proxy.

use crate::dependency_rules::root;
use crate::source_imports::Crate;

/// Modules of the proxy that import neither the endpoints nor the framework of the endpoints.
const BELOW_HTTP: [&str; 11] = [
    "auth",
    "clock",
    "config",
    "connection_slots",
    "orders",
    "payments",
    "rate_limit",
    "request_ids",
    "state",
    "webhooks",
    "workers",
];

/// Modules that import neither the workers nor the state that all requests share.
const BELOW_STATE: [&str; 3] = ["auth", "config", "webhooks"];

/// Returns the edges from modules to others, each by its first name, as sentences.
fn edges(found: &Crate, from: &[&str], to: &[&str]) -> Vec<String> {
    let is_in = |module: &[String], names: &[&str]| {
        let first = module.first();
        first.is_some_and(|first| names.contains(&first.as_str()))
    };
    let edges = found.edges().into_iter();
    let edges = edges.filter(|(module, _)| is_in(module, from));
    edges
        .flat_map(|(module, imported)| {
            let wrong = imported.into_iter().filter(|other| is_in(other, to));
            let sentences =
                wrong.map(|other| format!("{} imports {}", module.join("::"), other.join("::")));
            sentences.collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn lower_layers_import_no_higher_ones() {
    let proxy = Crate::read(&root().join("proxy/src"));
    assert!(proxy.len() > 100, "{}", proxy.len());
    let nothing: [&str; 0] = [];
    assert_eq!(
        edges(&proxy, &BELOW_HTTP, &["http", "admin", "staff"]),
        nothing
    );
    let above = ["workers", "server", "state"];
    assert_eq!(edges(&proxy, &BELOW_STATE, &above), nothing);
    assert_eq!(
        edges(&proxy, &["http"], &["admin", "staff", "workers", "server"]),
        nothing
    );
    // A search that finds no edge would accept every one.
    assert_ne!(edges(&proxy, &["http"], &["payments"]), nothing);
    assert_ne!(edges(&proxy, &["workers"], &["payments"]), nothing);
}

#[test]
fn only_http_and_the_operators_pages_use_the_web_framework() {
    let proxy = Crate::read(&root().join("proxy/src"));
    let users = proxy.users_of("axum");
    let users: Vec<_> = users
        .iter()
        .filter(|module| BELOW_HTTP.contains(&module[0].as_str()))
        .collect();
    assert!(users.is_empty(), "{users:?}");
    assert!(
        proxy
            .users_of("axum")
            .contains(&vec!["http".to_owned(), "router".to_owned()])
    );
}
