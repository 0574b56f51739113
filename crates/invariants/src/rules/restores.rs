//! A restored backup loses what happened after it, and nothing else. What it loses is known exactly: what the replaced database
//! has and the backup has not.

use std::collections::{BTreeMap, BTreeSet};

use crate::Millis;
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

impl Restore {
    /// Invoices that attempts of the replaced database held, and none of the backup: their attempts are lost.
    ///
    /// Source: docs/operations/backups.md, "Orders and attempts that were opened later are missing".
    fn lost_invoices(&self) -> impl Iterator<Item = &str> {
        let kept: BTreeSet<&str> = self.backup.held_invoices().collect();
        let held = self.replaced.held_invoices();
        held.filter(move |invoice| !kept.contains(invoice))
    }
}

impl Evidence {
    fn database_at(&self, at: Millis) -> &Database {
        let replaced = self.restores.iter().find(|restore| at < restore.at);
        replaced.map_or(&self.database, |restore| &restore.replaced)
    }

    pub(crate) fn events_in_time(&self) -> EventsInTime<'_> {
        let ends = self.restores.iter().map(|restore| restore.at);
        let spans = ends.chain([Millis::MAX]);
        EventsInTime(
            spans
                .map(|end| (end, self.database_at(end.saturating_sub(1)).events_by_id()))
                .collect(),
        )
    }

    /// Every database of the run: each replaced one, oldest first, then the last one.
    pub(crate) fn databases(&self) -> impl DoubleEndedIterator<Item = &Database> {
        let replaced = self.restores.iter().map(|restore| &restore.replaced);
        replaced.chain([&self.database])
    }

    /// Every attempt of every database, once. An attempt that a restore kept is that of the latest database.
    pub(crate) fn attempts_ever(&self) -> Vec<&Attempt> {
        let mut known = BTreeSet::new();
        let databases = self.databases().rev();
        let attempts = databases.flat_map(|database| &database.attempts);
        attempts
            .filter(|attempt| known.insert(attempt.id.as_str()))
            .collect()
    }

    /// Every attempt that only a replaced database has.
    pub(crate) fn lost_attempts(&self) -> BTreeSet<&str> {
        let attempts = self.database.attempts.iter();
        let kept: BTreeSet<&str> = attempts.map(|attempt| attempt.id.as_str()).collect();
        let ever = self.attempts_ever().into_iter();
        let ids = ever.map(|attempt| attempt.id.as_str());
        ids.filter(|id| !kept.contains(id)).collect()
    }

    pub(crate) fn lost_invoices(&self) -> BTreeSet<&str> {
        self.restores
            .iter()
            .flat_map(Restore::lost_invoices)
            .collect()
    }

    pub(crate) fn held_before(&self) -> BTreeSet<&str> {
        let replaced = self.restores.iter().map(|restore| &restore.replaced);
        let attempts = replaced.flat_map(|database| &database.attempts);
        attempts
            .filter(|attempt| attempt.invoice_id.is_some())
            .map(|attempt| attempt.id.as_str())
            .collect()
    }

    /// Events that a database has given up: a restore may deliver them again, after later ones of their order.
    pub(crate) fn given_up_ever(&self) -> BTreeSet<&str> {
        let events = self.databases().flat_map(|database| &database.events);
        events
            .filter(|event| event.is_given_up())
            .map(|event| event.id.as_str())
            .collect()
    }

    pub(crate) fn before(&self, restore: &Restore) -> Self {
        Self {
            database: restore.replaced.clone(),
            // They are of the last database.
            known_paid: BTreeSet::new(),
            files: Vec::new(),
            ..self.clone()
        }
    }
}

pub(crate) struct EventsInTime<'a>(Vec<(Millis, BTreeMap<&'a str, &'a Event>)>);

impl<'a> EventsInTime<'a> {
    pub(crate) fn find(&self, id: &str, at: Millis) -> Option<&'a Event> {
        let (_, events) = self.0.iter().find(|(end, _)| at < *end)?;
        events.get(id).copied()
    }
}

impl Database {
    pub(crate) fn held_invoices(&self) -> impl Iterator<Item = &str> {
        let attempts = self.attempts.iter();
        attempts.filter_map(|attempt| attempt.invoice_id.as_deref())
    }
}
