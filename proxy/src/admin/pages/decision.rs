//! The open question of an order, and the form of a decision.

use florin_orders::{Aggregate, AttentionCause, DecisionKind, OrderStatus};
use maud::{Markup, html};

use crate::admin::api::records::possible;
use crate::admin::attention;
use crate::admin::pages::viewer::{Place, Viewer};
use crate::config::Role;

pub(crate) fn causes(causes: &[AttentionCause]) -> Markup {
    html! {
        dl.causes {
            @for cause in causes {
                dt { (attention::title(*cause)) }
                dd { (attention::sentence(*cause)) }
            }
        }
    }
}

/// The form of a decision, with the reason of one that was refused; a sentence for a person who may not decide.
pub(crate) fn decision_form(
    viewer: &Viewer,
    aggregate: &Aggregate,
    back: &str,
    written: &str,
) -> Markup {
    let order = &aggregate.order;
    if viewer.role == Role::Read {
        let another = match viewer.place {
            Place::Operator => "Your role is read: another operator decides.",
            Place::Staff => "You see this order; a colleague whose link allows it decides.",
        };
        return html! { p.muted { (another) } };
    }
    let possible = possible(aggregate);
    if possible.is_empty() {
        return html! {};
    }
    let reason = format!("reason-{}", order.id);
    html! {
        form.decision method="post" action={ (viewer.base()) "/orders/" (order.id) "/decision" } {
            input type="hidden" name="csrf" value=(viewer.csrf);
            input type="hidden" name="version" value=(order.version);
            input type="hidden" name="back" value=(back);
            label for=(reason) { "Reason, for the audit log" }
            textarea id=(reason) name="reason" rows="2" required maxlength="500" { (written) }
            div.buttons {
                @for kind in &possible {
                    button class=(tone(*kind)) type="submit" name="decision" value=(<&str>::from(*kind)) {
                        (name(*kind))
                    }
                }
            }
            p.muted {
                @for kind in &possible { (effect(*kind, order.status)) " " }
            }
        }
    }
}

fn tone(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::AcceptAsPaid => "main",
        DecisionKind::KeepWaiting => "plain",
        DecisionKind::Close => "danger",
    }
}

fn name(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::AcceptAsPaid => "Accept as paid",
        DecisionKind::KeepWaiting => "Keep waiting",
        DecisionKind::Close => "Close",
    }
}

fn effect(kind: DecisionKind, status: OrderStatus) -> &'static str {
    match kind {
        DecisionKind::AcceptAsPaid => {
            "Accept as paid credits the order for good and sends order.paid."
        }
        DecisionKind::KeepWaiting => {
            "Keep waiting changes nothing and calls you again when there is news."
        }
        DecisionKind::Close if status.is_settled() => {
            "Close ends this entry; the order stays paid."
        }
        DecisionKind::Close => {
            "Close cancels the order for good and sends order.cancelled; no payment credits it any more."
        }
    }
}
