//! What is bought, from which shop, for how much: always on the screen.

use checkout_api::{Environment, LineView, OrderView, StoreView};
use leptos::prelude::*;

use crate::components::{HelpLink, Ltr};
use crate::format::links;
use crate::i18n::use_i18n;
use crate::state::phase::Phase;
use crate::state::use_checkout;

/// Lines of an order that are open.
const LINES_SHOWN: usize = 3;

/// The order's summary. The language menu follows it, see `element`.
#[component]
pub(super) fn Summary() -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_stopped = Memo::new(move |_| checkout.phase.get() == Phase::Stopped);
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

/// The shop, and what is bought.
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
            {say_more(&lines).then(|| view! { <Lines lines=lines currency=currency /> })}
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

/// A picture for eyes alone. One that does not load leaves no trace.
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
#[component]
fn Lines(lines: Vec<LineView>, currency: String) -> impl IntoView {
    let i18n = use_i18n();
    let mut rows: Vec<_> = lines
        .into_iter()
        .map(|line| view! { <Line line=line currency=currency.clone() /> }.into_any())
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
        </div>
    }
}

#[component]
fn Line(line: LineView, currency: String) -> impl IntoView {
    let i18n = use_i18n();
    let url = line.image_url.filter(|url| links::is_page(url));
    let title = match line.quantity {
        1 => line.title,
        quantity => {
            let values = [
                ("count", &*quantity.to_string()),
                ("title", line.title.as_str()),
            ];
            i18n.text_with("line", &values)
        }
    };
    let price = line
        .amount
        .map(|amount| i18n.money(amount.as_str(), &currency));
    view! {
        <li>
            {url.map(|url| view! { <Picture class="picture" url=url side="40" /> })}
            <bdi>{title}</bdi> {price.map(|price| view! { <Ltr text=price /> })}
        </li>
    }
}
