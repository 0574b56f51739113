//! All that a checkout shows of one order, of its receipt, and of a declared donation before its customer has named an amount.

use std::collections::BTreeMap;

use florin_money::AmountText;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::AttemptView;

/// Which money moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Environment {
    /// Test networks and the sandbox: worthless coins.
    Test,
    /// Main networks.
    Production,
}

impl Environment {
    /// The word on the wire and in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Production => "production",
        }
    }
}

/// Who shows the customer how to pay.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Flow {
    /// This checkout: an asset is chosen here, and its address shown.
    Custom,
    /// The gateway, on its own page.
    Hosted,
}

/// A payment that came late to an order which is paid.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LatePayment {
    /// It paid the order, although it was first seen after its invoice had run out.
    Counted,
    /// It came after the order was paid. The shop is notified and has to return it.
    Second,
}

/// Why a payment failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FailureReason {
    /// The gateway gave up waiting, and no payment was ever seen.
    NothingReceived,
    /// A payment was seen, and the network did not complete it.
    NotCompleted,
}

/// Why a payment was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BlockedReason {
    /// The invoice did not pass the proxy's checks. Its address was never shown.
    InvoiceRejected,
    /// The gateway named another address after the first one was shown: the customer may have paid there.
    AddressChanged,
}

/// One order, whole: the widget is a function of this.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate fact on the wire; none follows from another"
)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrderView {
    /// `ord_` and 32 hexadecimal digits. A public handle: it opens nothing.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^ord_[0-9a-f]{32}$")))]
    pub id: String,
    /// Grows with every change: a view of a lower version than the one that is shown is out of date.
    pub version: u32,
    /// Which money moves.
    pub environment: Environment,
    /// Who sells.
    pub store: StoreView,
    /// What is sold, in the store's words; at most 120 characters.
    pub title: String,
    /// What it is made of, in the store's words and order: at most 50. For show: the price is `amount`. Absent when the store
    /// gave none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<LineView>>"))]
    pub lines: Vec<LineView>,
    /// The price in `currency`. It never changes.
    pub amount: AmountText,
    /// ISO 4217 code of the price.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub currency: String,
    /// Where the order stands.
    pub status: Status,
    /// Why it failed; present exactly while the status is `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<FailureReason>,
    /// Why it was stopped; present exactly while the status is `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<BlockedReason>,
    /// Who shows the customer how to pay.
    pub flow: Flow,
    /// The gateway's page, where a hosted order is paid; absent while there is no session to go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment_process_url: Option<String>,
    /// When the payment was credited: RFC 3339, UTC; present exactly while the status is `paid` or `overpaid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub paid_at: Option<String>,
    /// The gateway contradicts a credited payment. The order stays paid; the shop is notified.
    pub reverted: bool,
    /// What came late to a paid order; absent when nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_payment: Option<LatePayment>,
    /// The current try at paying it; absent while `open`, once blocked, and for a hosted order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptView>,
    /// `true` if an address for the receipt is kept with the order. The address itself is not shown: a page's link can be
    /// shared.
    pub email_kept: bool,
    /// `true` if the store delivers to an email address that the customer has not named yet: it is asked for before the
    /// address to pay to is shown. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub email_required: bool,
    /// Present exactly while the store owes money, because too much, a second payment or one for a closed order arrived, and
    /// has sent nothing back: the customer may name an address of this asset for the refund.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owed_in: Option<OwedIn>,
    /// Where the customer wants the refund; absent while no address is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refund_address: Option<String>,
    /// Where the customer goes afterwards; carries the order's id and no status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
    /// `true` if another invoice can be opened for this order now.
    pub can_open_attempt: bool,
    /// The gateway cannot be reached at present: what is shown is of `as_of`, and polling continues.
    pub delayed: bool,
    /// When to ask again, in seconds; absent once nothing can change any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_poll_seconds: Option<u32>,
    /// Seconds since the last observation of this attempt; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_seconds_ago: Option<u32>,
    /// When this was true: RFC 3339, UTC.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub as_of: String,
}

/// The asset in which the store owes money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwedIn {
    /// The asset's symbol: `USDT`.
    pub asset: String,
    /// The network: `Tron`.
    pub network: String,
}

/// What a line of an order is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LineKind {
    /// Something that is sold.
    #[default]
    Item,
    /// What is taken off: its amount is below zero.
    Discount,
    /// A tax that is not in the items' amounts.
    Tax,
    /// What the delivery costs.
    Shipping,
}

impl LineKind {
    /// Returns `true` for an item, the kind that JSON leaves out.
    pub fn is_item(&self) -> bool {
        *self == Self::Item
    }
}

/// The shape of a line's amount: that of `Amount`, with a minus sign before that of a discount.
pub const LINE_AMOUNT: &str = r"^-?(0|[1-9][0-9]{0,11})(\.[0-9]{1,18})?$";

/// One line of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineView {
    /// What it is: 1 to 120 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = crate::MAX_TITLE_CHARS)))]
    pub title: String,
    /// What it is; absent for an item. A page does not read it: title and amount say it.
    #[serde(skip_deserializing, skip_serializing_if = "LineKind::is_item")]
    pub kind: LineKind,
    /// How many; 1 for what is no item.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub quantity: u32,
    /// The price of one, in the order's currency; absent when unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_amount: Option<AmountText>,
    /// The price of all of them, in the order's currency; absent when unknown. Where every line has
    /// one, they add up to the order's `amount`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = LINE_AMOUNT)))]
    pub amount: Option<String>,
    /// A picture, at an address that the policy of `/pay` lets load; at most 2048 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_url: Option<String>,
}

/// The store as its customer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreView {
    /// The store's id in the proxy's configuration.
    pub id: String,
    /// The shop's name.
    pub name: String,
    /// Where a customer gets help: `https:` or `mailto:`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support_url: Option<String>,
    /// A picture to show beside the name: `https:`, in tests also `http:` on loopback. The policy of `/pay` lets it load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo_url: Option<String>,
    /// The store's theme: `auto`, `light`, `dark`, `contrast`, `paper`, `midnight` or `sorbet`.
    pub theme: String,
    /// What differs from the theme: CSS values by the names of the tokens; absent when nothing does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<BTreeMap<String, String>>")
    )]
    pub theme_tokens: BTreeMap<String, String>,
}

/// The life of an order: `open → awaiting_payment → checking → processing →` one of the ends.
///
/// Only the server decides: a browser never concludes that a payment expired, failed or arrived.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Status {
    /// Nothing chosen yet: the customer picks an asset.
    Open,
    /// An invoice is shown; nothing was seen on the chain.
    AwaitingPayment,
    /// The customer reported the payment, or a transaction without a confirmation was detected.
    Checking,
    /// On the chain, with fewer confirmations than required.
    Processing,
    /// Paid, exactly or within the store's tolerance. Final.
    Paid,
    /// Paid, and more than asked for. Final; the order is paid.
    Overpaid,
    /// Completed by the gateway with less than asked for. Never shipped; the rest can still be sent.
    Underpaid,
    /// The gateway reports the payment as failed.
    Failed,
    /// Cancelled by the store before a payment was detected, or at the gateway, where money may have arrived before.
    Cancelled,
    /// The invoice ran out before anything arrived. A new quote is available.
    Expired,
    /// The invoice did not pass our checks, or the gateway changed its address: its address is not shown.
    Blocked,
}

impl Status {
    /// Returns `true` if the order is paid.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Paid | Self::Overpaid)
    }

    /// Returns `true` if the order ended without a credit. A late payment can still credit it.
    pub fn has_ended_unpaid(self) -> bool {
        matches!(self, Self::Expired | Self::Failed | Self::Cancelled)
    }
}

/// What a checkout shows while it asks for the amount. The proxy checks the amount when it opens
/// the order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DonationView {
    /// Which money moves.
    pub environment: Environment,
    /// Who takes it.
    pub store: StoreView,
    /// What it is for, in the store's words.
    pub title: String,
    /// ISO 4217 code of the amounts.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub currency: String,
    /// The least that is taken.
    pub min: AmountText,
    /// The most that is taken.
    pub max: AmountText,
    /// Amounts to offer, within the bounds; may be empty.
    pub suggested: Vec<AmountText>,
}

/// The themes by name; `auto` is `light` or `dark` as the customer's system has it.
pub const THEMES: [&str; 7] = [
    "auto", "light", "dark", "contrast", "paper", "midnight", "sorbet",
];

/// Tokens that a store may override: `--florin-…` of the element, without its beginning.
pub const TOKENS: [&str; 12] = [
    "accent",
    "on-accent",
    "background",
    "surface",
    "text",
    "text-muted",
    "border",
    "warning",
    "danger",
    "radius",
    "font",
    "density",
];

/// What a receipt states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// The proxy that gave it: its `public_url`.
    pub iss: String,
    /// `test`, or `production` for real money.
    pub environment: Environment,
    /// The store's id.
    pub store: String,
    /// The store's name.
    pub store_name: String,
    /// `ord_…`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^ord_[0-9a-f]{32}$")))]
    pub order_id: String,
    /// The store's own name for the order.
    pub reference: String,
    /// What was sold.
    pub title: String,
    /// The price that was credited.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub amount: String,
    /// Its currency.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Currency"))]
    pub currency: String,
    /// When it was credited: RFC 3339, UTC.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub paid_at: String,
    /// The asset of the payment; absent when it was picked on the gateway's page and is not
    /// reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crypto_code: Option<String>,
    /// The asset's symbol: `USDT`; absent for an asset that is not known here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asset: Option<String>,
    /// The network: `Tron`; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// What arrived, in the asset.
    #[cfg_attr(feature = "schema", schemars(with = "florin_money::Amount"))]
    pub received_in_crypto: String,
    /// Where it was paid to; absent when that was on the gateway's own page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The transaction, where the gateway named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transaction_hash: Option<String>,
}

/// A receipt with what proves it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignedReceipt {
    /// What it states.
    pub receipt: Receipt,
    /// The same, signed: a JSON Web Token, HS256. Absent for a store without a webhook, which has no key to check it with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Eight groups of five letters and digits, for print. Absent like `token`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
