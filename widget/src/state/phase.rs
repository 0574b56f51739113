//! The screen of an order.

use florin_checkout_api::{AttemptView, FailureReason, Flow, OrderView, Status};

/// What the customer is to do or to wait for. Screens are functions of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The order has not arrived yet.
    Loading,
    /// The order is beyond the asset choice, and the screens for that are not loaded yet.
    LoadingPayment,
    /// Loading failed; only a retry helps.
    Error,
    /// Name the amount of a donation.
    EnterAmount,
    /// Pay on the gateway's own page.
    Hosted,
    /// Pick an asset.
    Choosing,
    /// Send the amount to the address.
    Paying,
    /// The customer says it is sent: wait for it to be seen.
    Checking,
    /// It was seen: wait for blocks.
    Processing,
    /// Done.
    Paid,
    /// Done, and more than enough was sent.
    Overpaid,
    /// Less than the price has arrived, confirmed or not: send the rest.
    Underpaid,
    /// The payment did not go through.
    Failed,
    /// The gateway gave up waiting: no payment was seen.
    NotReceived,
    /// The order was cancelled.
    Cancelled,
    /// Time ran out before anything arrived.
    Expired,
    /// The invoice did not pass the proxy's checks, or the gateway changed its address.
    Blocked,
}

impl Phase {
    /// The phase of an order, or of an offer while there is none. `choosing`: the customer asked for another asset, which
    /// counts as long as the order can take one. `stopped`: loading the order failed for good, or before there was one to
    /// show.
    pub fn of(order: Option<&OrderView>, has_offer: bool, choosing: bool, stopped: bool) -> Self {
        if stopped {
            return Self::Error;
        }
        let Some(order) = order else {
            return if has_offer {
                Self::Choosing
            } else {
                Self::Loading
            };
        };
        if choosing && order.can_open_attempt && !order.status.is_settled() {
            return Self::Choosing;
        }
        if order.flow == Flow::Hosted {
            match order.status {
                Status::Open | Status::AwaitingPayment => return Self::Hosted,
                // "I've sent it" is not needed here: a payment was seen.
                Status::Checking => return Self::Processing,
                _ => {}
            }
        }
        let is_partly = order.attempt.as_ref().is_some_and(is_partly_paid);
        match order.status {
            Status::AwaitingPayment | Status::Checking | Status::Processing if is_partly => {
                Self::Underpaid
            }
            Status::Open => Self::Choosing,
            Status::AwaitingPayment if order.attempt.is_some() => Self::Paying,
            // Seen without a block yet: found, and nothing more to send.
            Status::Checking if is_seen(order) => Self::Processing,
            Status::AwaitingPayment | Status::Checking => Self::Checking,
            Status::Processing => Self::Processing,
            Status::Paid => Self::Paid,
            Status::Overpaid => Self::Overpaid,
            Status::Underpaid => Self::Underpaid,
            Status::Failed if order.failure_reason == Some(FailureReason::NothingReceived) => {
                Self::NotReceived
            }
            Status::Failed => Self::Failed,
            Status::Cancelled => Self::Cancelled,
            Status::Expired => Self::Expired,
            Status::Blocked => Self::Blocked,
        }
    }

    /// Returns `true` if its screen is shown before an asset is chosen; all others are loaded later.
    pub fn is_first(self) -> bool {
        matches!(
            self,
            Self::Loading | Self::LoadingPayment | Self::Error | Self::EnterAmount | Self::Choosing
        )
    }
}

fn is_seen(order: &OrderView) -> bool {
    let attempt = order.attempt.as_ref();
    attempt.is_some_and(|attempt| attempt.confirmations.is_some())
}

/// Returns `true` if a part has arrived: the full amount must not be sent again.
pub fn is_partly_paid(attempt: &AttemptView) -> bool {
    has_received(attempt) && is_above_zero(attempt.remaining_in_crypto.as_str())
}

/// Returns `true` if something has arrived.
pub fn has_received(attempt: &AttemptView) -> bool {
    is_above_zero(attempt.received_in_crypto.as_str())
}

fn is_above_zero(amount: &str) -> bool {
    amount.bytes().any(|b| matches!(b, b'1'..=b'9'))
}

#[cfg(test)]
mod tests {
    use florin_checkout_api::Confirmations;
    use florin_money::AmountText;
    use serde_json::Value;
    use strum::VariantArray as _;

    use super::*;

    fn gallery() -> Value {
        serde_json::from_str(include_str!("../../gallery/states.json")).unwrap()
    }

    fn attempt(received: &str, remaining: &str) -> AttemptView {
        let amount = |text| AmountText::parse(text).unwrap();
        let attempt: AttemptView = serde_json::from_value(gallery()["attempt"].take()).unwrap();
        AttemptView {
            expires_in_seconds: 0,
            received_in_crypto: amount(received),
            remaining_in_crypto: amount(remaining),
            ..attempt
        }
    }

    fn order(status: Status) -> OrderView {
        let order: OrderView = serde_json::from_value(gallery()["order"].take()).unwrap();
        OrderView {
            status,
            attempt: Some(attempt("0", "0.5")),
            ..order
        }
    }

    /// Of an order that its customer does not leave for another asset.
    fn phase(order: &OrderView) -> Phase {
        Phase::of(Some(order), true, false, false)
    }

    #[test]
    fn the_rest_of_a_payment_is_one_screen_from_the_first_part_on() {
        use Status as S;
        for status in [S::AwaitingPayment, S::Checking, S::Processing, S::Underpaid] {
            let part = OrderView {
                attempt: Some(attempt("0.2", "0.3")),
                ..order(status)
            };
            assert_eq!(phase(&part), Phase::Underpaid, "{status:?}");
        }
    }

    #[test]
    fn a_countdown_at_zero_does_not_end_a_payment() {
        let order = order(Status::AwaitingPayment);
        assert_eq!(order.attempt.as_ref().unwrap().expires_in_seconds, 0);
        assert_eq!(phase(&order), Phase::Paying);
    }

    #[test]
    fn every_status_has_its_phase() {
        let phases: Vec<Phase> = Status::VARIANTS
            .iter()
            .map(|status| phase(&order(*status)))
            .collect();
        let expected = [
            Phase::Choosing,
            Phase::Paying,
            Phase::Checking,
            Phase::Processing,
            Phase::Paid,
            Phase::Overpaid,
            Phase::Underpaid,
            Phase::Failed,
            Phase::Cancelled,
            Phase::Expired,
            Phase::Blocked,
        ];
        assert_eq!(phases, expected);
    }

    #[test]
    fn another_asset_can_be_chosen_while_the_order_takes_one() {
        let mut order = order(Status::AwaitingPayment);
        assert_eq!(Phase::of(Some(&order), true, true, false), Phase::Choosing);
        order.can_open_attempt = false;
        assert_eq!(Phase::of(Some(&order), true, true, false), Phase::Paying);
    }

    #[test]
    fn a_settled_order_offers_no_choice() {
        assert_eq!(
            Phase::of(Some(&order(Status::Paid)), true, true, false),
            Phase::Paid
        );
    }

    #[test]
    fn without_an_order_the_page_loads_until_it_is_stopped() {
        assert_eq!(Phase::of(None, false, false, false), Phase::Loading);
        assert_eq!(Phase::of(None, true, false, false), Phase::Choosing);
        assert_eq!(Phase::of(None, true, false, true), Phase::Error);
    }

    #[test]
    fn an_address_that_was_never_shown_is_not_waited_for() {
        let mut order = order(Status::AwaitingPayment);
        order.attempt = None;
        assert_eq!(phase(&order), Phase::Checking);
    }

    #[test]
    fn partly_paid_means_something_came_and_something_lacks() {
        assert!(is_partly_paid(&attempt("0.2", "0.3")));
        assert!(!is_partly_paid(&attempt("0.00", "0.5")));
        assert!(!is_partly_paid(&attempt("0.5", "0")));
    }

    #[test]
    fn a_failure_without_any_payment_is_a_separate_phase() {
        let mut failed = order(Status::Failed);
        failed.failure_reason = Some(FailureReason::NotCompleted);
        assert_eq!(phase(&failed), Phase::Failed);
        failed.failure_reason = Some(FailureReason::NothingReceived);
        assert_eq!(phase(&failed), Phase::NotReceived);
    }

    #[test]
    fn a_payment_that_was_seen_is_found_before_its_first_block() {
        let mut order = order(Status::Checking);
        assert_eq!(phase(&order), Phase::Checking);
        let attempt = order.attempt.as_mut().unwrap();
        attempt.confirmations = Some(Confirmations {
            count: 0,
            required: 3,
        });
        assert_eq!(phase(&order), Phase::Processing);
    }

    #[test]
    fn a_hosted_order_is_paid_elsewhere_until_money_is_seen() {
        let hosted = |status| OrderView {
            flow: Flow::Hosted,
            attempt: None,
            ..order(status)
        };
        for (status, expected) in [
            (Status::Open, Phase::Hosted),
            (Status::AwaitingPayment, Phase::Hosted),
            (Status::Checking, Phase::Processing),
            (Status::Processing, Phase::Processing),
            (Status::Underpaid, Phase::Underpaid),
            (Status::Paid, Phase::Paid),
            (Status::Cancelled, Phase::Cancelled),
            (Status::Expired, Phase::Expired),
        ] {
            assert_eq!(phase(&hosted(status)), expected, "{status:?}");
        }
    }
}
