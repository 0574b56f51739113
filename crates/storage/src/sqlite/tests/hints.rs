//! Callbacks, watchers, looks that come back late, not at all, or have to wait: no hint is ever lost.

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;

/// What happens around one attempt.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// The service calls back.
    Callback,
    /// Somebody looks at the order.
    Watcher,
    /// The watcher begins a look, if one is due.
    LookBegins,
    /// The answer to the look under way arrives.
    Answer(&'static str),
    /// The look under way could not be made, and is planned anew in so many seconds.
    Deferral(i64),
}

/// A lease; within it a look is under way, and no other begins.
const LEASE: i64 = 30;

fn happenings() -> impl Strategy<Value = Vec<(i64, Happening)>> {
    let words = prop::sample::select(vec!["CHECKING", "PROCESSING", "FAILED", "REFUNDED"]);
    let happening = prop_oneof![
        3 => Just(Happening::Callback),
        2 => Just(Happening::Watcher),
        5 => Just(Happening::LookBegins),
        4 => words.prop_map(Happening::Answer),
        1 => (1_i64..20).prop_map(Happening::Deferral),
    ];
    let pause = prop_oneof![4 => 0_i64..4, 1 => 4_i64..90];
    prop::collection::vec((pause, happening), 1..30)
}

struct Watching<'a> {
    ledger: &'a SqliteLedger,
    now: i64,
    /// The look under way, and when its lease ends.
    under_way: Option<(DueAttempt, i64)>,
    /// Whether a callback came since the last look began.
    is_hinted: bool,
}

impl Watching<'_> {
    async fn happens(&mut self, happening: Happening) {
        let now = at(self.now);
        match happening {
            Happening::Callback => {
                let known = invoice(1).id;
                self.ledger.hurry_invoice(&known, now).await.unwrap();
                self.is_hinted = true;
            }
            Happening::Watcher => {
                self.ledger.hurry_order(&id(1), now).await.unwrap();
            }
            Happening::LookBegins => {
                if let Some(due) = self.begins().await {
                    self.under_way = Some((due, self.now + LEASE));
                }
            }
            Happening::Answer(word) => {
                let Some((due, _)) = self.under_way.take() else {
                    return;
                };
                let seen = Observation {
                    observed_at: now,
                    ..match word {
                        "PROCESSING" => exact(word),
                        _ => said(word),
                    }
                };
                self.ledger.observe(&due, &seen).await.unwrap();
            }
            Happening::Deferral(seconds) => {
                if let Some((due, _)) = self.under_way.take() {
                    let until = at(self.now + seconds);
                    self.ledger.defer_attempt(&due, until).await.unwrap();
                }
            }
        }
    }

    /// Begins a look at what is due.
    async fn begins(&mut self) -> Option<DueAttempt> {
        let (now, until) = (at(self.now), at(self.now + LEASE));
        for urgency in [Urgency::Hinted, Urgency::Watched, Urgency::Planned] {
            let due = self.ledger.due_attempts(urgency, now, until, 9).await;
            if let Some(due) = due.unwrap().pop() {
                if let Some((_, ends)) = &self.under_way {
                    assert!(self.now >= *ends, "one look at a time");
                }
                self.is_hinted = false;
                return Some(due);
            }
        }
        None
    }
}

async fn watched(first: i64, happenings: &[(i64, Happening)]) {
    let home = home("hints").await;
    awaiting(&home.ledger, 1).await;
    see(&home.ledger, first, said("FAILED")).await;
    let mut watching = Watching {
        ledger: &home.ledger,
        now: first + 2,
        under_way: None,
        is_hinted: false,
    };
    for (pause, happening) in happenings {
        watching.now += pause;
        watching.happens(*happening).await;
    }
    // Nothing more happens; whatever was under way never comes back.
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_hint_is_lost_and_no_two_looks_are_under_way(
        is_old in any::<bool>(),
        happenings in happenings(),
    ) {
        // Just over, or so long that it is looked at no more unless somebody asks for it.
        let first = if is_old { 30 * 86_400 } else { 1000 };
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(watched(first, &happenings));
    }
}
