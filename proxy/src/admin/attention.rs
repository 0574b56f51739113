//! Texts about each cause for attention: the first words, and what to do.

use florin_orders::AttentionCause;

use crate::admin::pages::viewer::Place;

pub(crate) fn title(cause: AttentionCause) -> &'static str {
    match cause {
        AttentionCause::NeedsReview => "Response needs review",
        AttentionCause::AddressChanged => "Address changed",
        AttentionCause::Blocked => "Invoice blocked",
        AttentionCause::Underpaid => "Underpaid",
        AttentionCause::EndedWithMoney => "Ended with money",
        AttentionCause::Reverted => "Credit contradicted",
        AttentionCause::LatePayment => "Paid late",
        AttentionCause::SecondPayment => "Paid twice",
    }
}

/// What it means and what to do: the sentences of docs/operations/operators-page.md.
pub(crate) fn sentence(cause: AttentionCause) -> &'static str {
    match cause {
        AttentionCause::NeedsReview => {
            "The gateway's latest response is unclear or contradicts what was requested. Nothing is credited by it. Compare both \
             columns, ask the gateway's support with the invoice id, then decide."
        }
        AttentionCause::AddressChanged => {
            "The gateway named another address than the one that the customer saw. Nothing is credited by this invoice, whatever \
             the gateway reports. Find out from the gateway which address it pays out from."
        }
        AttentionCause::Blocked => {
            "An invoice of the gateway did not pass the checks of its address or QR code. The customer saw no address and can \
             choose again. The log line \"the gateway's invoice is not shown\" has its id and the reason: report both to the \
             gateway."
        }
        AttentionCause::Underpaid => {
            "The gateway completed the payment with less than the price. Ask the customer for the rest, which is found by itself; \
             or accept what came; or refund it and close the order."
        }
        AttentionCause::EndedWithMoney => {
            "Money arrived, and then the invoice was cancelled, failed or closed. Ask the gateway where the money is, then accept \
             the order or refund the customer and close it."
        }
        AttentionCause::Reverted => {
            "The order is credited, and the gateway contradicts that now. The order stays paid. Ship nothing more before the \
             gateway has explained it."
        }
        AttentionCause::LatePayment => {
            "The payment came after the invoice had expired. It covered the amounts of that invoice and was credited; the asset may \
             be worth less by now. Close the entry once you have decided to ship."
        }
        AttentionCause::SecondPayment => {
            "More money arrived for an order that is paid or closed. Refund it or agree with the customer on what it is for, then \
             close the entry."
        }
    }
}

/// About a webhook that answered 410.
const DISABLED_WEBHOOK: &str = "The store's endpoint answered 410 Gone. Events wait, and none is lost. Ask the store, then enable \
     the webhook under Stores.";

/// The same for the store's staff.
const OWN_DISABLED_WEBHOOK: &str = "The store's endpoint answered 410 Gone. Events wait, and none is lost. Repair the endpoint, then enable the \
     webhook under Webhook.";

/// About a webhook that answered 410, for the people of a place.
pub(crate) fn disabled_webhook(place: Place) -> &'static str {
    match place {
        Place::Operator => DISABLED_WEBHOOK,
        Place::Staff => OWN_DISABLED_WEBHOOK,
    }
}

/// About an event that was given up.
pub(crate) const GIVEN_UP_EVENT: &str = "The store accepted it in none of ten tries over three days. Repair the endpoint, then redeliver.";

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn the_page_of_the_documentation_has_the_sentences() {
        let page = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../docs/operations/operators-page.md"
        );
        let page = std::fs::read_to_string(page).unwrap();
        let causes = AttentionCause::VARIANTS.iter();
        let mut rows: Vec<String> = causes
            .map(|cause| format!("| {} | {} |", title(*cause), sentence(*cause)))
            .collect();
        rows.push(format!("| Disabled webhook | {DISABLED_WEBHOOK} |"));
        rows.push(format!("| Event given up | {GIVEN_UP_EVENT} |"));
        let table = format!("| entry | sentence |\n|---|---|\n{}\n", rows.join("\n"));
        assert!(
            page.contains(&table),
            "docs/operations/operators-page.md needs this table:\n\n{table}"
        );
    }
}
