//! Help that opens in its place: for a payment from an exchange, the most frequent cause of underpayments, and for
//! continuing this very order on another device.

use florin_checkout_api::{AttemptView, QrCode};
use florin_money::Network;
use leptos::prelude::*;

use crate::components::{CopyButton, Drawing, Ltr, Press, Sentence, coins};
use crate::i18n::use_i18n;
use crate::state::phase::is_partly_paid;
use crate::state::use_checkout;

/// Help that opens in its place.
#[component]
pub(super) fn HelpPanel(
    /// Its class, its test's name, and the key of its summary.
    name: &'static str,
    #[prop(optional)] on_toggle: Option<Press>,
    children: Children,
) -> impl IntoView {
    let toggle = move |_| {
        if let Some(on_toggle) = &on_toggle {
            on_toggle.press();
        }
    };
    view! {
        <details class=format!("aid {name}") data-testid=format!("{name}-aid")>
            <summary data-testid=name on:click=toggle>
                {use_i18n().text(name)}
            </summary>
            {children()}
        </details>
    }
}

pub(super) fn due(attempt: &AttemptView) -> &str {
    if is_partly_paid(attempt) {
        attempt.remaining_in_crypto.as_str()
    } else {
        attempt.amount_in_crypto.as_str()
    }
}

/// The network's names there, the fee, the minimum withdrawal, and the time it takes.
#[component]
pub(super) fn ExchangeHelp<'a>(attempt: &'a AttemptView) -> impl IntoView + use<> {
    let network = Network::of(&attempt.network);
    let names = network.map_or(attempt.network.as_str(), |network| network.names);
    let names = names.to_owned();
    let amount = coins(due(attempt), &attempt.asset);
    let least = amount.clone();
    let store = use_checkout().store_name();
    let time = use_i18n().text_with("exchange_time", &[("store", &store)]);
    view! {
        <HelpPanel name="exchange">
            <Sentence key="exchange_network">
                <Ltr text=names />
            </Sentence>
            <Sentence key="exchange_fee">
                <Ltr text=amount />
            </Sentence>
            <Sentence key="exchange_minimum">
                <Ltr text=least />
            </Sentence>
            <p>{time}</p>
        </HelpPanel>
    }
}

/// The link to this order, as a code and to copy. It holds the order's token, which gives access to it: it is drawn
/// only while the customer looks at it.
#[component]
pub(in crate::screens) fn Handoff(store: String) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_open = RwSignal::new(false);
    let content = move || {
        let shared = checkout.shared().filter(|_| is_open.get())?;
        let link = shared.connection.link(&store);
        let code = QrCode::draw(&link).map(|code| {
            let view_box = format!("0 0 {0} {0}", code.side);
            let label = Some(i18n.text("handoff_qr"));
            view! { <Drawing view_box=view_box path=code.path label=label /> }
        });
        Some(view! {
            <p>{i18n.text("handoff_hint")}</p>
            <span class="qr" part="qr" data-testid="handoff-qr">
                {code}
            </span>
            <p class="link quiet" dir="ltr" data-testid="link">
                {link.clone()}
            </p>
            <CopyButton id="copy-link" place=".link" value=link text=i18n.text("copy_link") />
        })
    };
    let toggle = move || is_open.update(|is_open| *is_open = !*is_open);
    view! {
        <HelpPanel name="handoff" on_toggle=toggle.into()>
            {content}
        </HelpPanel>
    }
}
