//! Virtual time. It stands still while any task can run, and advances to the next timer when none can: the runtime
//! calls it before its thread parks.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

pub(crate) use florin_invariants::Millis;
use parking_lot::{Mutex, MutexGuard};

#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    now: Millis,
    next_number: u64,
    digest: u64,
    waiting: BTreeMap<(Millis, u64), Waker>,
}

impl Timeline {
    pub(crate) fn now(&self) -> Millis {
        self.state().now
    }

    pub(crate) fn sleep(&self, millis: Millis) -> Sleep {
        let until = self.now() + millis.max(0);
        Sleep {
            timeline: self.clone(),
            until,
            key: None,
        }
    }

    /// Advances to the earliest timer, one at a time in a fixed order.
    pub(crate) fn advance(&self) {
        let first = {
            let mut state = self.state();
            let first = state.waiting.pop_first();
            if let Some(((until, _), _)) = &first {
                state.now = state.now.max(*until);
                state.digest = fold(state.digest, *until);
            }
            first
        };
        let (_, waker) = first.expect("a timer is always pending until a world has ended");
        waker.wake();
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

#[derive(Debug)]
pub(crate) struct Sleep {
    timeline: Timeline,
    until: Millis,
    key: Option<(Millis, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut state = this.timeline.state();
        let key = *this.key.get_or_insert_with(|| {
            state.next_number += 1;
            let key = (this.until, state.next_number);
            state.waiting.insert(key, context.waker().clone());
            key
        });
        match state.waiting.get_mut(&key) {
            Some(waker) => {
                waker.clone_from(context.waker());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.timeline.state().waiting.remove(&key);
        }
    }
}
