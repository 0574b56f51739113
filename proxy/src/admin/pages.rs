//! The pages of operators and of stores' staff: rendered here, and complete without their script, which shows times
//! in the browser's zone.

pub(crate) mod attention;
pub(crate) mod orders;
pub(crate) mod refunds;
pub(crate) mod settlements;
pub(crate) mod sign_in;
pub(crate) mod stores;
mod timeline;

use axum::http::header;
use axum::response::{IntoResponse, Redirect};
use florin_checkout_api::is_obeyed;
use florin_money::{Amount, Asset, CryptoCode, Currency, Network};
use florin_orders::{OrderId, OrderStatus, StoreId};
use florin_storage::{Actor, StoreScope};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Deserialize;

use crate::admin::{OperatorError, PageError};
use crate::auth::is_same;
use crate::config::{Config, Role, Store};

// The frame of every page, and the parts that several pages have.

/// The checkout's own tokens, and what these pages make of them.
const STYLE: &str = concat!(
    include_str!("../../../widget/styles/tokens.css"),
    include_str!("pages/operator.css")
);

pub(crate) async fn style() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)
}

const SCRIPT: &str = include_str!("pages/operator.js");

pub(crate) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript")], SCRIPT)
}

const OPERATOR_PAGES: [(&str, &str); 7] = [
    ("/", "Needs attention"),
    ("/orders", "Orders"),
    ("/settlements", "Settlements"),
    ("/stores", "Stores"),
    ("/gateway", "Gateway"),
    ("/audit", "Audit log"),
    ("/configuration", "Configuration"),
];

/// Pages of a store's staff: what belongs to all stores is left out.
const STAFF_PAGES: [(&str, &str); 4] = [
    ("/", "Needs attention"),
    ("/orders", "Orders"),
    ("/settlements", "Settlements"),
    ("/stores", "Webhook"),
];

fn word(place: Place) -> &'static str {
    match place {
        Place::Operator => "operator",
        Place::Staff => "staff",
    }
}

/// A page of a signed-in person. `path` is the navigation's entry to which it belongs.
pub(crate) fn page(viewer: &Viewer, path: &str, title: &str, content: &Markup) -> Markup {
    let base = viewer.base();
    let pages = match viewer.place {
        Place::Operator => &OPERATOR_PAGES[..],
        Place::Staff => &STAFF_PAGES[..],
    };
    let name = html! {
        a href={ (base) "/" } { (viewer.shop.as_deref().unwrap_or("Florin")) }
        span.muted { " " (word(viewer.place)) }
    };
    document(
        viewer.place,
        title,
        &html! {
            header.bar {
                a.skip href="#main" { "Skip to the content" }
                p.name { (name) }
                nav aria-label="Pages" {
                    ul {
                        @for (target, name) in pages {
                            li {
                                @if *target == path {
                                    a href={ (base) (target) } aria-current="page" { (name) }
                                } @else {
                                    a href={ (base) (target) } { (name) }
                                }
                            }
                        }
                    }
                }
                form.who method="post" action={ (base) "/logout" } {
                    input type="hidden" name="csrf" value=(viewer.csrf);
                    span.muted { (viewer.actor.name) }
                    button.plain type="submit" { "Sign out" }
                }
            }
            main #main tabindex="-1" {
                h1 { (title) }
                (content)
            }
        },
    )
}

pub(crate) fn outside(place: Place, title: &str, content: &Markup) -> Markup {
    document(
        place,
        title,
        &html! {
            main.alone #main {
                p.name { "Florin" span.muted { " " (word(place)) } }
                h1 { (title) }
                (content)
            }
        },
    )
}

pub(crate) fn failure(place: Place, title: &str, message: &str) -> Markup {
    let content = html! {
        p { (message) }
        p { a href={ (place.base()) "/" } { "To the first page" } }
    };
    outside(place, title, &content)
}

fn document(place: Place, title: &str, body: &Markup) -> Markup {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) " · Florin" }
                link rel="stylesheet" href={ (place.base()) "/operator.css" };
                script src={ (place.base()) "/operator.js" } defer {}
            }
            body.theme { (body) }
        }
    };
    // A title of a store could turn round the amount beside it.
    let visible = |c: char| match c {
        '\n' | '\r' | '\t' => c,
        _ if is_obeyed(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    };
    PreEscaped(page.into_string().chars().map(visible).collect())
}

/// The head of a table. Numbers are aligned to the right.
pub(crate) fn head(columns: &[&str], numbers: &[&str]) -> Markup {
    html! {
        thead {
            tr {
                @for column in columns {
                    th.number[numbers.contains(column)] scope="col" { (column) }
                }
            }
        }
    }
}

pub(crate) fn time(at: Timestamp) -> Markup {
    html! {
        time datetime=(at.strftime("%Y-%m-%dT%H:%M:%SZ")) { (at.strftime("%Y-%m-%d %H:%M:%S UTC")) }
    }
}

/// An id, address or hash on one line. The style sheet hides the middle of a long one; what is selected is the whole.
pub(crate) fn id(text: &str) -> Markup {
    let tail = text.char_indices().nth_back(5);
    let (head, tail) = text.split_at(tail.map_or(0, |(at, _)| at));
    html! { code.id title=(text) { span { (head) } (tail) } }
}

/// An address or a transaction, with its page of a block explorer, which knows main networks alone.
pub(crate) fn on_chain(
    viewer: &Viewer,
    code: Option<&CryptoCode>,
    text: &str,
    url: fn(Asset, &str) -> String,
) -> Markup {
    let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric());
    let asset = code.and_then(Asset::of);
    let asset = asset.filter(|_| viewer.has_explorers && is_plain);
    html! {
        (id(text))
        @if let Some(asset) = asset { " " a href=(url(asset, text)) rel="noreferrer" { "Explorer" } }
    }
}

/// `USDT · Tron`; the network only where the asset is not its coin. An unknown code as the gateway writes it.
pub(crate) fn asset(code: &CryptoCode) -> String {
    match Asset::of(code).map(|asset| (asset.symbol(), asset.network())) {
        Some((symbol, network)) if Network::coin_of(network) == symbol => symbol.to_owned(),
        Some((symbol, network)) => format!("{symbol} · {network}"),
        None => code.to_string(),
    }
}

/// As [`signed_money`], with the decimals that the currency has.
pub(crate) fn money(amount: Amount, currency: Currency) -> String {
    let amount = amount.with_min_decimals(currency.decimals());
    signed_money(&amount.to_string(), currency.as_str())
}

/// `$107.40`, `-€1.50`, `107.40 CHF`.
pub(crate) fn signed_money(amount: &str, currency: &str) -> String {
    let digits = amount.trim_start_matches('-');
    let sign = &amount[..amount.len() - digits.len()];
    match currency {
        "USD" => format!("{sign}${digits}"),
        "EUR" => format!("{sign}€{digits}"),
        _ => format!("{amount} {currency}"),
    }
}

pub(crate) fn duration(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs().max(0);
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

pub(crate) fn status(status: OrderStatus) -> Markup {
    let word: &str = status.into();
    let tone = match status {
        OrderStatus::Paid | OrderStatus::Overpaid => "good",
        OrderStatus::Underpaid | OrderStatus::Blocked => "bad",
        OrderStatus::Checking | OrderStatus::Processing => "busy",
        _ => "quiet",
    };
    html! {
        span class={ "badge " (tone) } { (word.replace('_', " ")) }
    }
}

// The person who sees the pages: an operator on the admin listener, or a member of a store's staff on the public one.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the root of the admin listener, for operators.
    Operator,
    /// Below `/staff` of the public listener, for a store's staff.
    Staff,
}

impl Place {
    pub(crate) fn base(self) -> &'static str {
        match self {
            Self::Operator => "",
            Self::Staff => "/staff",
        }
    }
}

/// A layer of the place puts it into the extensions of each request.
#[derive(Clone, Debug)]
pub(crate) struct Viewer {
    pub(crate) place: Place,
    /// The name of the only store; `None` for all stores.
    pub(crate) shop: Option<String>,
    pub(crate) actor: Actor,
    pub(crate) role: Role,
    /// Whether addresses and transactions are on main networks, which explorers know.
    pub(crate) has_explorers: bool,
    /// What each form must send back.
    pub(crate) csrf: String,
}

/// A form that only shows where it comes from.
#[derive(Deserialize)]
pub(crate) struct CsrfForm {
    pub(crate) csrf: String,
}

impl Viewer {
    pub(crate) fn base(&self) -> &'static str {
        self.place.base()
    }

    /// Leads to the page whose form was sent: the first one, or that of an order. It never leads to another site.
    pub(crate) fn back_to(&self, back: &str, order: &OrderId, section: &str) -> Redirect {
        let base = self.base();
        Redirect::to(&match back {
            "/" => format!("{base}/"),
            _ => format!("{base}/orders/{order}{section}"),
        })
    }

    pub(crate) fn scope(&self) -> &StoreScope {
        &self.actor.scope
    }

    /// Returns `true` for the orders of all stores: each names its store.
    pub(crate) fn sees_all(&self) -> bool {
        *self.scope() == StoreScope::All
    }

    pub(crate) fn stores<'c>(&self, config: &'c Config) -> impl Iterator<Item = &'c Store> {
        let scope = self.scope().clone();
        let stores = config.stores.iter();
        stores.filter(move |store| scope.contains(&store.id))
    }

    pub(crate) fn store<'c>(
        &self,
        config: &'c Config,
        id: &str,
    ) -> Result<&'c Store, OperatorError> {
        let id = StoreId::parse(id).map_err(|_| OperatorError::NotFound("store"))?;
        let found = self.stores(config).find(|store| store.id == id);
        found.ok_or(OperatorError::NotFound("store"))
    }

    /// Checks that a form was sent by a page of this session, and that the person may change something.
    pub(crate) fn check_form(&self, csrf: &str) -> Result<(), PageError> {
        if !is_same(&self.csrf, csrf) {
            return Err(PageError::Forged);
        }
        if self.role == Role::Read {
            let read_only = match self.place {
                Place::Operator => OperatorError::ReadOnly(self.actor.name.clone()),
                Place::Staff => OperatorError::ReadOnlyStaff,
            };
            return Err(read_only.into());
        }
        Ok(())
    }
}
