//! One question about an invoice at a time: whoever asks the same meanwhile shares the answer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

use super::{CallError, InvoiceAnswer};
use crate::InvoiceId;

pub(super) type Asking = BoxFuture<'static, Result<InvoiceAnswer, CallError>>;

/// The questions under way. One ends early only when everybody who shares it has gone away.
#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<InvoiceId, WeakShared<Asking>>>);

impl Flights {
    /// The question that is under way, or a new one.
    pub(super) fn join(&self, id: &InvoiceId, ask: impl FnOnce() -> Asking) -> Shared<Asking> {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let under_way = flights.get(id).and_then(WeakShared::upgrade);
        if let Some(flight) = under_way.filter(|flight| flight.peek().is_none()) {
            return flight;
        }
        flights.retain(|_, flight| flight.upgrade().is_some());
        let flight = ask().shared();
        if let Some(weak) = flight.downgrade() {
            flights.insert(id.clone(), weak);
        }
        flight
    }
}
