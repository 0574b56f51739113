//! Time and chance by hand.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use florin_gateway::{Clock, Random};
use jiff::Timestamp;

/// Begins at the second 1,700,000,000; sleeping moves it and takes no time.
#[derive(Clone)]
pub(crate) struct HandClock(Arc<Mutex<(Timestamp, Vec<Duration>)>>);

impl HandClock {
    pub(crate) fn new() -> Self {
        let start = Timestamp::from_second(1_700_000_000).expect("a time of 2023");
        Self(Arc::new(Mutex::new((start, Vec::new()))))
    }

    pub(crate) fn pass(&self, time: Duration) {
        self.0.lock().expect("no test panics in here").0 += time;
    }

    /// What was slept so far, in milliseconds.
    pub(crate) fn slept_ms(&self) -> Vec<u128> {
        let state = self.0.lock().expect("no test panics in here");
        state.1.iter().map(Duration::as_millis).collect()
    }
}

#[async_trait]
impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        self.0.lock().expect("no test panics in here").0
    }

    async fn sleep(&self, time: Duration) {
        self.pass(time);
        self.0.lock().expect("no test panics in here").1.push(time);
    }
}

/// Always the largest.
pub(crate) struct Largest;

impl Random for Largest {
    fn below(&self, bound: u64) -> u64 {
        bound - 1
    }
}
