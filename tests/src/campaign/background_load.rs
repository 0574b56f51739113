//! Background load: blocks are mined, and faults are injected into the gateway.

use std::time::Duration;

use serde_json::json;

use super::customer::Customers;
use crate::random::SeededRandom;
use crate::wait::pause;

const BLOCK_EVERY: Duration = Duration::from_millis(500);
const FAULT_EVERY: Duration = Duration::from_millis(1500);
const SLOW_MS: u64 = 400;
/// The sandbox keeps a hundred.
const MAX_WAITING_FAULTS: usize = 20;

/// Mines blocks until the shard closes. A read lock on `mining` suspends it.
pub(super) async fn mine_blocks(customers: Customers, random: SeededRandom) {
    while customers.is_open() {
        pause(random.up_to(BLOCK_EVERY)).await;
        let _alone = customers.mining.write().await;
        customers.sandbox.mine(1).await;
    }
}

/// Injects a fault into the gateway now and then, until it is aborted.
pub(super) async fn inject_faults(customers: Customers, random: SeededRandom) {
    loop {
        pause(random.up_to(FAULT_EVERY)).await;
        // A slow machine makes fewer calls than faults.
        if customers.sandbox.waiting_faults().await >= MAX_WAITING_FAULTS {
            continue;
        }
        let mut fault = match random.below(4) {
            0 => json!({"kind": "status", "status": 500}),
            1 => json!({"kind": "garbled"}),
            2 => json!({"kind": "slow", "delay_ms": random.below(SLOW_MS)}),
            _ => json!({"kind": "drop"}),
        };
        let kind = fault["kind"].as_str().expect("each has one").to_owned();
        customers.counters.one("faults of the gateway", kind);
        let endpoint = random.weigh(&[(2, "invoice"), (2, "create_invoice"), (1, "any")]);
        fault["endpoint"] = endpoint.into();
        customers.sandbox.inject_fault(fault).await;
    }
}
