//! The row of the gateway account that the proxies of a world share, and how each uses it, with injected faults.

use async_trait::async_trait;
use florin_gateway::{AccountRow, AccountRowError, AccountState, AccountStep};
use jiff::Timestamp;

use crate::outage::Outage;
use crate::process::Process;
use crate::timeline::Millis;

pub(crate) struct SimulatedAccount {
    pub(crate) process: Process,
    pub(crate) on_pause: Box<dyn Fn(Millis) + Send + Sync>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangeFault {
    Before,
    /// Stored; the response is lost.
    After,
    CrashBefore,
    CrashAfter,
}

pub(crate) const CHANGE_FAULTS: [(u64, ChangeFault); 4] = [
    (3, ChangeFault::Before),
    (3, ChangeFault::After),
    (1, ChangeFault::CrashBefore),
    (1, ChangeFault::CrashAfter),
];

#[async_trait]
impl AccountRow for SimulatedAccount {
    async fn read(&self) -> Result<AccountState, AccountRowError> {
        let (process, world) = (&self.process, &self.process.world);
        process.wait_while_frozen().await;
        if world.outage().is_some_and(Outage::stops_reads) {
            return Err(away());
        }
        let (state, version) = world.account.lock().clone();
        let now = self.now();
        Ok(AccountState {
            state,
            version,
            now,
        })
    }

    async fn change(&self, step: AccountStep) -> Result<i64, AccountRowError> {
        let (process, world) = (&self.process, &self.process.world);
        process.wait_while_frozen().await;
        // Those that this change stores: its outcomes are known when it begins.
        let pauses = world.gateway.take_unstored_pauses(process.number);
        if world.random.percent(10) {
            process.sleep(world.random.between(0, 40)).await;
        }
        let fault = world.draw_fault("faults of the shared account", 12, &CHANGE_FAULTS);
        let fails_before = matches!(fault, Some(ChangeFault::Before));
        match fault {
            Some(ChangeFault::CrashBefore) => return process.crash("before a commit").await,
            _ if fails_before || world.outage().is_some() => {
                for until in pauses {
                    world.gateway.add_unstored_pause(process.number, until);
                }
                return Err(away());
            }
            _ => {}
        }
        let version = {
            let mut row = world.account.lock();
            if let Some(new) = step(row.0.as_deref(), self.now()) {
                *row = (Some(new.state), row.1 + 1);
            }
            row.1
        };
        pauses.into_iter().for_each(&self.on_pause);
        match fault {
            Some(ChangeFault::CrashAfter) => return process.crash("after a commit").await,
            Some(ChangeFault::After) => return Err(away()),
            _ => {}
        }
        if world.random.percent(10) {
            process.sleep(world.random.between(0, 40)).await;
        }
        Ok(version)
    }
}

impl SimulatedAccount {
    /// The time by the database's clock, which is right.
    fn now(&self) -> Timestamp {
        let now = self.process.world.right_time();
        Timestamp::from_millisecond(now).expect("a time of this century")
    }
}

fn away() -> AccountRowError {
    AccountRowError("injected: the database is away".to_owned())
}
