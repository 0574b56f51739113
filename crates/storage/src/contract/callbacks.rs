//! Callbacks and subscriptions during polls that are slow, lost or rescheduled: no hint is lost.

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Action {
    Callback,
    /// A subscription asks for a poll.
    Subscription,
    /// The poller starts a poll, if one is due.
    PollStart,
    /// The response to the current poll arrives.
    Response(&'static str),
    /// The current poll fails and is rescheduled, by this number of seconds.
    Deferral(i64),
}

/// The lease of [`ByNumber::polls`]: no other poll starts within it.
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
    test: &'a Test,
    now: i64,
    /// The current poll, and when its lease ends.
    under_way: Option<(DueAttempt, i64)>,
    /// `true` if a callback came since the last poll started.
    is_hinted: bool,
}

impl Watching<'_> {
    async fn perform(&mut self, action: Action) {
        let (test, now) = (self.test, self.now);
        match action {
            Action::Callback => {
                test.callback(1, now).await;
                self.is_hinted = true;
            }
            Action::Subscription => {
                test.schedule_poll(&id(1), SignedDuration::ZERO, at(now))
                    .await
                    .unwrap();
            }
            Action::PollStart => {
                if let Some(due) = self.begins().await {
                    self.under_way = Some((due, now + LEASE));
                }
            }
            Action::Response(word) => {
                if let Some((due, _)) = self.under_way.take() {
                    let is_sent = word == "PROCESSING";
                    let response = if is_sent { exact(word) } else { observed(word) };
                    test.record(&due, now, response).await;
                }
            }
            Action::Deferral(seconds) => {
                if let Some((due, _)) = self.under_way.take() {
                    let deferred = test.reschedule_poll(&due, at(now + seconds), at(now));
                    deferred.await.unwrap();
                }
            }
        }
    }

    async fn begins(&mut self) -> Option<DueAttempt> {
        for priority in PRIORITIES {
            if let Some(due) = self.test.polls(priority, self.now).await.pop() {
                let is_over = |(_, ends): &(DueAttempt, i64)| self.now >= *ends;
                assert!(
                    self.under_way.as_ref().is_none_or(is_over),
                    "one poll at a time"
                );
                self.is_hinted = false;
                return Some(due);
            }
        }
        None
    }
}

async fn watched(first: i64, actions: &[(i64, Action)]) {
    let test = BACKEND.awaiting().await;
    test.observe(first, observed("FAILED")).await;
    let mut watching = Watching {
        test: &test,
        now: first + 2,
        under_way: None,
        is_hinted: false,
    };
    for (pause, action) in actions {
        watching.now += pause;
        watching.perform(*action).await;
    }
    // Nothing more happens; what was under way never comes back.
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

#[test]
fn no_callback_is_lost_and_no_two_polls_overlap() {
    let config = ProptestConfig::with_cases(24);
    proptest!(config, |(is_old in any::<bool>(), actions in actions())| {
        // Just expired, or so long ago that it is polled only on request.
        let first = if is_old { 30 * 86_400 } else { 1000 };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(watched(first, &actions));
    });
}
