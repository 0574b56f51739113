//! The endpoints below the base address.

use axum::http::Method;
use serde::{Deserialize, Serialize};

/// An endpoint of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Endpoint {
    Prices,
    CreateInvoice,
    Invoice,
    Confirm,
    Checkout,
    Currencies,
    AddPreference,
    ChangePreference,
    OnboardMerchant,
    MerchantAccount,
    ChangeSettings,
}

impl Endpoint {
    pub(super) fn of(method: &Method, path: &str) -> Option<Self> {
        match (method.as_str(), path) {
            ("GET", "/prices") => Some(Self::Prices),
            ("POST", "/invoice") => Some(Self::CreateInvoice),
            ("GET", "/invoice") => Some(Self::Invoice),
            ("POST", "/confirm") => Some(Self::Confirm),
            ("POST", "/checkout") => Some(Self::Checkout),
            ("GET", "/currencies") => Some(Self::Currencies),
            ("POST", "/preferences") => Some(Self::AddPreference),
            ("PUT", "/preferences") => Some(Self::ChangePreference),
            ("POST", "/aggregator/merchants") => Some(Self::OnboardMerchant),
            ("GET", "/merchant/account") => Some(Self::MerchantAccount),
            ("PUT", "/settings") => Some(Self::ChangeSettings),
            _ => None,
        }
    }

    /// The journal's word for what a call of it brings about.
    pub(super) fn did(self) -> &'static str {
        match self {
            Self::Prices => "promised_prices",
            Self::CreateInvoice => "created_invoice",
            Self::Invoice => "told_invoice",
            Self::Confirm => "confirmed_invoice",
            Self::Checkout => "opened_checkout",
            Self::Currencies => "listed_currencies",
            Self::AddPreference => "added_wallet",
            Self::ChangePreference => "changed_wallet",
            Self::OnboardMerchant => "onboarded_merchant",
            Self::MerchantAccount => "told_merchant_account",
            Self::ChangeSettings => "changed_settings",
        }
    }

    /// Whether its answer is too long and too often asked for to be written down.
    pub(super) fn is_long(self) -> bool {
        matches!(self, Self::Prices | Self::Currencies)
    }
}
