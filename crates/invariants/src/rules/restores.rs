//! A restored backup loses what happened after it, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::{Attempt, Credit, Database, Event, Evidence, Restore};
use crate::rules::Finding;

pub(super) fn backup_is_complete(evidence: &Evidence) -> Finding {
    let claim = "deliveries before a backup was made: their events are in it";
    let mut finding = Finding::new("backup-is-complete", claim);
    let mut from = i64::MIN;
    for Restore {
        made_at,
        at,
        backup,
        ..
    } in &evidence.restores
    {
        let known = backup.events_by_id();
        let deliveries = evidence.shop.deliveries.iter();
        for delivery in deliveries.filter(|delivery| (from..*made_at).contains(&delivery.at)) {
            let is_known = known.contains_key(delivery.id.as_str());
            finding.must(is_known, (&delivery.id, delivery.at, "before", made_at));
        }
        from = *at;
    }
    finding
}

pub(super) fn backup_is_kept(evidence: &Evidence) -> Finding {
    let claim = "rows of a restored backup: each is in every later database, with the same content";
    let mut finding = Finding::new("backup-is-kept", claim);
    for (index, restore) in evidence.restores.iter().enumerate() {
        for later in evidence.databases().skip(index) {
            compare(&mut finding, &restore.backup, later);
        }
    }
    finding
}

fn compare(finding: &mut Finding, backup: &Database, later: &Database) {
    let orders = later.orders_by_id();
    for kept in &backup.orders {
        let same = orders.get(kept.id.as_str()).is_some_and(|it| {
            it.store == kept.store && it.price == kept.price && it.currency == kept.currency
        });
        finding.must(same, &kept.id);
    }
    let attempts = later.attempts.iter();
    let attempts: BTreeMap<&str, &Attempt> = attempts.map(|it| (it.id.as_str(), it)).collect();
    for kept in &backup.attempts {
        let same = attempts.get(kept.id.as_str()).is_some_and(|attempt| {
            let holds = kept.invoice_id.is_none()
                || (attempt.invoice_id == kept.invoice_id && attempt.shown == kept.shown);
            attempt.order_id == kept.order_id && attempt.requested == kept.requested && holds
        });
        finding.must(same, kept);
    }
    let credits: BTreeSet<_> = later.credits.iter().map(content).collect();
    for credit in &backup.credits {
        finding.must(credits.contains(&content(credit)), credit);
    }
    let events = later.events_by_id();
    for kept in &backup.events {
        let event = events.get(kept.id.as_str());
        let same =
            event.is_some_and(|it| it.payload == kept.payload && it.sequence == kept.sequence);
        finding.must(same, &kept.id);
    }
}

fn content(credit: &Credit) -> (&str, &str, i64, i128, &str) {
    (
        &credit.order_id,
        &credit.attempt_id,
        credit.observation_id,
        credit.amount,
        &credit.currency,
    )
}

/// A store drops an event whose id it knows: one with other content would be lost to it.
pub(super) fn id_has_one_content(evidence: &Evidence) -> Finding {
    let claim = "events of all databases, and deliveries: an id has one content";
    let mut finding = Finding::new("id-has-one-content", claim);
    let mut contents: BTreeMap<&str, &str> = BTreeMap::new();
    let events = evidence.databases().flat_map(|database| &database.events);
    let events = events.map(|Event { id, payload, .. }| (id, payload));
    let deliveries = evidence.shop.deliveries.iter();
    for (id, payload) in events.chain(deliveries.map(|it| (&it.id, &it.body))) {
        let first = contents.entry(id).or_insert(payload);
        finding.must(first == payload, id);
    }
    finding
}

/// The payment is found again by polling: its invoice is in the backup, and its credit is not.
pub(super) fn restored_is_credited(evidence: &Evidence) -> Finding {
    let claim = "credits after a backup, by an invoice of the backup: each order is credited again";
    let mut finding = Finding::new("restored-is-credited", claim);
    let paid: BTreeSet<&str> = evidence
        .paid_attempts()
        .filter(|(_, order)| !order.is_closed())
        .map(|(attempt, _)| attempt.id.as_str())
        .collect();
    let credited = credited_orders(&evidence.database);
    for restore in &evidence.restores {
        let before = credited_orders(&restore.backup);
        let attempts = restore.backup.attempts.iter();
        let kept: BTreeSet<&str> = attempts
            .filter(|attempt| attempt.is_open())
            .map(|attempt| attempt.id.as_str())
            .collect();
        for Credit {
            order_id,
            attempt_id,
            ..
        } in &restore.replaced.credits
        {
            let attempt = attempt_id.as_str();
            let is_found_again = kept.contains(attempt) && paid.contains(attempt);
            if is_found_again && !before.contains(order_id.as_str()) {
                finding.must(credited.contains(order_id.as_str()), (order_id, attempt));
            }
        }
    }
    finding
}

fn credited_orders(database: &Database) -> BTreeSet<&str> {
    let credits = database.credits.iter();
    credits.map(|credit| credit.order_id.as_str()).collect()
}
