//! The form that records a refund, in an entry of the first page and on the page of an order.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::response::Redirect;
use florin_money::{Amount, Asset, CryptoCode};
use florin_orders::{Aggregate, OrderId};
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::pages::{self, Viewer};
use crate::admin::{OperatorError, PageError};
use crate::config::Role;
use crate::http::store_api::refunds::{Refund, record};
use crate::state::AppState;

/// What is owed to the customer, the address for it, and the form that records what was sent back.
pub(crate) fn refund_form(viewer: &Viewer, aggregate: &Aggregate, back: &str) -> Markup {
    let (owed, left) = (aggregate.owed(), aggregate.refundable());
    let (order, suggested) = (&aggregate.order, owed.first());
    let id = |field: &str| format!("refund-{field}-{}", order.id);
    let [amount, asset, transaction] = ["amount", "asset", "transaction"].map(id);
    html! {
        @for (of, amount) in &owed {
            p { "Owed to the customer: " strong { (amount) " " (of.map_or("of an unknown asset".to_owned(), pages::asset)) } }
        }
        @if let Some(address) = &order.refund_address {
            @let snapshot = aggregate.snapshot();
            @let of = snapshot.owed_in();
            p {
                "Refund address " (of.map_or_else(String::new, pages::asset)) " "
                (pages::on_chain(viewer, of, address, Asset::explorer_address_url))
                span.muted.sub { "Nothing proves that the address is the customer's." }
            }
        }
        @if viewer.role == Role::Write && !left.is_empty() {
            form.refund method="post" action={ (viewer.base()) "/orders/" (order.id) "/refunds" } {
                input type="hidden" name="csrf" value=(viewer.csrf);
                input type="hidden" name="version" value=(order.version);
                input type="hidden" name="back" value=(back);
                div {
                    label for=(amount) { "Amount" }
                    input id=(amount) name="amount" required inputmode="decimal" value=[suggested.map(|it| it.1)];
                }
                div {
                    label for=(asset) { "Asset" }
                    select id=(asset) name="asset" {
                        @for (code, _) in &left {
                            option value=(code) selected[suggested.is_some_and(|it| it.0 == Some(*code))] {
                                (pages::asset(code))
                            }
                        }
                    }
                }
                div {
                    label for=(transaction) { "Transaction (optional)" }
                    input id=(transaction) name="transaction";
                }
                button type="submit" { "Record the refund" }
                p.muted { "This records what you sent back. It sends nothing." }
            }
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct RefundForm {
    csrf: String,
    version: u64,
    amount: Amount,
    asset: CryptoCode,
    transaction: String,
    back: String,
}

/// POST /orders/{id}/refunds. A second press of the button records nothing.
pub(crate) async fn refund(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    form: Result<Form<RefundForm>, FormRejection>,
) -> Result<Redirect, PageError> {
    let Form(form) = form?;
    viewer.check_form(&form.csrf)?;
    let transaction = form.transaction.trim();
    let sent = Refund {
        amount_in_crypto: form.amount,
        crypto_code: Some(form.asset),
        transaction: (!transaction.is_empty()).then(|| transaction.to_owned()),
    };
    let (actor, version) = (viewer.actor.clone(), Some(form.version));
    let name = format!("version {}", form.version);
    let id = OrderId::parse(&id).map_err(|_| OperatorError::NotFound("order"))?;
    record(&app, actor, &id, sent, Some(name), version).await?;
    Ok(viewer.back_to(&form.back, &id, "#timeline"))
}
