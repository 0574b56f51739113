//! The row of the gateway account as the proxies of a world use it, with injected faults.

use async_trait::async_trait;
use florin_gateway::{AccountRow, AccountRowError, AccountState, AccountStep};
use jiff::Timestamp;

use crate::outage::Outage;
use crate::process::Process;
use crate::timeline::Millis;

/// The row as one process uses it.
pub(crate) struct SimulatedAccount {
    pub(crate) process: Process,
    /// Called with the end of each pause of the process that is stored.
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
        Ok(world.account.read(self.now()))
    }

    async fn change(&self, step: AccountStep) -> Result<i64, AccountRowError> {
        let (process, world) = (&self.process, &self.process.world);
        process.wait_while_frozen().await;
        // Those that this change stores: its outcomes are known when it begins.
        let pauses = world.gateway.take_unstored_pauses(process.number);
        if world.random.percent(10) {
            process.sleep(world.random.between(0, 40)).await;
        }
        let fault = (world.injects_faults() && world.random.in_thousand(12))
            .then(|| world.random.weigh(&CHANGE_FAULTS));
        if let Some(fault) = fault {
            world.log(|| format!("account: {fault:?}"));
            world
                .counters
                .one("faults of the shared account", format!("{fault:?}"));
        }
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
        let version = world.account.change(&step, self.now());
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
