//! Every hosted checkout of this run.

use jiff::{SignedDuration, Timestamp};

use crate::invoice::{Final, Status};
use crate::invoices::Change;
use crate::seed::Seed;
use crate::session::{Request, Session};
use crate::shelf::Shelf;

/// The service's hosted checkouts.
#[derive(Debug)]
pub(crate) struct Sessions {
    seed: Seed,
    shelf: Shelf<Session>,
}

impl Sessions {
    pub(crate) fn new(seed: Seed) -> Self {
        Self {
            seed,
            shelf: Shelf::default(),
        }
    }

    /// Opens a hosted checkout that runs out after so many minutes.
    pub(crate) fn open(&mut self, request: Request, minutes: u32, now: Timestamp) -> &Session {
        let id = format!("ses_{}", self.seed.id("session", self.shelf.next_number()));
        let lifetime = SignedDuration::from_mins(i64::from(minutes));
        let expires_at = now
            .saturating_add(lifetime)
            .expect("a duration is no calendar unit");
        let session = Session::open(id.clone(), request, now, expires_at);
        self.shelf.add(id, session, expires_at)
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Session> {
        self.shelf.find(id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.shelf.find_mut(id)
    }

    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Session> {
        self.shelf.newest_first()
    }

    /// What moved since the last look. CANCELLED is told to nobody.
    pub(crate) fn changes(&mut self, now: Timestamp) -> Vec<Change> {
        self.shelf.look(now, |session| {
            let (from, to) = session.moved(now)?;
            Some(Change {
                invoice_id: session.id.clone(),
                from,
                to,
                announced: (to == Status::Failed).then_some(Final::Failed),
                callback_url: Some(session.callback_url.clone()),
            })
        })
    }
}
