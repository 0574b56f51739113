//! GET /settlements: the totals of a store, and the first lines; or all of them as CSV.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use florin_orders::StoreId;
use florin_storage::StoreScope;
use maud::{Markup, html};

use crate::admin::pages::{self, Viewer};
use crate::admin::{OperatorError, PageError};
use crate::settlements::{Period, SettlementsQuery, Total};
use crate::state::AppState;

/// Lines of the page.
const SHOWN: u32 = 100;

/// The store of staff; for operators the one that is asked for, or the first one.
fn store(
    app: &AppState,
    viewer: &Viewer,
    query: &SettlementsQuery,
) -> Result<StoreId, OperatorError> {
    if let StoreScope::Store(own) = viewer.scope() {
        return Ok(own.clone());
    }
    if let Some(id) = query.store.as_deref() {
        return StoreId::parse(id).map_err(|error| OperatorError::invalid("store", &error));
    }
    let first = app.config().stores.first().map(|store| store.id.clone());
    first.ok_or(OperatorError::NotFound("store"))
}

pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    query: Result<Query<SettlementsQuery>, QueryRejection>,
) -> Result<Response, PageError> {
    let query = query?.0.without_empty();
    let store = store(&app, &viewer, &query)?;
    let period = Period::of(&app, store.clone(), &query)?;
    if query.is_csv() {
        return Ok(period.csv(&app).await?);
    }
    let report = period.report(&app, None, SHOWN).await?;
    let (base, from, to) = (viewer.base(), period.from, period.to);
    let config = app.config();
    let content = html! {
        form.search method="get" action={ (base) "/settlements" } {
            @if viewer.sees_all() {
                div {
                    label for="store" { "Store" }
                    select #store name="store" {
                        @for known in viewer.stores(&config) {
                            option value=(known.id) selected[known.id == store] { (known.id) }
                        }
                    }
                }
            }
            div { label for="from" { "From" } input #from type="date" name="from" value=(from); }
            div { label for="to" { "To" } input #to type="date" name="to" value=(to); }
            button type="submit" { "Show" }
            p.pages {
                a href={ (base) "/settlements?format=csv&store=" (store) "&from=" (from) "&to=" (to) } download { "Download as CSV" }
                span.muted { " Days of " (report.time_zone) }
            }
        }
        @if report.lines.is_empty() {
            p.notice { "Nothing was credited or refunded on these days." }
        } @else {
            (totals("Asset", report.totals.as_deref(), |amount, _| amount.to_owned()))
            (totals("Currency", report.currencies.as_deref(), pages::signed_money))
            table.list {
                (pages::head(&["Order", "What", "Price", "Amount", "When"], &["Price", "Amount"]))
                tbody {
                    @for line in &report.lines {
                        tr {
                            th scope="row" data-label="Order" {
                                a href={ (base) "/orders/" (line.order) } { (pages::id(&line.reference)) }
                                span.muted.sub { (line.title) }
                            }
                            td data-label="What" { (line.kind) }
                            td.number data-label="Price" { (pages::signed_money(&line.amount, &line.currency)) }
                            td.number data-label="Amount" {
                                (line.amount_in_crypto) " " (line.asset)
                                span.muted.sub { (line.network) }
                            }
                            td data-label="When" { (line.at_there.replace('T', " ")) }
                        }
                    }
                }
            }
            @if report.next.is_some() {
                p.notice { "These are the first " (SHOWN) " lines. The totals and the download have all." }
            }
        }
    };
    let page = pages::page(&viewer, "/settlements", "Settlements", &content);
    Ok(page.into_response())
}

/// `shown`: an amount of a row as people read it, of the amount and the row's name.
fn totals(of: &str, totals: Option<&[Total]>, shown: fn(&str, &str) -> String) -> Markup {
    html! {
        table.list {
            (pages::head(&[of, "Payments", "Received", "Refunded", "Net"], &["Payments", "Received", "Refunded", "Net"]))
            tbody {
                @for total in totals.unwrap_or_default() {
                    tr {
                        th scope="row" data-label=(of) {
                            (total.name) @if !total.network.is_empty() { span.muted.sub { (total.network) } }
                        }
                        td.number data-label="Payments" { (total.payments) }
                        td.number data-label="Received" { (shown(&total.received.to_string(), &total.name)) }
                        td.number data-label="Refunded" { (shown(&total.refunded.to_string(), &total.name)) }
                        td.number data-label="Net" { (shown(&total.net, &total.name)) }
                    }
                }
            }
        }
    }
}
