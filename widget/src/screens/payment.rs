//! The screens after the asset choice. They are the payment module, a second part of the program that is loaded while the
//! customer chooses. See docs/adr/0020-a-second-module-after-the-choice.md.

#![expect(
    clippy::unnecessary_wraps,
    reason = "the option `fallible` asks for a Result"
)]

use leptos::prelude::*;
use leptos::wasm_split::SplitLoaderError;
use wasm_bindgen_futures::JsFuture;

use super::{ended, paid, paying, progress};
use crate::browser::{later, random, spawn};
use crate::net::backoff::after_failure;
use crate::state::phase::Phase;
use crate::state::{Checkout, PaymentScreens};

/// The view of a phase after the asset choice. With the feature `split`, this function and all that it alone calls are
/// the payment module, and calling it is asynchronous.
#[cfg_attr(
    feature = "split",
    leptos::wasm_split::wasm_split(
        payment,
        wasm_split_path = ::leptos::wasm_split,
        preload(load_module),
        fallible
    )
)]
fn view_of(phase: Phase) -> Result<AnyView, SplitLoaderError> {
    Ok(match phase {
        Phase::Hosted => paying::Hosted().into_any(),
        Phase::Paying => paying::Paying().into_any(),
        Phase::Checking => progress::Checking().into_any(),
        Phase::Processing => progress::Processing().into_any(),
        Phase::Paid | Phase::Overpaid => paid::Paid().into_any(),
        Phase::Underpaid => paying::Underpaid().into_any(),
        Phase::Failed | Phase::NotReceived | Phase::Cancelled | Phase::Expired | Phase::Blocked => {
            view! { <ended::Ended phase=phase /> }.into_any()
        }
        Phase::Loading
        | Phase::LoadingPayment
        | Phase::Error
        | Phase::EnterAmount
        | Phase::Choosing => ().into_any(),
    })
}

#[cfg(not(feature = "split"))]
fn load_module() -> core::future::Ready<Result<(), SplitLoaderError>> {
    core::future::ready(Ok(()))
}

pub(super) fn screen(phase: Phase) -> AnyView {
    #[cfg(feature = "split")]
    let view = {
        use core::pin::pin;
        use core::task::{Context, Poll, Waker};
        // Ready at the first poll, since nothing is to be loaded any more.
        match pin!(view_of(phase)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(view) => view.ok(),
            Poll::Pending => None,
        }
    };
    #[cfg(not(feature = "split"))]
    let view = view_of(phase).ok();
    view.into_any()
}

/// Loads the screens after the asset choice, and tries again by itself. Does nothing while they are being loaded.
pub(crate) fn load_payment_screens(checkout: Checkout) {
    let Some(shared) = checkout.shared() else {
        return;
    };
    let state = checkout.payment_screens;
    let before = state.get_untracked();
    if matches!(before, PaymentScreens::Loading(_) | PaymentScreens::Loaded) {
        return;
    }
    let failures = before.failures();
    state.set(PaymentScreens::Loading(failures));
    spawn(async move {
        let texts = JsFuture::from(shared.host.load_payment()).await;
        drop(shared);
        let next = match texts {
            Ok(texts) if texts.is_null() => PaymentScreens::OutOfDate,
            Ok(texts) if load_module().await.is_ok() => {
                checkout.i18n.add(&texts);
                PaymentScreens::Loaded
            }
            _ => PaymentScreens::Failed(failures + 1),
        };
        // The element may be gone by now.
        let _ = state.try_set(next);
        if let PaymentScreens::Failed(failures) = next {
            let pause = after_failure(failures, random());
            later(i32::try_from(pause).unwrap_or(i32::MAX), move || {
                // The customer may have tried since.
                if state.try_get_untracked() == Some(next) {
                    load_payment_screens(checkout);
                }
            });
        }
    });
}
