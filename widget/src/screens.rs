//! A screen for each phase of an order.

mod donation;
mod ended;
mod instructions;
mod paid;
mod paying;
mod payment;
mod pick_asset;
mod progress;
mod receipt;
mod refund;
mod unavailable;

use leptos::prelude::*;

pub(crate) use self::payment::load_payment_screens;
use crate::state::phase::Phase;

#[component]
pub(crate) fn Screen(phase: Phase) -> impl IntoView {
    match phase {
        Phase::Loading => unavailable::Loading().into_any(),
        Phase::Error => unavailable::Unavailable().into_any(),
        Phase::EnterAmount => donation::Donation().into_any(),
        Phase::Choosing => pick_asset::PickAsset().into_any(),
        Phase::LoadingPayment => unavailable::LoadingPayment().into_any(),
        later => payment::screen(later),
    }
}
