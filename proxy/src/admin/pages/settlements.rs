//! The credits of a day: by asset and currency, and each order as CSV.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderName, header};
use axum::response::IntoResponse;
use florin_checkout_api::is_obeyed;
use florin_money::Amount;
use florin_storage::{SettledOrder, StoreScope};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use maud::{Markup, html};
use serde::Deserialize;

use crate::admin::pages::{self, Viewer};
use crate::admin::{OperatorError, PageError};
use crate::state::AppState;

/// Rows that one read takes.
const BATCH: u32 = 1_000;
/// Orders of a day that are summed and exported. A day with more is exported from the database.
const MOST: usize = 100_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DayQuery {
    /// As `2026-11-23`; today if it is missing.
    day: Option<String>,
}

struct Day {
    date: Date,
    from: Timestamp,
    until: Timestamp,
}

impl Day {
    fn of(query: &DayQuery, now: Timestamp) -> Result<Self, OperatorError> {
        let date = match query.day.as_deref().filter(|day| !day.is_empty()) {
            None => now.to_zoned(TimeZone::UTC).date(),
            Some(text) => {
                let date = text.parse::<Date>();
                date.map_err(|_| OperatorError::invalid("day", "write a day like 2026-11-23"))?
            }
        };
        let begin = |date: Date| date.to_zoned(TimeZone::UTC).map(|begin| begin.timestamp());
        let out_of_range = |_| OperatorError::invalid("day", "the day is out of range");
        let tomorrow = date.checked_add(1.day()).map_err(out_of_range)?;
        Ok(Self {
            date,
            from: begin(date).map_err(out_of_range)?,
            until: begin(tomorrow).map_err(out_of_range)?,
        })
    }
}

async fn settled(
    app: &AppState,
    scope: &StoreScope,
    day: &Day,
) -> Result<Vec<SettledOrder>, OperatorError> {
    let mut all: Vec<SettledOrder> = Vec::new();
    loop {
        let storage = &app.storage;
        let (from, until) = (day.from, day.until);
        let page = storage
            .settled_orders(scope, from, until, all.last(), BATCH)
            .await?;
        let is_full = page.len() == BATCH as usize;
        all.extend(page);
        if !is_full || all.len() >= MOST {
            return Ok(all);
        }
    }
}

#[derive(Default)]
struct Total {
    orders: u64,
    accepted: u64,
    received: Option<Amount>,
    amount: Option<Amount>,
}

impl Total {
    fn add(&mut self, order: &SettledOrder) -> Result<(), OperatorError> {
        let sum = |total: Option<Amount>, more: Amount| {
            let sum = total.unwrap_or(Amount::ZERO).checked_add(more);
            sum.map_err(|error| OperatorError::invalid("day", &error))
        };
        self.orders += 1;
        self.accepted += u64::from(order.decision.is_some());
        self.received = Some(sum(self.received, order.received_crypto)?);
        self.amount = Some(sum(self.amount, order.amount)?);
        Ok(())
    }
}

pub(crate) async fn page(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    query: Result<Query<DayQuery>, QueryRejection>,
) -> Result<Markup, PageError> {
    let Query(query) = query?;
    let day = Day::of(&query, app.now())?;
    let orders = settled(&app, viewer.scope(), &day).await?;
    let mut totals: BTreeMap<(String, String, String), Total> = BTreeMap::new();
    for order in &orders {
        let key = (
            order.store_id.to_string(),
            asset(order),
            order.currency.to_string(),
        );
        totals.entry(key).or_default().add(order)?;
    }
    let date = day.date.to_string();
    let content = html! {
        form.search method="get" action={ (viewer.base()) "/settlements" } {
            div {
                label for="day" { "Day, UTC" }
                input #day type="date" name="day" value=(date);
            }
            button type="submit" { "Show" }
            p.pages { a href={ (viewer.base()) "/settlements.csv?day=" (date) } download { "Download as CSV" } }
        }
        @if orders.len() >= MOST {
            p.notice.bad { "Only the first " (orders.len()) " orders of the day are summed." }
        }
        @if totals.is_empty() {
            p.notice { "No order was credited on this day." }
        } @else {
            table.list {
                (pages::head(&["Store", "Asset", "Orders", "Received", "Credited"], &["Orders", "Received", "Credited"]))
                tbody {
                    @for ((store, asset, currency), total) in &totals {
                        tr {
                            th scope="row" data-label="Store" { (store) }
                            td data-label="Asset" { (asset) }
                            td.number data-label="Orders" {
                                (total.orders)
                                @if total.accepted > 0 { span.muted.sub { (total.accepted) " by a decision" } }
                            }
                            td.number data-label="Received" { (text(total.received)) " " (asset) }
                            td.number data-label="Credited" { (text(total.amount)) " " (currency) }
                        }
                    }
                }
            }
        }
    };
    Ok(pages::page(
        &viewer,
        "/settlements",
        "Settlements",
        &content,
    ))
}

fn asset(order: &SettledOrder) -> String {
    let asset = order.crypto_code.as_ref();
    asset.map_or("–".to_owned(), ToString::to_string)
}

fn text(amount: Option<Amount>) -> String {
    amount.unwrap_or(Amount::ZERO).to_string()
}

/// GET /settlements.csv: each order of the day.
pub(crate) async fn csv(
    State(app): State<Arc<AppState>>,
    Extension(viewer): Extension<Viewer>,
    query: Result<Query<DayQuery>, QueryRejection>,
) -> Result<impl IntoResponse, PageError> {
    let Query(query) = query?;
    let day = Day::of(&query, app.now())?;
    let orders = settled(&app, viewer.scope(), &day).await?;
    let mut lines = String::from(
        "credited_at,store,order,reference,amount,currency,crypto_code,received_in_crypto,credited_by\r\n",
    );
    for order in &orders {
        let by = match order.decision {
            Some(_) => "decision",
            None => "gateway",
        };
        let fields = [
            order.credited_at.to_string(),
            order.store_id.to_string(),
            order.order_id.to_string(),
            order.reference.to_string(),
            order.amount.to_string(),
            order.currency.to_string(),
            order
                .crypto_code
                .as_ref()
                .map_or(String::new(), ToString::to_string),
            order.received_crypto.to_string(),
            by.to_owned(),
        ];
        lines.push_str(&fields.map(|text| field(&text)).join(","));
        lines.push_str("\r\n");
    }
    let name = format!("attachment; filename=\"florin-{}.csv\"", day.date);
    let headers: [(HeaderName, String); 2] = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, lines))
}

/// A field. A store chooses its references: one that a spreadsheet would compute is made a text, and what a reader would not
/// see is replaced. Source: OWASP, "CSV Injection" (2025), which names the full-width forms too.
fn field(text: &str) -> String {
    let visible = |c| {
        if is_obeyed(c) {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    let mut text: String = text.chars().map(visible).collect();
    let is_formula = (text.trim_start()).starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if is_formula || text.starts_with(char::REPLACEMENT_CHARACTER) {
        text.insert(0, '\'');
    }
    // Some spreadsheets split at semicolons.
    if text.contains(['"', ',', ';']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_quoted_and_never_a_formula() {
        assert_eq!(field("r-1"), "r-1");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        for formula in ["-1-1", "=1", "+1", "@a", " =1", "＝1"] {
            assert_eq!(field(formula), format!("'{formula}"));
        }
        assert_eq!(field("\t=1"), "'\u{fffd}=1");
        assert_eq!(field("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(field("a;=1"), "\"a;=1\"");
    }
}
