//! Steps that journeys with and without a browser share.

use crate::{Checkout, World};

/// The invoice that is shown is paid and confirmed, and the order is paid.
pub async fn pay_in_full(world: &World, checkout: &Checkout) {
    world.sandbox().pay(checkout, "exact").await;
    world.sandbox().mine(3).await;
    checkout.wait_for("paid").await;
}
