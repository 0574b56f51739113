//! What customers do once they are shown how to pay.

use crate::customer::Customer;
use crate::decimal::{ONE, share};
use crate::invoice::Invoice;
use crate::timeline::Millis;

/// What a customer does once an invoice is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    Exactly,
    MuchLess,
    ALittleLess,
    InTwoParts,
    More,
    Twice,
    Late,
    Never,
    OnTheOtherAsset,
    OnTheFirstAsset,
    OnBothAssets,
    WithTooLowAFee,
    ThroughAReorganisation,
    TakenBackLater,
    LeavesAtOnce,
}

pub(crate) const MANNERS: [(u64, Manner); 15] = [
    (34, Manner::Exactly),
    (6, Manner::MuchLess),
    (6, Manner::ALittleLess),
    (5, Manner::InTwoParts),
    (7, Manner::More),
    (4, Manner::Twice),
    (7, Manner::Late),
    (10, Manner::Never),
    (3, Manner::OnTheOtherAsset),
    (4, Manner::OnTheFirstAsset),
    (3, Manner::OnBothAssets),
    (3, Manner::WithTooLowAFee),
    (4, Manner::ThroughAReorganisation),
    (2, Manner::TakenBackLater),
    (2, Manner::LeavesAtOnce),
];

impl Customer {
    pub(crate) async fn acts(&mut self, manner: Manner) {
        if matches!(manner, Manner::LeavesAtOnce) {
            if self.world.chance.percent(50) {
                self.is_cancelled_by_the_store().await;
            }
            return;
        }
        let Some(first) = self.chooses(None).await else {
            return;
        };
        self.waits(1_000, 20_000).await;
        match manner {
            Manner::Never if self.is_hosted && self.world.chance.percent(60) => {
                self.closes_the_page_and_comes_back(&first).await;
            }
            Manner::Never | Manner::LeavesAtOnce => {
                if self.world.chance.percent(30) {
                    self.is_cancelled_by_the_store().await;
                } else if self.world.chance.percent(20) {
                    let now = self.world.timeline.now();
                    let says = (now + 5_000, Millis::MAX, "CANCELLED");
                    self.world
                        .service
                        .change(&first.id, |invoice| invoice.says.push(says));
                }
            }
            Manner::Exactly => self.pays(&first, first.asked[0], None).await,
            Manner::MuchLess => {
                self.pays(&first, first.asked[0] / 10 * 7, None).await;
            }
            Manner::ALittleLess => {
                let cents = i128::from(self.world.chance.between(1, 80));
                let missing = share(first.asked[0], cents * (ONE / 100), self.price, 8);
                let step = ONE / 100_000_000;
                let sent = (first.asked[0] - missing) / step * step;
                self.pays(&first, sent.max(step), None).await;
            }
            Manner::InTwoParts => {
                let half = first.asked[0] / 2;
                self.pays(&first, half, None).await;
                self.waits(5_000, 60_000).await;
                self.pays(&first, first.asked[0] - half, None).await;
            }
            Manner::More => {
                self.pays(&first, first.asked[0] / 10 * 13, None).await;
            }
            Manner::Twice => {
                self.pays(&first, first.asked[0], None).await;
                self.waits(1_000, 90_000).await;
                self.pays(&first, first.asked[0], None).await;
            }
            Manner::Late => {
                let left = first.expires_at - self.world.timeline.now();
                self.world.timeline.sleep(left).await;
                self.waits(1_000, 120_000).await;
                self.pays(&first, first.asked[0], None).await;
            }
            Manner::OnTheOtherAsset | Manner::OnTheFirstAsset | Manner::OnBothAssets => {
                let other = self.chooses(Some(first.coin.code)).await;
                self.waits(1_000, 30_000).await;
                if !matches!(manner, Manner::OnTheOtherAsset) {
                    self.pays(&first, first.asked[0], None).await;
                }
                if let (Some(other), false) = (other, matches!(manner, Manner::OnTheFirstAsset)) {
                    self.pays(&other, other.asked[0], None).await;
                }
            }
            Manner::WithTooLowAFee => {
                let until = self.world.timeline.now()
                    + self.world.chance.between(30_000, 180_000) * self.slowness;
                self.pays(&first, first.asked[0], Some(until)).await;
                let stuck = (until - 15_000, until, "FAILED");
                self.world
                    .service
                    .change(&first.id, |invoice| invoice.says.push(stuck));
            }
            Manner::ThroughAReorganisation => self.pays_through_a_reorganisation(&first).await,
            Manner::TakenBackLater => {
                self.pays(&first, first.asked[0], None).await;
                let pause = self.world.chance.between(20_000, 120_000);
                self.world.service.change(&first.id, |invoice| {
                    if let Some(payment) = invoice.payments.last() {
                        let from = payment.confirmed_at[2] + pause;
                        invoice.says.push((from, Millis::MAX, "FAILED"));
                    }
                });
            }
        }
        self.looks_now_and_then().await;
    }

    /// Cancels on the service's page, thinks again, and pays in another session.
    async fn closes_the_page_and_comes_back(&mut self, first: &Invoice) {
        let now = self.world.timeline.now();
        let says = (now, Millis::MAX, "CANCELLED");
        self.world
            .service
            .change(&first.id, |invoice| invoice.says.push(says));
        self.world.tally.one("customers' doings", "closed the page");
        self.waits(60_000, 150_000).await;
        if let Some(second) = self.goes_to_the_page().await
            && second.id != first.id
        {
            self.world
                .tally
                .one("customers' doings", "came back to a new page");
            self.pays(&second, second.asked[0], None).await;
        }
    }

    /// The second block is thrown out, and found again later with the payment in it.
    async fn pays_through_a_reorganisation(&mut self, invoice: &Invoice) {
        self.pays(invoice, invoice.asked[0], None).await;
        let chance = &self.world.chance;
        let lasts = chance.between(5_000, 40_000);
        self.world.service.change(&invoice.id, |invoice| {
            if let Some(payment) = invoice.payments.last_mut() {
                let [first, second, third] = payment.confirmed_at;
                payment.gone = Some((second, second + lasts));
                payment.confirmed_at = [first, second + lasts, third + 2 * lasts];
            }
        });
    }
}
