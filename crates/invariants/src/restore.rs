//! Restored backups. What a restore loses is known exactly: what the replaced database has and the backup has not.

use std::collections::{BTreeMap, BTreeSet};

use crate::Millis;
use crate::evidence::{Attempt, Database, Event, Evidence, Restore};

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

    /// The events of each database, by the moment of a delivery.
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
