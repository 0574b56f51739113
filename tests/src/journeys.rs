//! Steps that journeys with and without a browser share.

use crate::{Checkout, World};

/// The invoice that is shown is paid and confirmed, and the order is paid.
pub async fn pays_in_full(world: &World, checkout: &Checkout) {
    world.chain().pays(checkout, "exact").await;
    world.chain().mines(3).await;
    checkout.sees("paid").await;
}
