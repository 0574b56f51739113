//! The summary of the purchase, with its shop and price: always on the screen.

use florin_checkout_api::{Environment, LineView, OrderView, StoreView};
use leptos::prelude::*;

use crate::components::{HelpLink, Ltr};
use crate::format::links;
use crate::i18n::{I18n, use_i18n};
use crate::state::phase::Phase;
use crate::state::use_checkout;

const LINES_SHOWN: usize = 3;

/// The order's summary. The language menu follows it, see `element`.
#[component]
pub(super) fn Summary() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_stopped = Memo::new(move |_| checkout.phase.get() == Phase::Error);
    let order_id = Memo::new(move |_| {
        checkout
            .order
            .with(|order| order.as_ref().map(|order| order.id.clone()))
    });
    let content = move || {
        let _ = order_id.get();
        let donation = checkout.donation.get();
        match (checkout.order.get_untracked(), donation) {
            (Some(order), _) => view! { <OrderSummary order=&order /> }.into_any(),
            _ if is_stopped.get() => ().into_any(),
            (None, Some(donation)) => view! {
                <div class="order">
                    <About
                        store=&donation.store
                        environment=donation.environment
                        title=donation.title.clone()
                    />
                </div>
            }
            .into_any(),
            (None, None) => view! {
                <div class="bar"></div>
                <div class="bar"></div>
            }
            .into_any(),
        }
    };
    view! {
        <aside class="summary" part="summary" aria-label=i18n.text("order")>
            <div class="live">{content}</div>
        </aside>
    }
}

#[component]
fn OrderSummary<'a>(order: &'a OrderView) -> impl IntoView + use<> {
    let price = use_i18n().money(order.amount.as_str(), &order.currency);
    view! {
        <div class="order">
            <About
                store=&order.store
                environment=order.environment
                title=order.title.clone()
                price=Some(price)
                lines=order.lines.clone()
                currency=order.currency.clone()
            />
            <HelpLink class="quiet help" />
        </div>
    }
}

#[component]
fn About<'a>(
    store: &'a StoreView,
    environment: Environment,
    title: String,
    #[prop(optional_no_strip)] price: Option<String>,
    #[prop(optional)] lines: Vec<LineView>,
    #[prop(optional)] currency: String,
) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let logo = store.logo_url.clone().filter(|url| links::is_page(url));
    let mark = if let Some(url) = logo {
        view! { <Picture class="logo" url=url side="28" /> }.into_any()
    } else {
        let initial = store.name.chars().next().map(String::from);
        view! {
            <span class="initial" aria-hidden="true">
                {initial}
            </span>
        }
        .into_any()
    };
    let is_test = environment == Environment::Test;
    let (order_title, total) = (title.clone(), price.clone());
    let title = if use_checkout().is_page() {
        view! {
            <h1 class="title">
                <bdi>{title}</bdi>
            </h1>
        }
        .into_any()
    } else {
        view! {
            <p class="title">
                <bdi>{title}</bdi>
            </p>
        }
        .into_any()
    };
    view! {
        <div class="about">
            <p class="store" part="store">
                {mark}
                <bdi>{store.name.clone()}</bdi>
                {is_test
                    .then(|| {
                        view! {
                            <span class="test" title=i18n.text("test_hint")>
                                {i18n.text("test")}
                            </span>
                        }
                    })}
            </p>
            {title}
            {price
                .map(|price| {
                    view! {
                        <p class="price" part="price">
                            <Ltr text=price />
                        </p>
                    }
                })}
            {say_more(&lines)
                .then(|| {
                    view! { <Lines lines=lines title=order_title total=total currency=currency /> }
                })}
        </div>
    }
}

/// Returns `true` if the lines say more than the order's title: a single product has one line of the same name.
fn say_more(lines: &[LineView]) -> bool {
    match lines {
        [] => false,
        [line] => line.quantity > 1 || line.image_url.is_some(),
        _ => true,
    }
}

/// A decorative picture. It disappears if it does not load.
#[component]
fn Picture(class: &'static str, url: String, side: &'static str) -> impl IntoView {
    let is_broken = RwSignal::new(false);
    view! {
        <img
            class=class
            src=url
            alt=""
            width=side
            height=side
            referrerpolicy="no-referrer"
            hidden=move || is_broken.get()
            on:error=move |_| is_broken.set(true)
        />
    }
}

/// What the order is made of: the first lines, and the rest one press away.
///
/// `title`: that of the order, which a single line need not repeat. `total`: their sum.
#[component]
fn Lines(
    lines: Vec<LineView>,
    title: String,
    total: Option<String>,
    currency: String,
) -> impl IntoView {
    let i18n = use_i18n();
    let is_single = matches!(&lines[..], [line] if line.title == title);
    // Lines without amounts make no sum.
    let total = total.filter(|_| lines.len() > 1 && lines.iter().all(|line| line.amount.is_some()));
    let mut rows: Vec<_> = lines
        .into_iter()
        .map(|line| {
            let text = line_text(i18n, &line, is_single);
            view! { <Line line=line text=text currency=currency.clone() /> }.into_any()
        })
        .collect();
    let rest = rows.split_off(rows.len().min(LINES_SHOWN));
    let count = u32::try_from(rest.len()).unwrap_or(u32::MAX);
    let more = i18n.plural("items_more", count, &[("count", &count.to_string())]);
    view! {
        <div class="lines" role="group" aria-label=i18n.text("items") data-testid="lines">
            <ul>{rows}</ul>
            {(count > 0)
                .then(|| {
                    view! {
                        <details>
                            <summary>{more}</summary>
                            <ul>{rest}</ul>
                        </details>
                    }
                })}
            {total
                .map(|total| {
                    view! {
                        <p class="total">
                            <span>{i18n.text("total")}</span>
                            <Ltr text=total />
                        </p>
                    }
                })}
        </div>
    }
}

/// `2 × Tea, 100 g`; `Quantity: 2` where the title stands above already.
fn line_text(i18n: I18n, line: &LineView, is_single: bool) -> String {
    let count = line.quantity.to_string();
    let values = [("count", count.as_str()), ("title", &line.title)];
    match line.quantity {
        1 => line.title.clone(),
        _ if is_single => i18n.text_with("quantity", &values),
        _ => i18n.text_with("line", &values),
    }
}

#[component]
fn Line(line: LineView, text: String, currency: String) -> impl IntoView {
    let i18n = use_i18n();
    let url = line.image_url.filter(|url| links::is_page(url));
    let price = line
        .amount
        .map(|amount| i18n.money(amount.as_str(), &currency));
    view! {
        <li>
            {url.map(|url| view! { <Picture class="picture" url=url side="40" /> })}
            <bdi>{text}</bdi> {price.map(|price| view! { <Ltr text=price /> })}
        </li>
    }
}
