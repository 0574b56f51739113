//! The receipt: a button on the screen, a sheet on paper, and the email address to send it to.

use florin_checkout_api::{Environment, OrderView, QrCode, SignedReceipt, looks_like_email};
use leptos::html::Input;
use leptos::prelude::*;

use crate::components::{Button, Drawing, Look, Ltr, coins, focus};
use crate::i18n::use_i18n;
use crate::state::{Checkout, use_checkout};

#[component]
pub(super) fn PrintButton() -> impl IntoView {
    let checkout = use_checkout();
    view! {
        <Button
            look=Look::Secondary
            text=use_i18n().text("print")
            on_press=move || checkout.print_receipt()
            test_id=Some("print-receipt")
        />
    }
}

/// The sheet that is printed, once the proxy has signed it. It is hidden on the screen.
#[component]
pub(super) fn ReceiptSheet() -> impl IntoView {
    let checkout = use_checkout();
    let content = move || {
        let receipt = checkout.receipt.get()?;
        let order = checkout.order.get_untracked()?;
        Some(view! { <Sheet order=&order signed=&receipt /> })
    };
    view! {
        <div class="receipt" data-testid="receipt">
            {content}
        </div>
    }
}

/// `signed` is the response of GET /v1/checkout/receipt; what it lacks is left out.
#[component]
fn Sheet<'a>(order: &'a OrderView, signed: &'a SignedReceipt) -> impl IntoView + use<> {
    let i18n = use_i18n();
    let receipt = &signed.receipt;
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let is_test = order.environment == Environment::Test;
    let price = i18n.money(order.amount.as_str(), &order.currency);
    let paid = coins(&receipt.received_in_crypto, &or_empty(&receipt.asset));
    let paid = format!("{paid} · {}", or_empty(&receipt.network));
    let rows = [
        ("receipt_date", i18n.moment(&receipt.paid_at, "long")),
        ("receipt_reference", receipt.reference.clone()),
        ("receipt_order", order.id.clone()),
        ("receipt_paid", paid),
        ("receipt_address", or_empty(&receipt.address)),
        ("receipt_transaction", or_empty(&receipt.transaction_hash)),
    ];
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    let rows = rows.map(|(key, value)| {
        view! {
            <dt>{i18n.text(key)}</dt>
            <dd>
                <bdi>{value}</bdi>
            </dd>
        }
    });
    let store = order.store.name.clone();
    let proof = signed.code.clone();
    let proof = proof.map(|code| view! { <Proof code=code store=store.clone() /> });
    view! {
        <div>
            <p class="from">
                <bdi>{store}</bdi>
            </p>
            <h2 part="heading">{i18n.text("receipt")}</h2>
            {is_test.then(|| view! { <p class="test">{i18n.text("test_hint")}</p> })}
            <p class="sum">
                <bdi>{order.title.clone()}</bdi>
                <Ltr text=price />
            </p>
            <dl>{rows.collect_view()}</dl>
            {proof}
        </div>
    }
}

/// The code by which the store verifies the receipt, for eyes and for a camera.
#[component]
fn Proof(code: String, store: String) -> impl IntoView {
    let i18n = use_i18n();
    let drawn = QrCode::draw(&code).map(|drawn| {
        let view_box = format!("0 0 {0} {0}", drawn.side);
        view! { <Drawing view_box=view_box path=drawn.path /> }
    });
    view! {
        <div class="proof">
            {drawn} <div>
                <p class="label">{i18n.text("receipt_code")}</p>
                <Ltr text=code test_id="receipt-code" />
                <p class="quiet">{i18n.text_with("receipt_hint", &[("store", &store)])}</p>
            </div>
        </div>
    }
}

/// The field of an email address, and whether it holds anything else.
#[derive(Clone, Copy)]
struct Email {
    field: NodeRef<Input>,
    is_wrong: RwSignal<bool>,
}

impl Email {
    fn new() -> Self {
        Self {
            field: NodeRef::new(),
            is_wrong: RwSignal::new(false),
        }
    }

    fn typed(self) -> String {
        let field = self.field.get_untracked();
        field.map_or_else(String::new, |field| field.value().trim().to_owned())
    }

    fn reject(self, checkout: Checkout) {
        self.is_wrong.set(true);
        checkout.announce(checkout.i18n.text("email_wrong"));
        focus(checkout, String::from("#email"));
    }
}

/// The field with its label, what is wrong with it, and a button beside it.
#[component]
fn EmailField(email: Email, label: &'static str, button: AnyView) -> impl IntoView {
    let i18n = use_i18n();
    let Email { field, is_wrong } = email;
    view! {
        <div class="email">
            <label for="email">{i18n.text(label)}</label>
            <div class="line">
                <input
                    part="input"
                    type="email"
                    id="email"
                    autocomplete="email"
                    placeholder="name@example.com"
                    maxlength="254"
                    dir="ltr"
                    aria-describedby="email-wrong"
                    aria-invalid=move || is_wrong.get().then_some("true")
                    data-testid="email"
                    node_ref=field
                    on:input=move |_| is_wrong.set(false)
                />
                {button}
            </div>
            <div class="bad" id="email-wrong" data-testid="email-wrong">
                {move || is_wrong.get().then(|| view! { <p>{i18n.text("email_wrong")}</p> })}
            </div>
        </div>
    }
}

/// Asks for an address while none is kept: the texts of the field and of its button.
#[component]
pub(super) fn AskForEmail(label: &'static str, action: &'static str, look: Look) -> impl IntoView {
    let (checkout, i18n) = (use_checkout(), use_i18n());
    let is_kept = checkout.follow(|order, _| order.email_kept);
    let email = Email::new();
    let sent = StoredValue::new(String::new());
    let ask = move || {
        let typed = email.typed();
        if looks_like_email(&typed) {
            sent.set_value(typed.clone());
            checkout.ask_for_receipt(typed);
        } else {
            email.reject(checkout);
        }
    };
    move || {
        if is_kept.get() {
            let email = sent.get_value();
            // Another page of this order has sent one: its address is not in the order. This one's was refused, if any.
            if email.is_empty() || checkout.problem.with_untracked(Option::is_some) {
                return view! {
                    <p class="quiet" data-testid="email-kept">
                        {i18n.text("email_kept")}
                    </p>
                }
                .into_any();
            }
            // The focus was on the button, which goes away.
            focus(checkout, String::from(".saved"));
            return view! { <Saved email=&email /> }.into_any();
        }
        let button = view! {
            <Button
                look=look
                text=i18n.text(action)
                on_press=ask
                test_id=Some("email-receipt")
                waits=true
            />
        };
        view! { <EmailField email=email label=label button=button.into_any() /> }.into_any()
    }
}

#[component]
fn Saved<'a>(email: &'a str) -> impl IntoView + use<> {
    let text = use_i18n().text_with("email_saved", &[("email", email)]);
    view! {
        <p class="quiet saved" tabindex="-1" data-testid="email-saved">
            {text}
        </p>
    }
}
