//! Behaviour of customers after an invoice is shown.

use florin_invariants::amount::{ONE, share};
use florin_sandbox::wire::Status;

use crate::customer::Customer;
use crate::invoice::Invoice;
use crate::proxy::Proxy;
use crate::timeline::Millis;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Behaviour {
    Exactly,
    MuchLess,
    SlightlyLess,
    InTwoParts,
    More,
    Twice,
    Late,
    Never,
    SecondAttempt,
    FirstAttempt,
    BothAttempts,
    TooLowFee,
    Reorganisation,
    RevertedLater,
    Leave,
    CompletedAfterWeeks,
}

const DAY: Millis = 24 * 3_600_000;

pub(crate) const BEHAVIOURS: [(u64, Behaviour); 15] = [
    (34, Behaviour::Exactly),
    (6, Behaviour::MuchLess),
    (6, Behaviour::SlightlyLess),
    (5, Behaviour::InTwoParts),
    (7, Behaviour::More),
    (4, Behaviour::Twice),
    (7, Behaviour::Late),
    (10, Behaviour::Never),
    (3, Behaviour::SecondAttempt),
    (4, Behaviour::FirstAttempt),
    (3, Behaviour::BothAttempts),
    (3, Behaviour::TooLowFee),
    (4, Behaviour::Reorganisation),
    (2, Behaviour::RevertedLater),
    (2, Behaviour::Leave),
];

impl Customer {
    pub(crate) async fn run(proxy: Proxy, slowness: i64, lasts_weeks: bool, number: usize) {
        let world = proxy.world().clone();
        let start = world.random.between(0, 150_000 * slowness);
        world.timeline.sleep(start).await;
        let Some(mut customer) = Self::open(&proxy, slowness, number).await else {
            return world.count("customers", "gave up before an order was opened");
        };
        let behaviour = if lasts_weeks && world.random.percent(50) {
            Behaviour::CompletedAfterWeeks
        } else {
            world.random.weigh(&BEHAVIOURS)
        };
        world.count("customers", format!("{behaviour:?}"));
        world.log(|| format!("customer {number}: order {} {behaviour:?}", customer.order));
        customer.act(behaviour).await;
    }

    async fn act(&mut self, behaviour: Behaviour) {
        if matches!(behaviour, Behaviour::Leave) {
            if self.world.random.percent(50) {
                self.cancel_by_store().await;
            }
            return;
        }
        let Some(first) = self.choose(None).await else {
            return;
        };
        self.wait_between(1_000, 20_000).await;
        match behaviour {
            Behaviour::Never if self.is_hosted && self.world.random.percent(60) => {
                self.cancel_and_return(&first).await;
            }
            Behaviour::Never | Behaviour::Leave => {
                if self.world.random.percent(30) {
                    self.cancel_by_store().await;
                } else if self.world.random.percent(20) {
                    let from = self.world.timeline.now() + 5_000;
                    self.override_status(&first, from, Millis::MAX, Status::Cancelled);
                }
            }
            Behaviour::Exactly => self.pay_all(&first).await,
            Behaviour::MuchLess => self.pay(&first, first.amounts[0] / 10 * 7).await,
            Behaviour::SlightlyLess => {
                let cents = i128::from(self.world.random.between(1, 80));
                let missing = share(first.amounts[0], cents * (ONE / 100), self.price, 8);
                let step = ONE / 100_000_000;
                let sent = (first.amounts[0] - missing) / step * step;
                self.pay(&first, sent.max(step)).await;
            }
            Behaviour::InTwoParts => {
                let half = first.amounts[0] / 2;
                self.pay(&first, half).await;
                self.wait_between(5_000, 60_000).await;
                self.pay(&first, first.amounts[0] - half).await;
            }
            Behaviour::More => {
                self.pay(&first, first.amounts[0] / 10 * 13).await;
                self.refund_by_store(first.amounts[0] / 10 * 3).await;
            }
            Behaviour::Twice => {
                self.pay_all(&first).await;
                self.wait_between(1_000, 90_000).await;
                self.pay_all(&first).await;
                self.refund_by_store(first.amounts[0]).await;
            }
            Behaviour::Late => {
                let left = first.expires_at - self.world.timeline.now();
                self.world.timeline.sleep(left).await;
                self.wait_between(1_000, 120_000).await;
                self.pay_all(&first).await;
            }
            Behaviour::SecondAttempt | Behaviour::FirstAttempt | Behaviour::BothAttempts => {
                let other = self.choose(Some(first.asset.code)).await;
                self.wait_between(1_000, 30_000).await;
                if !matches!(behaviour, Behaviour::SecondAttempt) {
                    self.pay_all(&first).await;
                }
                if let (Some(other), false) = (other, matches!(behaviour, Behaviour::FirstAttempt))
                {
                    self.pay_all(&other).await;
                }
            }
            Behaviour::TooLowFee => {
                let now = self.world.timeline.now();
                let until = now + self.world.random.between(30_000, 180_000) * self.slowness;
                self.send_money(&first, first.amounts[0], Some(until), true)
                    .await;
                self.override_status(&first, until - 15_000, until, Status::Failed);
            }
            Behaviour::CompletedAfterWeeks => return self.pay_and_wait_for_weeks(&first).await,
            Behaviour::Reorganisation => self.pay_through_reorganisation(&first).await,
            Behaviour::RevertedLater => {
                self.pay_all(&first).await;
                let pause = self.world.random.between(20_000, 120_000);
                self.world.gateway.change(&first.id, |invoice| {
                    if let Some(payment) = invoice.payments.last() {
                        let from = payment.confirmed_at[2] + pause;
                        invoice.overrides.push((from, Millis::MAX, Status::Failed));
                    }
                });
            }
        }
        self.reload_repeatedly().await;
    }

    fn override_status(&self, invoice: &Invoice, from: Millis, to: Millis, status: Status) {
        let gateway = &self.world.gateway;
        gateway.change(&invoice.id, |it| it.overrides.push((from, to, status)));
    }

    /// The gateway reports the payment as failed, and completes it on day 11 or 50 without a callback.
    async fn pay_and_wait_for_weeks(&mut self, first: &Invoice) {
        let begin = self.world.timeline.now();
        let until = begin + self.world.random.pick(&[11, 50]) * DAY;
        self.send_money(first, first.amounts[0], Some(until), false)
            .await;
        self.override_status(first, begin + 60_000, until, Status::Failed);
    }

    async fn cancel_and_return(&mut self, first: &Invoice) {
        let now = self.world.timeline.now();
        self.override_status(first, now, Millis::MAX, Status::Cancelled);
        self.world.count("actions of customers", "closed the page");
        self.wait_between(60_000, 150_000).await;
        if let Some(second) = self.open_hosted_page().await
            && second.id != first.id
        {
            let what = "returned to a new page";
            self.world.count("actions of customers", what);
            self.pay_all(&second).await;
        }
    }

    /// Pays; the second block is lost in a reorganisation and mined again later with the payment.
    async fn pay_through_reorganisation(&mut self, invoice: &Invoice) {
        self.pay_all(invoice).await;
        let lasts = self.world.random.between(5_000, 40_000);
        self.world.gateway.change(&invoice.id, |invoice| {
            if let Some(payment) = invoice.payments.last_mut() {
                let [first, second, third] = payment.confirmed_at;
                payment.gone = Some((second, second + lasts));
                payment.confirmed_at = [first, second + lasts, third + 2 * lasts];
            }
        });
    }
}
