//! A payment that the gateway reports as failed and completes weeks later, under the program `florin-proxy`: its clock and
//! the gateway's skip the days.

use std::time::Duration;

use jiff::SignedDuration;
use support::{FaultyMachine, Program, World, WorldConfig, eventually};

use crate::disasters::{lines, start_on_machine};
use crate::helpers::{delivered_events, paid_event_count};

const DAY: Duration = Duration::from_hours(24);
/// An invoice lives for 15 minutes.
const PAST_THE_END: Duration = Duration::from_mins(16);
/// Unpaid invoices are polled once a day.
const PAST_THE_NEXT_POLL: Duration = Duration::from_hours(25);

/// A world whose proxy is a program on a machine with a clock that can be moved.
struct MovableWorld {
    world: World,
    machine: FaultyMachine,
    program: Program,
    ahead: SignedDuration,
}

impl MovableWorld {
    async fn start() -> Self {
        let mut world = World::start_with(WorldConfig {
            callbacks: false,
            ..WorldConfig::default()
        })
        .await;
        let (machine, program) = start_on_machine(&mut world).await;
        Self {
            world,
            machine,
            program,
            ahead: SignedDuration::ZERO,
        }
    }

    async fn polls(&self) -> usize {
        self.world.sandbox().count("GET", "/invoice").await
    }

    /// Skips this time on both clocks and waits for the next poll.
    async fn skip_to_a_poll(&mut self, time: Duration) {
        self.world.wait_for_deliveries().await;
        let before = self.polls().await;
        self.ahead += SignedDuration::try_from(time).unwrap();
        self.world.skip(time);
        self.machine.set_clock(self.ahead);
        eventually("the invoice is polled", async || {
            (self.polls().await > before).then_some(())
        })
        .await;
    }
}

/// No customer has the order open, and the gateway sends no callback.
async fn completes_on_day(day: u32) {
    let mut movable = MovableWorld::start().await;
    let checkout = movable.world.customer().open("ebook").await;
    checkout.choose("BTC").await;
    let address = checkout.address().await;
    let invoice = movable.world.sandbox().invoice_of(&address).await;
    movable.world.sandbox().pay_stuck(&invoice, "exact").await;
    checkout.wait_for("checking").await;
    movable.skip_to_a_poll(PAST_THE_END).await;
    checkout.wait_for("failed").await;
    movable.skip_to_a_poll(day * DAY).await;
    let order = movable.world.store().order(&checkout.order).await;
    assert_eq!(order["status"], "failed");
    movable.world.sandbox().raise_fee(&invoice).await;
    movable.world.sandbox().mine(3).await;
    movable.skip_to_a_poll(PAST_THE_NEXT_POLL).await;
    let world = &movable.world;
    eventually("order.paid is delivered", async || {
        let received = world.webhooks.event_types(&checkout.order);
        received.contains(&"order.paid".to_owned()).then_some(())
    })
    .await;
    let events = delivered_events(world, &checkout.order).await;
    assert_eq!(events.last().unwrap(), "order.paid", "{events:?}");
    assert_eq!(paid_event_count(world, &checkout.order).await, 1);
    assert_eq!(lines(&movable.program, "ERROR", ""), [""; 0]);
    assert_eq!(movable.program.stop().await, Some(0));
    movable.world.end().await;
}

#[tokio::test]
async fn a_failed_payment_that_completes_on_day_11_is_credited_by_the_program() {
    completes_on_day(11).await;
}

#[tokio::test]
async fn a_failed_payment_that_completes_on_day_50_is_credited_by_the_program() {
    completes_on_day(50).await;
}
