//! What happens by itself: blocks are found, and the service has its bad moments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::RwLock;

use super::counters::Tally;
use super::random::Dice;
use crate::sandbox_control::SandboxControl;
use crate::wait::pause;

const BLOCK_EVERY: Duration = Duration::from_millis(500);
const FAULT_EVERY: Duration = Duration::from_millis(1500);
const SLOW_MS: u64 = 400;

/// Blocks are found until the shops close. Whoever holds `mining` sees none meanwhile.
pub(super) async fn blocks_are_found(
    chain: SandboxControl,
    mining: Arc<RwLock<()>>,
    is_closing: Arc<AtomicBool>,
    mut dice: Dice,
) {
    while !is_closing.load(Ordering::Relaxed) {
        pause(dice.up_to(BLOCK_EVERY)).await;
        let _alone = mining.write().await;
        chain.mine(1).await;
    }
}

/// The service errs now and then until the shops close.
pub(super) async fn the_service_errs(
    chain: SandboxControl,
    tally: Arc<Tally>,
    is_closing: Arc<AtomicBool>,
    mut dice: Dice,
) {
    while !is_closing.load(Ordering::Relaxed) {
        pause(dice.up_to(FAULT_EVERY)).await;
        let endpoint = dice.pick(&[(2, "invoice"), (2, "create_invoice"), (1, "any")]);
        let (mut fault, name) = match dice.below(4) {
            0 => (
                json!({"kind": "status", "status": 500}),
                "times the service answered 500",
            ),
            1 => (
                json!({"kind": "garbled"}),
                "times the service's answer was cut",
            ),
            2 => {
                let delay = dice.below(SLOW_MS);
                (
                    json!({"kind": "slow", "delay_ms": delay}),
                    "times the service was slow",
                )
            }
            _ => (
                json!({"kind": "drop"}),
                "times the service closed the connection",
            ),
        };
        fault["endpoint"] = endpoint.into();
        chain.inject_fault(fault).await;
        tally.count(name);
    }
}
