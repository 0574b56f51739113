//! What is bought, from which shop, for how much: always on the screen.

use checkout_api::{Environment, OrderView, StoreView};
use leptos::prelude::*;

use crate::components::{HelpLink, Ltr};
use crate::i18n::use_i18n;
use crate::state::phase::Phase;
use crate::state::use_checkout;

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
) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let initial = store.name.chars().next().map(String::from);
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
                <span class="initial" aria-hidden="true">
                    {initial}
                </span>
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
        </div>
    }
}
