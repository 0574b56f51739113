//! A view as JSON: rendered once per change of its order, and shared by the order's streams and status reads.
//!
//! What depends on the moment is not among the shared bytes. The seconds come behind them, computed from absolute times for
//! each response. A member that changes at a known time, like `can_open_attempt`, bounds the time that the bytes are valid.

use std::fmt::Write as _;

use florin_checkout_api::OrderView;
use florin_orders::{Attempt, Invoice, OrderId, Snapshot, StoreId};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::orders::view_cache::View;
use crate::payments::view::{ViewContext, seconds_left, updates_until, view, whole_seconds};

const SECONDS_LEFT: &str = "expires_in_seconds";
const SECONDS_AGO: &str = "checked_seconds_ago";
const AS_OF: &str = "as_of";

#[derive(Clone, Debug)]
pub(crate) struct RenderedView {
    pub order: OrderId,
    pub store: StoreId,
    pub generation: u64,
    pub is_settled: bool,
    pub invoice: Option<Box<Invoice>>,
    /// Names what the view shows and when the gateway was last asked; the same on every replica.
    pub etag: String,
    pub updates_until: Option<Timestamp>,
    /// The JSON up to the members that depend on the moment. The last object that is open is the attempt's, if there is one.
    shared: Box<str>,
    has_attempt: bool,
    observed_at: Option<Timestamp>,
    delayed: bool,
    /// The bytes are valid from one time to the other.
    valid: (Timestamp, Timestamp),
}

impl RenderedView {
    pub(crate) fn is_updated(&self, now: Timestamp) -> bool {
        self.updates_until.is_none_or(|until| now < until)
    }

    pub(crate) fn new(
        snapshot: &Snapshot,
        context: ViewContext<'_>,
    ) -> Result<Self, serde_json::Error> {
        let Snapshot { order, attempt } = snapshot;
        let shown = view(snapshot, context);
        let invoice = attempt.as_ref().and_then(Attempt::invoice);
        let updates_until = updates_until(order);
        let turning_points = [
            Some(order.terms.expires_at),
            invoice.map(|invoice| invoice.expires_at),
            updates_until,
        ];
        let shared = shared_json(&shown)?;
        let observed_at = invoice
            .and_then(|invoice| invoice.observed_at)
            .filter(|_| shown.checked_seconds_ago.is_some());
        Ok(Self {
            order: order.id.clone(),
            store: order.terms.store_id.clone(),
            generation: context.generation,
            is_settled: order.status.is_settled(),
            invoice: invoice.cloned().map(Box::new),
            etag: etag(&shared, observed_at),
            updates_until,
            shared: shared.into(),
            has_attempt: shown.attempt.is_some(),
            observed_at,
            delayed: context.delayed,
            valid: between(turning_points.into_iter().flatten(), context.now),
        })
    }

    /// Returns `true` if the order still looks like this, as far as time and gateway are concerned.
    pub(crate) fn is_valid(&self, delayed: bool, now: Timestamp) -> bool {
        let (since, until) = self.valid;
        self.delayed == delayed && since <= now && now < until
    }

    /// Returns `true` if the two differ at most in when the gateway was last asked.
    pub(crate) fn shows_same(&self, other: &Self) -> bool {
        self.shared == other.shared
    }

    pub(crate) fn json(&self, now: Timestamp) -> String {
        let mut json = String::with_capacity(self.shared.len() + 128);
        json.push_str(&self.shared);
        let written = self.write_moment(&mut json, now);
        written.expect("a text takes every number");
        json
    }

    fn write_moment(&self, json: &mut String, now: Timestamp) -> std::fmt::Result {
        if let Some(invoice) = self.invoice.as_ref().filter(|_| self.has_attempt) {
            write!(json, ",\"{SECONDS_LEFT}\":{}}}", seconds_left(invoice, now))?;
        }
        if let Some(observed_at) = self.observed_at {
            let ago = whole_seconds(now, observed_at);
            write!(json, ",\"{SECONDS_AGO}\":{ago}")?;
        }
        write!(json, ",\"{AS_OF}\":\"{now}\"}}")
    }
}

impl View for RenderedView {
    /// The invoice has about the texts that the view shows of it.
    fn size(&self) -> usize {
        let invoice = self.invoice.as_ref().map_or(0, |_| self.shared.len());
        size_of::<Self>() + self.shared.len() + invoice
    }
}

/// The view without what depends on the moment, and without the braces that close it.
fn shared_json(view: &OrderView) -> Result<String, serde_json::Error> {
    let mut view = serde_json::to_value(view)?;
    let attempt = view.as_object_mut().and_then(|members| {
        members.remove(SECONDS_AGO);
        members.remove(AS_OF);
        members.remove("attempt")
    });
    let mut json = open_object(&view);
    if let Some(mut attempt) = attempt {
        if let Some(members) = attempt.as_object_mut() {
            members.remove(SECONDS_LEFT);
        }
        json.push_str(",\"attempt\":");
        json.push_str(&open_object(&attempt));
    }
    Ok(json)
}

fn open_object(object: &serde_json::Value) -> String {
    let mut json = object.to_string();
    json.pop();
    json
}

fn etag(shared: &str, observed_at: Option<Timestamp>) -> String {
    let observed_at = observed_at.map_or(0, Timestamp::as_millisecond);
    let hash = Sha256::new()
        .chain_update(observed_at.to_be_bytes())
        .chain_update(shared)
        .finalize();
    format!("W/\"{}\"", hex::encode(&hash[..16]))
}

fn between(
    turning_points: impl Iterator<Item = Timestamp>,
    now: Timestamp,
) -> (Timestamp, Timestamp) {
    let all_times = (Timestamp::MIN, Timestamp::MAX);
    turning_points.fold(all_times, |(since, until), at| {
        if at <= now {
            (since.max(at), until)
        } else {
            (since, until.min(at))
        }
    })
}

#[cfg(test)]
mod tests {
    use florin_address::Network;
    use florin_checkout_api::Environment;
    use florin_orders::{AttemptState, OrderStatus, PaymentState, fixtures};
    use jiff::SignedDuration;
    use strum::VariantArray as _;
    use url::Url;

    use super::*;
    use crate::config::tests::EXAMPLE;
    use crate::config::{Store, parse};

    fn store() -> Store {
        let mut stores = parse(EXAMPLE).unwrap().stores;
        Store {
            return_url: Some("https://shop.example/thanks".to_owned()),
            ..stores.remove(0)
        }
    }

    fn context(store: &Store, now: Timestamp) -> ViewContext<'_> {
        ViewContext {
            store,
            checkout_url: None,
            environment: Environment::Test,
            network: Network::Test,
            generation: 0,
            delayed: false,
            now,
        }
    }

    fn observed(second: i64) -> Attempt {
        let mut attempt = fixtures::attempt(1);
        if let AttemptState::Open(invoice) = &mut attempt.state {
            invoice.observed_at = Some(fixtures::at(second));
        }
        attempt
    }

    fn snapshots() -> Vec<Snapshot> {
        let observed = observed(100);
        let mut changed = observed.clone();
        if let AttemptState::Open(invoice) = &mut changed.state {
            invoice.payment_state = PaymentState::AddressChanged;
        }
        let attempts = [
            None,
            Some(fixtures::attempt(1)),
            Some(fixtures::hosted(1)),
            Some(observed),
            Some(changed),
        ];
        let mut snapshots = Vec::new();
        for status in OrderStatus::VARIANTS {
            for attempt in &attempts {
                let mut order = fixtures::order(*status);
                order.settled_at = status.is_settled().then(|| fixtures::at(200));
                let attempt = attempt.clone();
                snapshots.push(Snapshot { order, attempt });
            }
        }
        snapshots
    }

    fn times() -> impl Iterator<Item = Timestamp> + Clone {
        let turning_points = [0, 100, 200, 900, 3_600, 3_800, 86_400];
        turning_points.into_iter().flat_map(|seconds| {
            let around = [-1_000, -1, 0, 1, 500, 30_000];
            around.map(|millis| fixtures::at(seconds) + SignedDuration::from_millis(millis))
        })
    }

    #[test]
    fn shared_bytes_show_at_every_moment_what_a_new_rendering_would() {
        let (store, checkout_url) = (store(), Url::parse("https://checkout.example").unwrap());
        let context = |now| ViewContext {
            checkout_url: Some(&checkout_url),
            ..context(&store, now)
        };
        let mut shared = 0;
        for snapshot in snapshots() {
            for rendered_at in times() {
                let rendered = RenderedView::new(&snapshot, context(rendered_at)).unwrap();
                assert!(rendered.is_valid(false, rendered_at));
                assert!(!rendered.is_valid(true, rendered_at));
                for now in times().filter(|now| rendered.is_valid(false, *now)) {
                    let shown: OrderView = serde_json::from_str(&rendered.json(now)).unwrap();
                    assert_eq!(shown, view(&snapshot, context(now)));
                    let anew = RenderedView::new(&snapshot, context(now)).unwrap();
                    assert_eq!(rendered.etag, anew.etag);
                    shared += 1;
                }
            }
        }
        assert!(shared > 10_000, "{shared}");
    }

    #[test]
    fn an_order_that_is_not_paid_leads_to_the_cancel_url_if_there_is_one() {
        let (thanks, cart, item) = (
            "https://shop.example/thanks",
            "https://shop.example/cart",
            "https://shop.example/item/7",
        );
        for (of_store, of_order, unpaid) in [
            (None, None, thanks),
            (Some(cart), None, cart),
            (None, Some(item), item),
            (Some(cart), Some(item), item),
        ] {
            let mut store = store();
            store.cancel_url = of_store.map(str::to_owned);
            for mut snapshot in snapshots() {
                snapshot.order.terms.cancel_url = of_order.map(str::to_owned);
                let status = snapshot.order.status;
                let base = if status.is_settled() { thanks } else { unpaid };
                let expected = format!("{base}?order_id={}", snapshot.order.id);
                let found = view(&snapshot, context(&store, fixtures::at(300))).return_url;
                assert_eq!(found, Some(expected), "{status:?}");
            }
        }
    }

    #[test]
    fn the_tag_changes_with_the_view() {
        let order = fixtures::order(OrderStatus::Open);
        let opened = Snapshot {
            order,
            attempt: None,
        };
        let tag = |snapshot: &Snapshot, store: &Store, delayed, now| {
            let context = ViewContext {
                delayed,
                ..context(store, now)
            };
            RenderedView::new(snapshot, context).unwrap().etag
        };
        let demo = store();
        let first = tag(&opened, &demo, false, fixtures::at(0));
        assert_eq!(first, tag(&opened, &demo, false, fixtures::at(1)));
        assert_ne!(first, tag(&opened, &demo, true, fixtures::at(0)));
        // After a reload of the configuration.
        let name = "Another".to_owned();
        let renamed = Store { name, ..store() };
        assert_ne!(first, tag(&opened, &renamed, false, fixtures::at(0)));
        // No write ended the order.
        let ended = opened.order.terms.expires_at;
        assert_ne!(first, tag(&opened, &demo, false, ended));
        // The gateway reported the same at another time.
        let attempt = |second| {
            let order = fixtures::order(OrderStatus::AwaitingPayment);
            let attempt = Some(observed(second));
            tag(&Snapshot { order, attempt }, &demo, false, fixtures::at(60))
        };
        assert_ne!(attempt(10), attempt(20));
    }
}
