//! Virtual time. It stands still while any task can run, and advances to the next timer when none can: the runtime
//! calls it before its thread parks.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

pub(crate) use florin_invariants::Millis;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    now: Millis,
    next_number: u64,
    digest: u64,
    waiting: BTreeMap<(Millis, u64), oneshot::Sender<()>>,
}

impl Timeline {
    pub(crate) fn now(&self) -> Millis {
        self.state().now
    }

    pub(crate) fn sleep(&self, millis: Millis) -> impl Future<Output = ()> + Send + use<> {
        let (timeline, until) = (self.clone(), self.now() + millis.max(0));
        async move {
            let (timer, ended) = oneshot::channel();
            {
                let mut state = timeline.state();
                state.next_number += 1;
                let key = (until, state.next_number);
                state.waiting.insert(key, timer);
            }
            let _ = ended.await;
        }
    }

    /// Advances to the earliest timer, one at a time in a fixed order.
    pub(crate) fn advance(&self) {
        let fires = loop {
            let mut state = self.state();
            let first = state.waiting.pop_first();
            let ((until, _), fires) =
                first.expect("a timer is always pending until a world has ended");
            // Nothing waits for a closed one.
            if !fires.is_closed() {
                state.now = state.now.max(until);
                state.digest = fold(state.digest, until);
                break fires;
            }
        };
        let _ = fires.send(());
    }

    /// Digest of the times of all timers that fired. Each waits for a drawn time, so it shows whether two runs of a world drew
    /// and did the same.
    pub(crate) fn digest(&self) -> u64 {
        self.state().digest
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

fn fold(digest: u64, number: Millis) -> u64 {
    (digest ^ number.cast_unsigned()).wrapping_mul(0x0000_0100_0000_01b3)
}
