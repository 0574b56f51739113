//! `florin-proxy config-reference`: every key with its unit, default and reason, collected from the sections.

use crate::config::keys::Key;
use crate::config::{catalog, gateway, server, store, theme, token_keys, webhook};

/// What follows in its own part.
const STORES: Key = (
    "store",
    "",
    "one at least",
    "the stores, each as [[store]]; the keys below belong to it",
);

/// The reference as a page of text.
pub fn reference() -> String {
    let mut page = String::from(
        "Keys of florin.toml. A variable, where there is one, wins over the file.\n\nThe proxy\n",
    );
    for key in server::KEYS.iter().chain(gateway::KEYS).chain([&STORES]) {
        line(&mut page, *key);
    }
    page.push_str("\nA store ([[store]])\n");
    let sections = [
        store::KEYS,
        token_keys::KEYS,
        theme::KEYS,
        webhook::KEYS,
        catalog::KEYS,
    ];
    for key in sections.into_iter().flatten() {
        line(&mut page, *key);
    }
    page.push_str("\n`florin-proxy check-config` says everything that is wrong, by key.\n");
    page
}

fn line(page: &mut String, (key, variable, default, reason): Key) {
    let variable = if variable.is_empty() {
        String::new()
    } else {
        format!(" · {variable}")
    };
    let lines = format!("  {key}{variable}\n      default: {default}\n      {reason}\n");
    page.push_str(&lines);
}
