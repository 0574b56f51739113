//! A screen for each phase of an order.

mod donation;
mod ended;
mod hosted;
mod instructions;
mod paid;
mod pay;
mod pick_asset;
mod progress;
mod receipt;
mod unavailable;

use leptos::prelude::*;

use crate::state::phase::Phase;

/// The screen of a phase.
#[component]
pub(crate) fn Screen(phase: Phase) -> impl IntoView {
    match phase {
        Phase::Loading => unavailable::Loading().into_any(),
        Phase::Stopped => unavailable::Unavailable().into_any(),
        Phase::Giving => donation::Donation().into_any(),
        Phase::Hosted => hosted::Hosted().into_any(),
        Phase::Choosing => pick_asset::PickAsset().into_any(),
        Phase::Paying => pay::Pay().into_any(),
        Phase::Checking => progress::Checking().into_any(),
        Phase::Processing => progress::Processing().into_any(),
        Phase::Paid | Phase::Overpaid => paid::Paid().into_any(),
        Phase::Underpaid => ended::Underpaid().into_any(),
        Phase::Failed => ended::Failed().into_any(),
        Phase::NotReceived => ended::NotReceived().into_any(),
        Phase::Cancelled => ended::Cancelled().into_any(),
        Phase::Expired => ended::Expired().into_any(),
        Phase::Blocked => ended::Blocked().into_any(),
    }
}
