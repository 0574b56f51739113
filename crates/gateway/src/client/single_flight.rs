//! One lookup per invoice at a time: concurrent callers share its response.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

use super::error::CallError;
use crate::{InvoiceId, InvoiceStatus};

/// The response of one GET /invoice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoiceResponse {
    /// Its `data`.
    pub status: InvoiceStatus,
    /// The whole body as it came, to be kept as evidence.
    pub raw: String,
}

pub(super) type PendingResponse = BoxFuture<'static, Result<InvoiceResponse, CallError>>;

/// The lookups in flight. A lookup is cancelled only when all its callers are.
#[derive(Default)]
pub(super) struct SingleFlight(Mutex<HashMap<InvoiceId, WeakShared<PendingResponse>>>);

impl SingleFlight {
    /// Joins the lookup in flight, or starts one.
    pub(super) fn join(
        &self,
        id: &InvoiceId,
        ask: impl FnOnce() -> PendingResponse,
    ) -> Shared<PendingResponse> {
        let mut in_flight = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let under_way = in_flight.get(id).and_then(WeakShared::upgrade);
        if let Some(request) = under_way.filter(|request| request.peek().is_none()) {
            return request;
        }
        in_flight.retain(|_, request| request.upgrade().is_some());
        let request = ask().shared();
        if let Some(weak) = request.downgrade() {
            in_flight.insert(id.clone(), weak);
        }
        request
    }
}
