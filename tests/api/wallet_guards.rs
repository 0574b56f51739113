//! The script that asks a wallet of the browser: it sends the checked payment or nothing.

use florin_money::Asset;
use serde_json::Value;
use support::wallet_guards;

use crate::repository::text_of;

/// Assets for which no wallet of a phone has a link.
const WITHOUT_LINK: [&str; 1] = ["BCH"];

#[test]
fn the_script_asks_for_the_checked_payment_alone_and_names_each_refusal() {
    assert_eq!(wallet_guards("guards.js"), "");
}

#[test]
fn the_script_for_wallets_of_tron_lets_them_sign_the_checked_payment_alone() {
    assert_eq!(wallet_guards("tron_guards.js"), "");
}

#[test]
fn every_asset_has_a_link_to_a_wallet_or_is_known_to_have_none() {
    let links = text_of("widget/js/wallets/universal_links.json");
    let links: Value = serde_json::from_str(&links).unwrap();
    let links = links["universal_links"].as_array().unwrap();
    for asset in Asset::ALL {
        let code = asset.crypto_code();
        let has_link = links
            .iter()
            .any(|wallet| wallet["assets"].get(code.as_str()).is_some());
        let is_known = WITHOUT_LINK.contains(&code.as_str());
        assert_eq!(has_link, !is_known, "{}", code.as_str());
    }
}

/// A wallet that does not know the chain of a payment link is given the chain's data.
#[test]
fn every_chain_of_a_payment_link_can_be_added_to_a_wallet() {
    let networks = text_of("crates/address/src/payment_uri/networks.rs");
    let chains = text_of("widget/js/wallets/chains.js");
    let texts = networks.split('"').skip(1).step_by(2);
    let ids: Vec<u64> = texts.filter_map(|text| text.parse().ok()).collect();
    assert!(ids.contains(&1), "{ids:?}");
    for id in ids {
        assert!(chains.contains(&format!("'{id:#x}':")), "{id}");
    }
}
