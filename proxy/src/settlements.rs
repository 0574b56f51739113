//! The settlements of a store: what came and what went back in days of its time zone, with totals, as JSON and as CSV.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use florin_checkout_api::is_obeyed;
use florin_money::{Amount, Asset};
use florin_orders::StoreId;
use florin_storage::{Settlement, SettlementKind, StorageError, StoreScope};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::state::AppState;

const BATCH: u32 = 1_000;
/// Lines of a period that are summed, and bytes of its CSV.
const MOST_LINES: usize = 100_000;
const MOST_BYTES: usize = 24 * 1024 * 1024;
const DEFAULT_PAGE: u32 = 20;
const MAX_PAGE: u32 = 100;

/// Which days: `day`, `month`, or `from` and `to`; today when all are absent.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettlementsQuery {
    /// For operators alone: a store's key names the store.
    #[schemars(skip)]
    pub(crate) store: Option<String>,
    /// A day, like `2026-11-23`, in the store's `time_zone`.
    #[schemars(extend("format" = "date"))]
    day: Option<String>,
    /// A month, like `2026-11`.
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}$"))]
    month: Option<String>,
    /// The first day.
    #[schemars(extend("format" = "date"))]
    from: Option<String>,
    /// The last day.
    #[schemars(extend("format" = "date"))]
    to: Option<String>,
    /// `csv` for all lines as CSV, as with `Accept: text/csv`.
    #[schemars(extend("enum" = ["csv"]))]
    format: Option<String>,
    /// The `next` of the page before.
    after: Option<String>,
    /// The largest number of lines on a page; 20 when absent.
    #[schemars(range(min = 1, max = MAX_PAGE), extend("examples" = [DEFAULT_PAGE]))]
    limit: Option<u32>,
}

impl SettlementsQuery {
    /// A form sends its empty fields as well.
    pub(crate) fn without_empty(mut self) -> Self {
        let fields = [
            &mut self.store,
            &mut self.day,
            &mut self.month,
            &mut self.from,
            &mut self.to,
            &mut self.format,
            &mut self.after,
        ];
        for field in fields {
            field.take_if(|text| text.is_empty());
        }
        self
    }

    pub(crate) fn is_csv(&self) -> bool {
        self.format.as_deref() == Some("csv")
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    #[error("{0}: {1}")]
    Query(&'static str, &'static str),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

const TOO_LARGE: ReportError = ReportError::Query(
    "from",
    "there is more than one report takes: choose fewer days",
);

pub(crate) struct Period {
    store: StoreId,
    pub(crate) from: Date,
    pub(crate) to: Date,
    pub(crate) zone: TimeZone,
    bounds: (Timestamp, Timestamp),
}

type Days = (Date, Date, (Timestamp, Timestamp));

fn days(zone: &TimeZone, query: &SettlementsQuery, now: Timestamp) -> Result<Days, ReportError> {
    let day = |field, text: &str| {
        let day = text.parse::<Date>();
        day.map_err(|_| ReportError::Query(field, "write a day like 2026-11-23"))
    };
    let asked = [&query.day, &query.month, &query.from, &query.to];
    let (from, to) = match asked.map(|text| text.as_deref()) {
        [None, None, None, None] => {
            let today = now.to_zoned(zone.clone()).date();
            (today, today)
        }
        [Some(text), None, None, None] => (day("day", text)?, day("day", text)?),
        [None, Some(text), None, None] => {
            let first = format!("{text}-01").parse::<Date>();
            let first =
                first.map_err(|_| ReportError::Query("month", "write a month like 2026-11"))?;
            (first, first.last_of_month())
        }
        [None, None, Some(from), Some(to)] => (day("from", from)?, day("to", to)?),
        _ => {
            let message = "name a day, a month, or both from and to";
            return Err(ReportError::Query("from", message));
        }
    };
    if to < from {
        return Err(ReportError::Query("to", "it is before from"));
    }
    let begin = |day: Date| day.to_zoned(zone.clone()).map(|begin| begin.timestamp());
    let bounds = begin(from).and_then(|first| Ok((first, begin(to.tomorrow()?)?)));
    let bounds = bounds.map_err(|_| ReportError::Query("to", "the day is out of range"))?;
    Ok((from, to, bounds))
}

impl Period {
    pub(crate) fn of(
        app: &AppState,
        store: StoreId,
        query: &SettlementsQuery,
    ) -> Result<Self, ReportError> {
        let config = app.config();
        // Of a store that was removed, in UTC.
        let zone = (config.store(&store)).map_or(TimeZone::UTC, |store| store.time_zone.clone());
        let (from, to, bounds) = days(&zone, query, app.now())?;
        Ok(Self {
            store,
            from,
            to,
            zone,
            bounds,
        })
    }

    /// Takes each line behind `after`, the first one first; of a later page, one batch alone.
    async fn each(
        &self,
        app: &AppState,
        after: Option<(Timestamp, String)>,
        mut take: impl FnMut(&Settlement) -> Result<(), ReportError> + Send,
    ) -> Result<(), ReportError> {
        let scope = StoreScope::Store(self.store.clone());
        let ((from, until), is_later) = (self.bounds, after.is_some());
        let (mut last, mut count) = (after, 0);
        loop {
            let behind = last.as_ref().map(|(at, id)| (*at, id.as_str()));
            let page = app.storage.settlements(&scope, from, until, behind, BATCH);
            let page = page.await?;
            count += page.len();
            if count > MOST_LINES {
                return Err(TOO_LARGE);
            }
            page.iter().try_for_each(&mut take)?;
            match page.last() {
                Some(line) if page.len() == BATCH as usize && !is_later => {
                    last = Some((line.at, line.id.clone()));
                }
                _ => return Ok(()),
            }
        }
    }

    /// The lines of a page, and the totals on the first one.
    pub(crate) async fn report(
        &self,
        app: &AppState,
        after: Option<(Timestamp, String)>,
        limit: u32,
    ) -> Result<Settlements, ReportError> {
        let (mut lines, mut next, mut count) = (Vec::new(), None, 0);
        let (mut totals, mut currencies) = (Totals::new(), Totals::new());
        let is_first = after.is_none();
        self.each(app, after, |settlement| {
            let line = Line::of(settlement, &self.zone);
            let names = (line.asset.clone(), line.network.clone());
            add(&mut totals, names, settlement, settlement.amount_in_crypto)?;
            if settlement.kind != SettlementKind::Uncredited {
                let names = (line.currency.clone(), String::new());
                add(&mut currencies, names, settlement, settlement.amount)?;
            }
            count += 1;
            if count <= limit {
                lines.push(line);
                next = Some(place(settlement));
            }
            Ok(())
        })
        .await?;
        Ok(Settlements {
            from: self.from.to_string(),
            to: self.to.to_string(),
            time_zone: self.zone.iana_name().unwrap_or("UTC").to_owned(),
            totals: is_first.then(|| totals.into_values().collect()),
            currencies: is_first.then(|| currencies.into_values().collect()),
            lines,
            next: next.filter(|_| count > limit),
        })
    }

    pub(crate) async fn csv(&self, app: &AppState) -> Result<Response, ReportError> {
        let mut csv = COLUMNS.to_owned();
        self.each(app, None, |settlement| {
            csv.push_str(&Line::of(settlement, &self.zone).csv());
            if csv.len() > MOST_BYTES {
                Err(TOO_LARGE)
            } else {
                Ok(())
            }
        })
        .await?;
        let name = format!(
            "attachment; filename=\"settlements-{}-{}.csv\"",
            self.from, self.to
        );
        let headers = [
            (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
            (header::CONTENT_DISPOSITION, name),
        ];
        Ok((headers, csv).into_response())
    }
}

/// The settlements of a period.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Settlements {
    from: String,
    to: String,
    /// That of the store: the days are its days.
    pub(crate) time_zone: String,
    /// What came and went back in each asset; on the first page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) totals: Option<Vec<Total>>,
    /// What was credited and taken back in each currency; on the first page alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) currencies: Option<Vec<Total>>,
    pub(crate) lines: Vec<Line>,
    /// What to pass as `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A sum of payments and refunds.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "SettlementTotal")]
pub(crate) struct Total {
    /// The asset or the currency.
    pub(crate) name: String,
    /// The network of the asset; empty for a currency.
    pub(crate) network: String,
    /// How many payments came.
    pub(crate) payments: u64,
    pub(crate) received: Amount,
    pub(crate) refunded: Amount,
    /// What came, less what went back: negative if payments of earlier days were refunded.
    pub(crate) net: String,
}

/// Money that came or went back. The amounts of a refund are negative.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Settlement")]
pub(crate) struct Line {
    /// `payment`, `accepted` by an operator, `uncredited` (for an order that was paid or closed) or `refund`.
    pub(crate) kind: &'static str,
    pub(crate) order: String,
    pub(crate) reference: String,
    pub(crate) title: String,
    /// What of the price was credited or taken back.
    pub(crate) amount: String,
    pub(crate) currency: String,
    /// As people call it: `USDT`.
    pub(crate) asset: String,
    pub(crate) network: String,
    pub(crate) amount_in_crypto: String,
    pub(crate) transaction: String,
    #[schemars(extend("format" = "date-time"))]
    at: String,
    /// The same in the store's zone, for the CSV and the page.
    #[serde(skip)]
    pub(crate) at_there: String,
    metadata: Map<String, Value>,
}

type Totals = BTreeMap<(String, String), Total>;

fn add(
    totals: &mut Totals,
    (name, network): (String, String),
    settlement: &Settlement,
    amount: Amount,
) -> Result<(), ReportError> {
    let total = totals
        .entry((name.clone(), network.clone()))
        .or_insert(Total {
            name,
            network,
            payments: 0,
            received: Amount::ZERO,
            refunded: Amount::ZERO,
            net: String::new(),
        });
    let part = if settlement.kind == SettlementKind::Refund {
        &mut total.refunded
    } else {
        total.payments += 1;
        &mut total.received
    };
    *part = part.checked_add(amount).map_err(|_| TOO_LARGE)?;
    let (came, back) = (total.received, total.refunded);
    let net = came.checked_sub(back).or_else(|_| back.checked_sub(came));
    total.net = signed(net.unwrap_or(Amount::ZERO), back > came);
    Ok(())
}

/// An amount as text, negative for what went back.
fn signed(amount: Amount, is_negative: bool) -> String {
    let sign = if is_negative && !amount.is_zero() {
        "-"
    } else {
        ""
    };
    format!("{sign}{amount}")
}

impl Line {
    fn of(settlement: &Settlement, zone: &TimeZone) -> Self {
        let code = settlement.crypto_code.as_ref();
        let known = code.and_then(Asset::of);
        let asset = known.map(|asset| asset.symbol().to_owned());
        let is_refund = settlement.kind == SettlementKind::Refund;
        let decimals = settlement.currency.decimals();
        let at_there = settlement.at.to_zoned(zone.clone());
        Self {
            kind: settlement.kind.into(),
            order: settlement.order_id.to_string(),
            reference: settlement.reference.to_string(),
            title: settlement.title.clone(),
            amount: signed(settlement.amount.with_min_decimals(decimals), is_refund),
            currency: settlement.currency.to_string(),
            asset: asset.or(code.map(ToString::to_string)).unwrap_or_default(),
            network: known.map_or("", Asset::network).to_owned(),
            amount_in_crypto: signed(settlement.amount_in_crypto, is_refund),
            transaction: settlement.transaction_hash.clone().unwrap_or_default(),
            at: settlement.at.to_string(),
            at_there: at_there.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            metadata: settlement.metadata.clone(),
        }
    }

    /// A line of the CSV. Amounts come from the proxy: a minus sign before one begins no formula.
    fn csv(&self) -> String {
        let metadata = Value::Object(self.metadata.clone()).to_string();
        let [order, reference, title] =
            [&self.order, &self.reference, &self.title].map(|it| field(it));
        let [asset, network, hash] =
            [&self.asset, &self.network, &self.transaction].map(|it| field(it));
        let (amount, currency, sent) = (&self.amount, &self.currency, &self.amount_in_crypto);
        let (metadata, kind, at) = (field(&metadata), self.kind, &self.at_there);
        format!(
            "{order},{reference},{title},{amount},{currency},{asset},{network},{sent},{hash},{at},{metadata},{kind}\r\n"
        )
    }
}

const COLUMNS: &str = "order,reference,title,amount,currency,asset,network,amount_in_crypto,transaction,at,metadata,kind\r\n";

fn place(settlement: &Settlement) -> String {
    format!("{}_{}", settlement.at.as_millisecond(), settlement.id)
}

/// The response to a store's server or an operator: a page as JSON, or all as CSV.
pub(crate) async fn respond(
    app: &AppState,
    period: &Period,
    query: &SettlementsQuery,
    headers: &HeaderMap,
) -> Result<Response, ReportError> {
    let accepted = headers.get(header::ACCEPT).map(HeaderValue::as_bytes);
    if query.is_csv() || accepted.is_some_and(|kind| kind.starts_with(b"text/csv")) {
        return period.csv(app).await;
    }
    if query.format.is_some() {
        return Err(ReportError::Query("format", "write csv, or leave it out"));
    }
    let limit = query.limit.unwrap_or(DEFAULT_PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(ReportError::Query("limit", "ask for 1 to 100 at once"));
    }
    let known = |text: &String| {
        let (at, id) = text.split_once('_')?;
        let at = Timestamp::from_millisecond(at.parse().ok()?).ok()?;
        Some((at, id.to_owned()))
    };
    let after = query.after.as_ref().map(known);
    if matches!(after, Some(None)) {
        return Err(ReportError::Query("after", "it is no `next` of a page"));
    }
    Ok(Json(period.report(app, after.flatten(), limit).await?).into_response())
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
        assert_eq!(field("\r=1"), "'\u{fffd}=1");
        assert_eq!(field("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(field("a;=1"), "\"a;=1\"");
    }

    #[test]
    fn days_and_months_are_those_of_the_zone_with_its_summer_time() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now = "2026-10-24T22:30:00Z".parse().unwrap();
        for (query, bounds) in [
            ("", "2026-10-24T22:00:00Z 2026-10-25T23:00:00Z"),
            (
                "day=2026-03-29",
                "2026-03-28T23:00:00Z 2026-03-29T22:00:00Z",
            ),
            ("month=2026-02", "2026-01-31T23:00:00Z 2026-02-28T23:00:00Z"),
            (
                "from=2026-01-01&to=2026-12-31",
                "2025-12-31T23:00:00Z 2026-12-31T23:00:00Z",
            ),
            ("month=13", "month"),
            ("day=x", "day"),
            ("from=2026-01-02", "from"),
            ("from=2026-01-02&to=2026-01-01", "to"),
            ("day=2026-01-01&month=2026-01", "from"),
            ("day=9999-12-31", "to"),
        ] {
            let asked = serde_urlencoded::from_str(query).unwrap();
            let found = match days(&zone, &asked, now) {
                Ok((_, _, (first, end))) => format!("{first} {end}"),
                Err(ReportError::Query(field, _)) => field.to_owned(),
                Err(error) => panic!("{error}"),
            };
            assert_eq!(found, bounds, "{query}");
        }
    }
}
