//! Payments: prices and quotes, opening an attempt, and the view of an order.

pub(crate) mod checks;
pub(crate) mod currencies;
pub(crate) mod error;
pub(crate) mod fair_queue;
mod glyphs;
pub(crate) mod offers;
pub(crate) mod open;
pub(crate) mod payable;
pub(crate) mod price_cache;
pub(crate) mod quotes;
pub(crate) mod rendered_view;
pub(crate) mod view;

use std::sync::Arc;

use WarningKind::{
    Confirmations, Expiry, LatePrice, NetworkFee, OnlyThisAsset, Other, WrongNetwork,
};
use florin_checkout_api::{Warning, WarningKind};
use florin_gateway_client::{ConfirmRequest, InvoiceId};
use florin_orders::{Invoice, Snapshot};
use tracing::Instrument as _;

use crate::state::AppState;
use crate::trace;

/// Returns `true` if the customer pressed "I've sent it", which sent POST /confirm.
pub(crate) fn is_marked_as_paid(snapshot: &Snapshot) -> bool {
    invoice(snapshot).is_some_and(|invoice| invoice.marked_as_paid_at.is_some())
}

/// Sends POST /confirm with the address for the receipt. The gateway's response changes nothing, so no request waits for it; a
/// failure costs the customer a receipt by mail.
pub(crate) fn confirm(app: &Arc<AppState>, snapshot: &Snapshot, email: Option<String>) {
    let Some(invoice) = invoice(snapshot) else {
        return;
    };
    let Ok(id) = InvoiceId::parse(invoice.id.as_str()) else {
        return;
    };
    let (app, order) = (app.clone(), snapshot.order.id.clone());
    let confirmed = async move {
        let request = ConfirmRequest::new(id, email);
        if let Err(error) = app.gateway.confirm(&request).await {
            tracing::warn!(%order, %error, "POST /confirm failed");
        }
    };
    let trace = snapshot.order.terms.traceparent;
    let confirmed = trace::within(trace.or_else(trace::current), confirmed.in_current_span());
    tokio::spawn(confirmed);
}

fn invoice(snapshot: &Snapshot) -> Option<&Invoice> {
    snapshot.attempt.as_ref()?.invoice()
}

// The subjects of the gateway's warnings, by a few of their words. Pure.
//
// A page shows every warning as it came. The subject only decides whether the warning is open or folded, so a text of
// which nothing is known is `other`, which is open.
//
// Source: payment-service.md, "Invoice": `warning_messages` are about "send only the right asset, confirmation
// requirement, sufficient network fee, price may expire if payment arrives late". No sentence is shown there.

/// The first row with a word of the text decides. The rows above `Confirmations` are about lost money.
const WORDS: [(WarningKind, &[&str]); 7] = [
    (OnlyThisAsset, &["only"]),
    (WrongNetwork, &["another network", "wrong network"]),
    (Other, &["lost", "lose", "do not", "never", "memo", "tag"]),
    (Confirmations, &["confirmations"]),
    (NetworkFee, &["fee"]),
    (LatePrice, &["price"]),
    (Expiry, &["expire", "minutes"]),
];

fn warning_views(texts: &[String]) -> Vec<Warning> {
    let warning = |text: &String| {
        let kind = kind(text);
        Warning {
            kind,
            text: text.clone(),
            number: number(kind, text),
        }
    };
    texts.iter().map(warning).collect()
}

fn kind(text: &str) -> WarningKind {
    let text = text.to_lowercase();
    let has_word =
        |(_, words): &&(WarningKind, &[&str])| words.iter().any(|word| text.contains(word));
    WORDS.iter().find(has_word).map_or(Other, |(kind, _)| *kind)
}

fn number(kind: WarningKind, text: &str) -> Option<u32> {
    if !matches!(kind, Confirmations | Expiry | LatePrice) {
        return None;
    }
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut numbers = text
        .split(|letter| !is_digit(letter))
        .filter(|digits| !digits.is_empty());
    let number = numbers.next()?.parse().ok()?;
    numbers.next().is_none().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_keeps_its_text_and_only_what_loses_no_money_is_folded() {
        for row in [
            "OnlyThisAsset None: Send only BTC to this address. Pay within 15 minutes.",
            "WrongNetwork None: Coins on another network do not arrive.",
            "Other None: Do not forget the memo 1234: the price is lost.",
            "Other None: Mind the gap.",
            "Other None: ",
            "Confirmations Some(3): Complete after 3 confirmations.",
            "NetworkFee None: A low fee may delay it by 10 minutes.",
            "LatePrice Some(15): The price is held for 15 minutes.",
            "LatePrice None: The price is 19.90 for 15 minutes.",
            "Expiry None: It expires in 99999999999 minutes.",
        ] {
            let (_, sent) = row.split_once(": ").unwrap();
            let [Warning { kind, text, number }] = &warning_views(&[sent.to_owned()])[..] else {
                panic!("one text is one warning");
            };
            assert_eq!(format!("{kind:?} {number:?}: {text}"), row);
        }
    }
}
