//! What holds in every life of an order, whatever the service says, and in whatever order it is heard.

use jiff::SignedDuration;
use proptest::prelude::*;

use crate::fixtures::life::{ATTEMPTS, Life, Look, looks, unruly_looks};
use crate::{EventType, Flow, Observation, Order, OrderStatus, Standing, Verdict, judge};

fn flows() -> impl Strategy<Value = Flow> {
    prop_oneof![Just(Flow::Custom), Just(Flow::Hosted)]
}

/// A life in which every look of these is recorded.
fn lived(flow: Flow, looks: &[Look]) -> Life {
    let mut life = Life::new(flow);
    for look in looks {
        life.sees(look);
    }
    life
}

/// The looks in another order, numbered and timed as they come.
fn in_order(looks: &[Look]) -> Vec<Look> {
    let mut now = 0;
    let renumber = looks.iter().zip(1..).map(|(look, number)| {
        now += 10;
        Look {
            number,
            at: now,
            ..look.clone()
        }
    });
    renumber.collect()
}

fn count(life: &Life, wanted: EventType) -> usize {
    life.events.iter().filter(|event| **event == wanted).count()
}

/// What an answer means for an attempt that nothing is known of.
fn judged_alone(order: &Order, flow: Flow, look: &Look) -> Verdict {
    let seen: Observation = look.said.about(look.attempt, look.at);
    judge(order, &Life::new(flow).attempts[look.attempt], &seen)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_paid_order_stays_paid_and_is_credited_once(flow in flows(), looks in unruly_looks(24)) {
        let (mut life, mut settled) = (Life::new(flow), None);
        for look in &looks {
            life.sees(look);
            if let Some(word) = settled {
                prop_assert_eq!(life.order.status, word);
            } else if life.order.status.is_settled() {
                settled = Some(life.order.status);
            }
            prop_assert_eq!(life.credits.len(), usize::from(settled.is_some()));
        }
        prop_assert_eq!(count(&life, EventType::Paid), life.credits.len());
        prop_assert!(count(&life, EventType::Overpaid) <= life.credits.len());
    }

    #[test]
    fn what_the_credit_was_given_for_stays_on_record(flow in flows(), looks in unruly_looks(24)) {
        let life = lived(flow, &looks);
        if let Some(credited) = life.credits.first() {
            prop_assert_eq!(life.standing(*credited), Standing::Settled);
            let shown = life.order.current_attempt.as_ref();
            prop_assert_eq!(shown, Some(&life.attempts[*credited].terms.id));
        }
    }

    #[test]
    fn what_was_heard_before_changes_no_verdict(flow in flows(), looks in looks(24)) {
        let mut life = Life::new(flow);
        for look in &looks {
            let verdict = life.sees(look).expect("looks come in their order");
            let alone = judged_alone(&Life::new(flow).order, flow, look);
            // That the service forgot an invoice is the one answer whose sense depends on what was seen of it.
            let is_forgotten = look.said.twist == crate::fixtures::life::Twist::Unknown;
            prop_assert!(verdict == alone || is_forgotten, "{:?} and {:?}", verdict, alone);
            let credits = matches!(verdict, Verdict::Settled { .. });
            prop_assert!(!(is_forgotten && credits));
        }
    }

    #[test]
    fn the_order_of_answers_decides_nothing_about_the_credit(
        flow in flows(),
        looks in looks(16),
        shuffled in any::<prop::sample::Index>(),
    ) {
        let mut turned = looks.clone();
        turned.rotate_left(shuffled.index(looks.len()));
        let mut reversed = looks.clone();
        reversed.reverse();
        let covers = looks.iter().any(|look| {
            matches!(judged_alone(&Life::new(flow).order, flow, look), Verdict::Settled { .. })
        });
        for looks in [&looks, &turned, &reversed] {
            let life = lived(flow, &in_order(looks));
            prop_assert_eq!(life.order.status.is_settled(), covers);
        }
    }

    #[test]
    fn an_answer_heard_again_changes_nothing(flow in flows(), looks in looks(24)) {
        let mut life = Life::new(flow);
        for look in &looks {
            life.sees(look);
            let before = life.clone();
            prop_assert_eq!(life.sees(look), None, "the very same answer");
            life.forgets_numbers();
            life.sees(look);
            prop_assert_eq!(&life.order, &before.order, "the same answer to another look");
            prop_assert_eq!(&life.events, &before.events);
        }
    }

    #[test]
    fn all_of_a_life_heard_again_credits_nothing_more(flow in flows(), looks in looks(16)) {
        let mut life = lived(flow, &looks);
        let (status, credits) = (life.order.status, life.credits.clone());
        life.forgets_numbers();
        for look in &looks {
            life.sees(look);
        }
        if status.is_settled() {
            prop_assert_eq!(life.order.status, status);
        }
        prop_assert_eq!(life.credits, credits);
    }

    #[test]
    fn no_sum_of_an_attempt_is_told_as_late_twice(flow in flows(), looks in unruly_looks(32)) {
        let life = lived(flow, &looks);
        for attempt in 0..ATTEMPTS {
            let told = life.late.iter().filter(|(of, _)| *of == attempt);
            let told: Vec<_> = told.map(|(_, sum)| *sum).collect();
            prop_assert!(told.is_sorted_by(|a, b| a < b), "{:?}", told);
        }
    }

    #[test]
    fn every_change_of_status_is_an_event(flow in flows(), looks in unruly_looks(24)) {
        let mut life = Life::new(flow);
        for look in &looks {
            let (status, reverted, told) =
                (life.order.status, life.order.reverted, life.events.len());
            life.sees(look);
            let is_told = life.events.len() > told;
            prop_assert!(is_told || life.order.status == status);
            // That the service stands by its word again is no event; that it does not, is one.
            prop_assert!(is_told || life.order.reverted == reverted || life.order.reverted.is_none());
        }
    }

    #[test]
    fn no_order_waits_for_a_payment_that_is_over(
        flow in flows(),
        is_cancelled in any::<bool>(),
        looks in unruly_looks(24),
    ) {
        let mut life = Life::new(flow);
        if is_cancelled {
            life.order.cancelled_at = Some(crate::fixtures::at(0));
            life.order.status = OrderStatus::Cancelled;
        }
        for look in &looks {
            life.sees(look);
            let shown = life.attempts.iter().find(|attempt| life.order.is_current(attempt));
            let standing = shown.unwrap().invoice().unwrap().standing;
            let is_over = matches!(standing, Standing::Failed | Standing::Cancelled | Standing::Expired);
            let waits = matches!(life.order.status, OrderStatus::Checking | OrderStatus::Processing);
            prop_assert!(!(is_over && waits), "{:?} and {:?}", standing, life.order.status);
        }
    }

    #[test]
    fn what_can_still_change_is_looked_at_again(flow in flows(), looks in unruly_looks(24)) {
        let mut life = Life::new(flow);
        for look in &looks {
            if life.sees(look).is_none() {
                continue;
            }
            let now = crate::fixtures::at(look.at);
            let invoice = life.attempts[look.attempt].invoice().unwrap();
            let is_young = now < invoice.expires_at + SignedDuration::from_hours(7 * 24);
            let settled_for = now.duration_since(invoice.standing_since);
            let ends = match invoice.standing {
                Standing::Waiting | Standing::Seen | Standing::Confirming => false,
                Standing::Settled => settled_for >= SignedDuration::from_hours(48),
                _ => !is_young,
            };
            prop_assert!(
                ends || invoice.next_poll_at.is_some_and(|next| next > now),
                "{:?}", invoice
            );
        }
    }
}
