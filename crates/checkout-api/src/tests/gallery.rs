//! The states that the gallery shows (`widget/gallery/states.json`) against the contract: what is canned there is what a
//! proxy could answer, and nothing that a checkout may meet is missing.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use strum::VariantArray as _;

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

#[test]
fn every_status_and_flow_can_be_looked_at() {
    let orders = Gallery::read().orders();
    let shown: Vec<Status> = orders.iter().map(|order| order.status).collect();
    for status in Status::VARIANTS {
        assert!(
            shown.contains(status),
            "no state of the gallery is {status:?}: add one to widget/gallery/states.json"
        );
    }
    for flow in [Flow::Custom, Flow::Hosted] {
        assert!(orders.iter().any(|order| order.flow == flow), "{flow:?}");
    }
}

#[test]
fn every_theme_and_late_payment_can_be_looked_at() {
    let gallery = Gallery::read();
    assert_eq!(gallery.0["themes"], serde_json::json!(THEMES));
    let orders = gallery.orders();
    for kind in LatePayment::VARIANTS {
        let is_shown = orders.iter().any(|order| order.late_payment == Some(*kind));
        assert!(is_shown, "no state of the gallery has {kind:?}");
    }
}

#[test]
fn every_reason_against_an_asset_can_be_looked_at() {
    let shown = Gallery::read().quotes("reasons");
    for reason in Unavailable::VARIANTS {
        let is_shown = shown.iter().any(|quote| quote.reason == Some(*reason));
        assert!(is_shown, "no quote of the gallery is {reason:?}");
    }
}

#[test]
fn a_paid_order_and_no_other_says_when() {
    for order in Gallery::read().orders() {
        let is_dated = order.paid_at.is_some();
        assert_eq!(is_dated, order.status.is_settled(), "{:?}", order.status);
    }
}

#[test]
fn every_reason_of_a_failure_can_be_looked_at() {
    let orders = Gallery::read().orders();
    for order in &orders {
        let has_failed = order.status == Status::Failed;
        assert_eq!(order.failure_reason.is_some(), has_failed);
    }
    for reason in FailureReason::VARIANTS {
        let is_shown = orders
            .iter()
            .any(|order| order.failure_reason == Some(*reason));
        assert!(is_shown, "no state of the gallery has {reason:?}");
    }
}

#[test]
fn every_reason_of_a_block_can_be_looked_at() {
    let orders = Gallery::read().orders();
    for order in &orders {
        let is_blocked = order.status == Status::Blocked;
        assert_eq!(order.blocked_reason.is_some(), is_blocked);
    }
    for reason in BlockedReason::VARIANTS {
        let is_shown = orders
            .iter()
            .any(|order| order.blocked_reason == Some(*reason));
        assert!(is_shown, "no state of the gallery has {reason:?}");
    }
}

#[test]
fn every_kind_of_warning_can_be_looked_at() {
    let orders = Gallery::read().orders();
    let attempts = orders.iter().filter_map(|order| order.attempt.as_ref());
    let shown: Vec<_> = attempts.flat_map(|attempt| &attempt.warnings).collect();
    for kind in WarningKind::VARIANTS {
        let is_shown = shown.iter().any(|warning| warning.kind == *kind);
        assert!(is_shown, "no warning of the gallery is {kind:?}");
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
