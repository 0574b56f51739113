//! Background load: blocks are mined, and faults are injected into the gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::RwLock;

use super::counters::Counters;
use super::random::SeededRandom;
use crate::sandbox_control::SandboxControl;
use crate::wait::pause;

const BLOCK_EVERY: Duration = Duration::from_millis(500);
const FAULT_EVERY: Duration = Duration::from_millis(1500);
const SLOW_MS: u64 = 400;
/// The sandbox keeps a hundred.
const MAX_WAITING_FAULTS: usize = 20;

/// Mines blocks until the shard closes. A read lock on `mining` suspends it.
pub(super) async fn mine_blocks(
    sandbox: SandboxControl,
    mining: Arc<RwLock<()>>,
    is_closing: Arc<AtomicBool>,
    mut random: SeededRandom,
) {
    while !is_closing.load(Ordering::Relaxed) {
        pause(random.up_to(BLOCK_EVERY)).await;
        let _alone = mining.write().await;
        sandbox.mine(1).await;
    }
}

/// Injects a fault into the gateway now and then, until the shard closes.
pub(super) async fn inject_faults(
    sandbox: SandboxControl,
    counters: Arc<Counters>,
    is_closing: Arc<AtomicBool>,
    mut random: SeededRandom,
) {
    while !is_closing.load(Ordering::Relaxed) {
        pause(random.up_to(FAULT_EVERY)).await;
        // A slow machine makes fewer calls than faults.
        if sandbox.waiting_faults().await >= MAX_WAITING_FAULTS {
            continue;
        }
        let endpoint = random.pick(&[(2, "invoice"), (2, "create_invoice"), (1, "any")]);
        let (mut fault, name) = match random.below(4) {
            0 => (
                json!({"kind": "status", "status": 500}),
                "times the gateway answered 500",
            ),
            1 => (
                json!({"kind": "garbled"}),
                "times the gateway's response was truncated",
            ),
            2 => {
                let delay = random.below(SLOW_MS);
                (
                    json!({"kind": "slow", "delay_ms": delay}),
                    "times the gateway was slow",
                )
            }
            _ => (
                json!({"kind": "drop"}),
                "times the gateway closed the connection",
            ),
        };
        fault["endpoint"] = endpoint.into();
        sandbox.inject_fault(fault).await;
        counters.count(name);
    }
}
