//! The states that the gallery shows (`widget/gallery/states.json`) against the contract: what is canned there is what a
//! proxy could answer, and nothing that a checkout may meet is missing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use strum::VariantArray;

use super::super::*;
use super::read;

struct Gallery(Value);

impl Gallery {
    fn read() -> Self {
        let text = include_str!("../../../../widget/gallery/states.json");
        Self(serde_json::from_str(text).expect("the gallery's states are JSON"))
    }

    fn states(&self) -> &[Value] {
        self.0["states"].as_array().expect("a list of states")
    }

    /// The order of a state; `None` where there is none yet.
    fn order(&self, state: &Value) -> Option<OrderView> {
        let mut order = self.0["order"].clone();
        patch(&mut order, state.get("order")?);
        if let Some(changes) = state.get("attempt") {
            let mut attempt = self.0["attempt"].clone();
            patch(&mut attempt, changes);
            order["attempt"] = attempt;
        }
        let read = read(&order);
        Some(read.unwrap_or_else(|error| panic!("{}: {error}", state["name"])))
    }

    fn orders(&self) -> Vec<OrderView> {
        let states = self.states().iter();
        states.filter_map(|state| self.order(state)).collect()
    }

    fn quotes(&self, list: &str) -> Vec<Quote> {
        let quotes = self.0["quotes"][list].as_array();
        let quotes = quotes.unwrap_or_else(|| panic!("there is no list of quotes {list}"));
        let read = |quote| read(quote).unwrap_or_else(|error| panic!("{list}: {error}"));
        quotes.iter().map(read).collect()
    }
}

/// RFC 7396, as the gallery does it.
fn patch(whole: &mut Value, changes: &Value) {
    let Value::Object(changes) = changes else {
        *whole = changes.clone();
        return;
    };
    if !whole.is_object() {
        *whole = Value::Object(Map::new());
    }
    let members = whole.as_object_mut().expect("it was made one");
    for (name, change) in changes {
        if change.is_null() {
            members.remove(name);
        } else {
            patch(members.entry(name).or_insert(Value::Null), change);
        }
    }
}

#[track_caller]
fn all_are_shown<T: VariantArray + PartialEq + core::fmt::Debug>(shown: impl Iterator<Item = T>) {
    let shown: Vec<T> = shown.collect();
    for variant in T::VARIANTS {
        let is_shown = shown.contains(variant);
        assert!(
            is_shown,
            "no state has {variant:?}: add one to widget/gallery/states.json"
        );
    }
}

#[test]
fn every_word_of_a_closed_list_can_be_looked_at() {
    let gallery = Gallery::read();
    let orders = gallery.orders();
    all_are_shown(orders.iter().map(|order| order.status));
    all_are_shown(orders.iter().filter_map(|order| order.failure_reason));
    all_are_shown(orders.iter().filter_map(|order| order.blocked_reason));
    all_are_shown(orders.iter().filter_map(|order| order.late_payment));
    all_are_shown(gallery.quotes("reasons").iter().filter_map(|q| q.reason));
    let attempts = orders.iter().filter_map(|order| order.attempt.as_ref());
    let warnings = attempts.flat_map(|attempt| &attempt.warnings);
    all_are_shown(warnings.map(|warning| warning.kind));
    for flow in [Flow::Custom, Flow::Hosted] {
        assert!(orders.iter().any(|order| order.flow == flow), "{flow:?}");
    }
    assert_eq!(gallery.0["themes"], serde_json::json!(THEMES));
}

#[test]
fn a_status_comes_with_what_belongs_to_it_and_no_other_does() {
    for order in Gallery::read().orders() {
        let status = order.status;
        assert_eq!(order.paid_at.is_some(), status.is_settled(), "{status:?}");
        let (has_failed, is_blocked) = (status == Status::Failed, status == Status::Blocked);
        assert_eq!(order.failure_reason.is_some(), has_failed, "{status:?}");
        assert_eq!(order.blocked_reason.is_some(), is_blocked, "{status:?}");
    }
}

#[test]
fn what_may_be_there_or_not_can_be_looked_at_both_ways() {
    let orders = Gallery::read().orders();
    let both = |what: &str, is: &dyn Fn(&OrderView) -> bool| {
        let with = orders.iter().filter(|order| is(order)).count();
        assert!(0 < with && with < orders.len(), "{what}: {with}");
    };
    both("reverted", &|order| order.reverted);
    both("delayed", &|order| order.delayed);
    both("can_open_attempt", &|order| order.can_open_attempt);
    both("email_kept", &|order| order.email_kept);
    both("email_required", &|order| order.email_required);
    both("return_url", &|order| order.return_url.is_some());
    both("support_url", &|order| order.store.support_url.is_some());
    both("logo_url", &|order| order.store.logo_url.is_some());
    both("lines", &|order| !order.lines.is_empty());
    both("payment_process_url", &|order| {
        order.payment_process_url.is_some()
    });
    let attempts: Vec<_> = orders.iter().filter_map(|o| o.attempt.as_ref()).collect();
    let both = |what: &str, is: &dyn Fn(&AttemptView) -> bool| {
        let with = attempts.iter().filter(|attempt| is(attempt)).count();
        assert!(0 < with && with < attempts.len(), "{what}: {with}");
    };
    both("marked_as_paid", &|attempt| attempt.marked_as_paid);
    both("confirmations", &|attempt| attempt.confirmations.is_some());
    both("explorer_url", &|attempt| attempt.explorer_url.is_some());
    both("excess_in_crypto", &|a| a.excess_in_crypto.is_some());
    both("received_in_local_currency", &|attempt| {
        attempt.received_in_local_currency.is_some()
    });
    both("excess_in_local_currency", &|attempt| {
        attempt.excess_in_local_currency.is_some()
    });
    both("remaining_in_local_currency", &|attempt| {
        attempt.remaining_in_local_currency.is_some()
    });
    both("warnings", &|attempt| attempt.warnings.len() > 3);
    both("time is up", &|attempt| attempt.expires_in_seconds == 0);
    both("the last minute", &|attempt| {
        (1..60).contains(&attempt.expires_in_seconds)
    });
}

#[test]
fn what_helps_to_pay_rightly_can_be_looked_at() {
    let gallery = Gallery::read();
    let pressed = gallery.states().iter().filter_map(|state| {
        let pressed = state.get("press")?.as_array()?;
        pressed.last()?.as_str()?.split('=').next()
    });
    let pressed: BTreeSet<&str> = pressed.collect();
    for wanted in [
        "qr-address-only",
        "qr",
        "compare",
        "paste-back",
        "exchange",
        "handoff",
        "guard-anyway",
    ] {
        assert!(pressed.contains(wanted), "no state ends with {wanted}");
    }
}

#[test]
fn every_canned_answer_is_of_the_contract() {
    let gallery = Gallery::read();
    read::<SignedReceipt>(&gallery.0["receipt"]).expect("the receipt is one");
    let lists = gallery.0["quotes"].as_object().unwrap();
    for list in lists.keys() {
        gallery.quotes(list);
    }
    for state in gallery.states() {
        let name = &state["name"];
        let mut donation = gallery.0["donation"].clone();
        patch(
            &mut donation,
            state.get("donation").unwrap_or(&Value::Object(Map::new())),
        );
        read::<DonationView>(&donation).unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(quotes) = state["quotes"].as_str() {
            let known = lists.contains_key(quotes) || ["never", "refused"].contains(&quotes);
            assert!(known, "{name}: there is no list of quotes {quotes}");
        }
        for refusal in [&state["open"], &state["action"]] {
            if refusal.is_object() {
                let body: Refusal = read(refusal).unwrap_or_else(|e| panic!("{name}: {e}"));
                let code = body
                    .error
                    .code
                    .unwrap_or_else(|| panic!("{name}: unknown code"));
                assert_eq!(refusal["status"], code.status(), "{name}");
            }
        }
    }
}

#[test]
fn every_state_has_a_name_of_its_own() {
    let gallery = Gallery::read();
    let names = gallery.states().iter().map(|state| {
        for member in ["name", "group", "title", "about"] {
            assert!(state[member].is_string(), "{state}");
        }
        state["name"].as_str().unwrap()
    });
    let names: Vec<&str> = names.collect();
    let different: BTreeSet<&&str> = names.iter().collect();
    assert_eq!(names.len(), different.len());
    let plain = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    assert!(names.iter().all(|name| plain(name)), "{names:?}");
}
