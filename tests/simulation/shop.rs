//! The model of the stores: the deliveries that they accepted.

use std::sync::{Mutex, PoisonError};

use florin_invariants::Delivery;
use florin_orders::Event;

use crate::timeline::Millis;

/// Deliveries that the stores accepted, including those whose response was lost.
#[derive(Debug, Default)]
pub(crate) struct Shop(Mutex<Vec<Delivery>>);

impl Shop {
    pub(crate) fn accept(&self, event: &Event, at: Millis) {
        let delivery = Delivery {
            at,
            id: event.id.as_str().to_owned(),
            body: event.payload.clone(),
            is_accepted: true,
            signature: None,
        };
        let mut deliveries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        deliveries.push(delivery);
    }

    pub(crate) fn deliveries(&self) -> Vec<Delivery> {
        let deliveries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        deliveries.clone()
    }
}
