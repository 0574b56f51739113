//! Invariants of every order, for any responses in any order.

use jiff::SignedDuration;
use proptest::prelude::*;

use crate::fixtures::life::{ATTEMPTS, Life, Poll, ResponseFault, polls, unordered_polls};
use crate::{Assessment, EventType, Flow, Observation, Order, OrderStatus, PaymentState, assess};

fn flows() -> impl Strategy<Value = Flow> {
    prop_oneof![Just(Flow::Custom), Just(Flow::Hosted)]
}

fn lived(flow: Flow, polls: &[Poll]) -> Life {
    let mut life = Life::new(flow);
    for poll in polls {
        life.record(poll);
    }
    life
}

/// The polls in another order, numbered and timed in that order.
fn in_order(polls: &[Poll]) -> Vec<Poll> {
    let mut now = 0;
    let renumber = polls.iter().zip(1..).map(|(poll, number)| {
        now += 10;
        Poll {
            number,
            at: now,
            ..poll.clone()
        }
    });
    renumber.collect()
}

fn count(life: &Life, wanted: EventType) -> usize {
    life.events.iter().filter(|event| **event == wanted).count()
}

/// What a response means for an attempt that nothing is known of.
fn assessed_alone(order: &Order, flow: Flow, poll: &Poll) -> Assessment {
    let observation: Observation = poll.response.about(poll.attempt, poll.at);
    assess(
        order,
        &Life::new(flow).aggregate.attempts[poll.attempt],
        &observation,
    )
}

/// Returns `true` if an attempt is paid before the gateway changes its address.
fn is_covered(flow: Flow, polls: &[Poll]) -> bool {
    let (order, mut address_changed) = (Life::new(flow).aggregate.order, [false; ATTEMPTS]);
    polls
        .iter()
        .any(|poll| match assessed_alone(&order, flow, poll) {
            Assessment::Settled { .. } => !address_changed[poll.attempt],
            Assessment::AddressChanged { .. } => {
                address_changed[poll.attempt] = true;
                false
            }
            _ => false,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_paid_order_stays_paid_and_is_credited_once(flow in flows(), polls in unordered_polls(24)) {
        let (mut life, mut settled) = (Life::new(flow), None);
        for poll in &polls {
            life.record(poll);
            if let Some(word) = settled {
                prop_assert_eq!(life.aggregate.order.status, word);
            } else if life.aggregate.order.status.is_settled() {
                settled = Some(life.aggregate.order.status);
            }
            prop_assert_eq!(life.credits.len(), usize::from(settled.is_some()));
        }
        prop_assert_eq!(count(&life, EventType::Paid), life.credits.len());
        prop_assert!(count(&life, EventType::Overpaid) <= life.credits.len());
    }

    #[test]
    fn what_the_credit_was_given_for_stays_on_record(flow in flows(), polls in unordered_polls(24)) {
        let life = lived(flow, &polls);
        if let Some(credited) = life.credits.first() {
            prop_assert_eq!(life.payment_state(*credited), PaymentState::Settled);
            let shown = life.aggregate.order.current_attempt.as_ref();
            prop_assert_eq!(shown, Some(&life.aggregate.attempts[*credited].terms.id));
        }
    }

    #[test]
    fn earlier_observations_change_no_assessment(flow in flows(), polls in polls(24)) {
        let mut life = Life::new(flow);
        for poll in &polls {
            let was_changed = life.payment_state(poll.attempt) == PaymentState::AddressChanged;
            let assessment = life.record(poll).expect("polls come in their order");
            let alone = assessed_alone(&Life::new(flow).aggregate.order, flow, poll);
            // The meaning of a response depends on earlier observations only for an unknown invoice, and for one whose
            // address was changed.
            let depends = was_changed || poll.response.fault == ResponseFault::Unknown;
            prop_assert!(assessment == alone || depends, "{:?} and {:?}", assessment, alone);
            let credits = matches!(assessment, Assessment::Settled { .. });
            prop_assert!(!(depends && credits));
        }
    }

    #[test]
    fn the_order_of_responses_does_not_affect_the_credit(
        flow in flows(),
        polls in polls(16),
        shuffled in any::<prop::sample::Index>(),
    ) {
        let mut turned = polls.clone();
        turned.rotate_left(shuffled.index(polls.len()));
        let mut reversed = polls.clone();
        reversed.reverse();
        for polls in [&polls, &turned, &reversed] {
            let life = lived(flow, &in_order(polls));
            prop_assert_eq!(life.aggregate.order.status.is_settled(), is_covered(flow, polls));
        }
    }

    #[test]
    fn a_changed_address_ends_an_attempt_for_good(flow in flows(), polls in unordered_polls(24)) {
        let (mut life, mut address_changed) = (Life::new(flow), [false; ATTEMPTS]);
        for poll in &polls {
            life.record(poll);
            for (attempt, address_changed) in address_changed.iter_mut().enumerate() {
                let is_changed = life.payment_state(attempt) == PaymentState::AddressChanged;
                prop_assert!(is_changed || !*address_changed);
                *address_changed = is_changed;
                prop_assert!(!is_changed || !life.credits.contains(&attempt));
            }
        }
    }

    #[test]
    fn a_repeated_response_changes_nothing(flow in flows(), polls in polls(24)) {
        let mut life = Life::new(flow);
        for poll in &polls {
            life.record(poll);
            let before = life.clone();
            prop_assert_eq!(life.record(poll), None, "the very same response");
            life.forgets_numbers();
            life.record(poll);
            let (order, known) = (&life.aggregate.order, &before.aggregate.order);
            prop_assert_eq!(order, known, "the same response to another poll");
            prop_assert_eq!(&life.events, &before.events);
        }
    }

    #[test]
    fn no_amount_is_reported_as_late_twice(flow in flows(), polls in unordered_polls(32)) {
        let life = lived(flow, &polls);
        for attempt in 0..ATTEMPTS {
            let notified = life.late.iter().filter(|(of, _)| *of == attempt);
            let notified: Vec<_> = notified.map(|(_, sum)| *sum).collect();
            prop_assert!(notified.is_sorted_by(|a, b| a < b), "{:?}", notified);
        }
    }

    #[test]
    fn every_change_of_status_is_an_event(flow in flows(), polls in unordered_polls(24)) {
        let mut life = Life::new(flow);
        for poll in &polls {
            let (before, events) = (life.aggregate.order.clone(), life.events.len());
            life.record(poll);
            let order = &life.aggregate.order;
            let is_event = life.events.len() > events;
            prop_assert!(is_event || order.status == before.status);
            // A confirmed payment that was reverted before is no event; a reverted one is.
            prop_assert!(is_event || order.reverted == before.reverted || order.reverted.is_none());
        }
    }

    #[test]
    fn no_order_waits_for_a_payment_that_is_over(
        flow in flows(),
        is_cancelled in any::<bool>(),
        polls in unordered_polls(24),
    ) {
        let mut life = Life::new(flow);
        if is_cancelled {
            let order = &mut life.aggregate.order;
            order.cancelled_at = Some(crate::fixtures::at(0));
            order.status = OrderStatus::Cancelled;
        }
        for poll in &polls {
            life.record(poll);
            let (order, mut attempts) = (&life.aggregate.order, life.aggregate.attempts.iter());
            let shown = attempts.find(|attempt| order.is_current(attempt));
            let payment_state = shown.unwrap().invoice().unwrap().payment_state;
            let is_over = matches!(payment_state, PaymentState::Failed | PaymentState::Cancelled | PaymentState::Expired);
            let waits = matches!(order.status, OrderStatus::Checking | OrderStatus::Processing);
            prop_assert!(!(is_over && waits), "{:?} and {:?}", payment_state, order.status);
        }
    }

    #[test]
    fn an_attempt_that_can_change_is_polled_again(flow in flows(), polls in unordered_polls(24)) {
        let mut life = Life::new(flow);
        for poll in &polls {
            if life.record(poll).is_none() {
                continue;
            }
            let now = crate::fixtures::at(poll.at);
            let invoice = life.aggregate.attempts[poll.attempt].invoice().unwrap();
            let is_young = now < invoice.expires_at + SignedDuration::from_hours(60 * 24);
            let settled_for = now.duration_since(invoice.state_since);
            let ends = match invoice.payment_state {
                PaymentState::Waiting | PaymentState::Detected | PaymentState::Confirming => false,
                PaymentState::Settled => settled_for >= SignedDuration::from_hours(48),
                _ => !is_young,
            };
            prop_assert!(
                ends || invoice.next_poll_at.is_some_and(|next| next > now),
                "{:?}", invoice
            );
        }
    }
}
