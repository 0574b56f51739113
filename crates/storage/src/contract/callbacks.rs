//! Callbacks and subscriptions during polls that are slow, lost or rescheduled: no hint is lost.

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;

/// An action that concerns one attempt.
#[derive(Clone, Copy, Debug)]
enum Action {
    /// The gateway calls back.
    Callback,
    /// A subscription asks for a poll.
    Subscription,
    /// The poller starts a poll, if one is due.
    PollStart,
    /// The response to the current poll arrives.
    Response(&'static str),
    /// The current poll fails and is rescheduled in so many seconds.
    Deferral(i64),
}

/// The lease of a poll: no other poll starts within it.
const LEASE: i64 = 30;

fn actions() -> impl Strategy<Value = Vec<(i64, Action)>> {
    let words = prop::sample::select(vec!["CHECKING", "PROCESSING", "FAILED", "REFUNDED"]);
    let action = prop_oneof![
        3 => Just(Action::Callback),
        2 => Just(Action::Subscription),
        5 => Just(Action::PollStart),
        4 => words.prop_map(Action::Response),
        1 => (1_i64..20).prop_map(Action::Deferral),
    ];
    let pause = prop_oneof![4 => 0_i64..4, 1 => 4_i64..90];
    prop::collection::vec((pause, action), 1..30)
}

struct Watching<'a> {
    storage: &'a Store,
    now: i64,
    /// The current poll, and when its lease ends.
    under_way: Option<(DueAttempt, i64)>,
    /// `true` if a callback came since the last poll started.
    is_hinted: bool,
}

impl Watching<'_> {
    async fn perform(&mut self, action: Action) {
        let now = at(self.now);
        match action {
            Action::Callback => {
                let known = invoice(1).id;
                self.storage
                    .schedule_poll_of_invoice(&known, now)
                    .await
                    .unwrap();
                self.is_hinted = true;
            }
            Action::Subscription => {
                self.storage.schedule_poll(&id(1), now).await.unwrap();
            }
            Action::PollStart => {
                if let Some(due) = self.begins().await {
                    self.under_way = Some((due, self.now + LEASE));
                }
            }
            Action::Response(word) => {
                let Some((due, _)) = self.under_way.take() else {
                    return;
                };
                let observation = Observation {
                    observed_at: now,
                    ..match word {
                        "PROCESSING" => exact(word),
                        _ => observed(word),
                    }
                };
                self.storage
                    .record_observation(&due, &observation)
                    .await
                    .unwrap();
            }
            Action::Deferral(seconds) => {
                if let Some((due, _)) = self.under_way.take() {
                    let until = at(self.now + seconds);
                    let now = at(self.now);
                    self.storage
                        .reschedule_poll(&due, until, now)
                        .await
                        .unwrap();
                }
            }
        }
    }

    /// Starts the poll that is due.
    async fn begins(&mut self) -> Option<DueAttempt> {
        let (now, until) = (at(self.now), at(self.now + LEASE));
        for priority in [
            PollPriority::Callback,
            PollPriority::Watched,
            PollPriority::Unwatched,
        ] {
            let due = self.storage.due_attempts(priority, now, until, 9).await;
            if let Some(due) = due.unwrap().pop() {
                if let Some((_, ends)) = &self.under_way {
                    assert!(self.now >= *ends, "one poll at a time");
                }
                self.is_hinted = false;
                return Some(due);
            }
        }
        None
    }
}

async fn watched(backend: Backend, first: i64, actions: &[(i64, Action)]) {
    let test = backend.test().await;
    awaiting(&test.storage, 1).await;
    observe(&test.storage, first, observed("FAILED")).await;
    let mut watching = Watching {
        storage: &test.storage,
        now: first + 2,
        under_way: None,
        is_hinted: false,
    };
    for (pause, action) in actions {
        watching.now += pause;
        watching.perform(*action).await;
    }
    // Nothing more perform; whatever was under way never comes back.
    watching.now += LEASE;
    if watching.is_hinted {
        assert!(watching.begins().await.is_some(), "the hint is lost");
    }
    if first < 86_400 {
        watching.now += 15 * 60;
        assert!(
            watching.begins().await.is_some(),
            "the attempt is forgotten"
        );
    }
}

pub(super) fn no_callback_is_lost_and_no_two_polls_overlap(backend: Backend) {
    let config = ProptestConfig::with_cases(24);
    proptest!(config, |(is_old in any::<bool>(), actions in actions())| {
        // Just expired, or so long ago that it is polled only on request.
        let first = if is_old { 30 * 86_400 } else { 1000 };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(watched(backend, first, &actions));
    });
}
