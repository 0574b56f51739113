//! All that a checkout shows of one order.

use money::AmountText;

use crate::fields::Reader;
use crate::{AttemptView, Fields, Status, ThemeTokens, Unreadable};

/// Which money moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "server", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "server", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Environment {
    /// Test networks and the sandbox: worthless coins.
    Test,
    /// Main networks.
    Production,
}

impl Environment {
    /// Every environment and its word on the wire.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Test, "test"), (Self::Production, "production")];

    /// The word on the wire and in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Production => "production",
        }
    }
}

/// Who shows the customer how to pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "server", derive(serde::Serialize))]
#[cfg_attr(feature = "server", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Flow {
    /// This checkout: an asset is chosen here, and its address shown.
    Custom,
    /// The payment service, on its own page.
    Hosted,
}

impl Flow {
    /// Every flow and its word on the wire.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Custom, "custom"), (Self::Hosted, "hosted")];
}

/// A payment that came late to an order which is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "server", derive(serde::Serialize))]
#[cfg_attr(feature = "server", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LatePayment {
    /// It paid the order, although it was first seen after its invoice had run out.
    Counted,
    /// It came on top of what had paid the order. The shop has been told, and it is for the shop to return it.
    Second,
}

impl LatePayment {
    /// Every kind with its word.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Counted, "counted"), (Self::Second, "second")];
}

/// One order, whole: the widget is a function of this.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "server", derive(serde::Serialize))]
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
    /// The price in `currency`. It never changes.
    pub amount: AmountText,
    /// ISO 4217 code of the price.
    #[cfg_attr(feature = "schema", schemars(with = "money::Currency"))]
    pub currency: String,
    /// Where the order stands.
    pub status: Status,
    /// Who shows the customer how to pay.
    pub flow: Flow,
    /// The payment service's page, where a hosted order is paid; absent while there is no session to go to.
    #[cfg_attr(feature = "server", serde(skip_serializing_if = "Option::is_none"))]
    pub payment_process_url: Option<String>,
    /// The service says something against a payment that was credited. The order stays paid; the shop has been told.
    pub reverted: bool,
    /// What came late to a paid order; absent when nothing did.
    #[cfg_attr(feature = "server", serde(skip_serializing_if = "Option::is_none"))]
    pub late_payment: Option<LatePayment>,
    /// The current try at paying it; absent while `open`, once blocked, and for a hosted order.
    #[cfg_attr(feature = "server", serde(skip_serializing_if = "Option::is_none"))]
    pub attempt: Option<AttemptView>,
    /// Where the customer goes afterwards; carries the order's id and no status.
    #[cfg_attr(feature = "server", serde(skip_serializing_if = "Option::is_none"))]
    pub return_url: Option<String>,
    /// Whether another invoice can be opened for this order now.
    pub can_open_attempt: bool,
    /// The payment service cannot be reached at present: what is shown is of `as_of`, and watching goes on.
    pub delayed: bool,
    /// When to ask again, in seconds; absent once nothing can change any more.
    #[cfg_attr(feature = "server", serde(skip_serializing_if = "Option::is_none"))]
    pub next_poll_seconds: Option<u32>,
    /// Seconds since the payment service was last heard about this attempt; absent before the first answer.
    #[cfg_attr(feature = "server", serde(skip_serializing_if = "Option::is_none"))]
    pub checked_seconds_ago: Option<u32>,
    /// When this was true: RFC 3339, UTC.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub as_of: String,
}

/// The store as its customer sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "server", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreView {
    /// The store's id in the proxy's configuration.
    pub id: String,
    /// The shop's name.
    pub name: String,
    /// Where a customer gets help: `https:` or `mailto:`.
    #[cfg_attr(feature = "server", serde(skip_serializing_if = "Option::is_none"))]
    pub support_url: Option<String>,
    /// The store's theme: `auto`, `light`, `dark`, `contrast`, `paper`, `midnight` or `sorbet`.
    pub theme: String,
    /// What the store wishes otherwise than its theme has it; absent when that is nothing.
    #[cfg_attr(
        feature = "server",
        serde(skip_serializing_if = "ThemeTokens::is_empty")
    )]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<std::collections::BTreeMap<String, String>>")
    )]
    pub theme_tokens: ThemeTokens,
}

impl StoreView {
    pub(crate) fn read(fields: &impl Fields) -> Result<Self, Unreadable> {
        let fields = fields.object("store").ok_or(Unreadable("store"))?;
        let read = Reader::new(&fields);
        let store = Self {
            id: read.text("id"),
            name: read.text("name"),
            support_url: fields.text("support_url"),
            theme: read.text("theme"),
            theme_tokens: ThemeTokens::read(&fields),
        };
        read.end(store)
    }
}

impl OrderView {
    /// Reads an order.
    ///
    /// # Errors
    /// [`Unreadable`] names the first member that is missing or not of its type.
    pub fn read(fields: &impl Fields) -> Result<Self, Unreadable> {
        let read = Reader::new(fields);
        let environment = read.word("environment", &Environment::ALL)?;
        let status = read.word("status", &Status::ALL)?;
        let flow = read.word("flow", &Flow::ALL)?;
        let late_payment = read.maybe_word("late_payment", &LatePayment::ALL)?;
        let attempt = fields.object("attempt");
        let attempt = attempt
            .map(|fields| AttemptView::read(&fields))
            .transpose()?;
        let store = StoreView::read(fields)?;
        let order = Self {
            id: read.text("id"),
            version: read.number("version"),
            environment,
            store,
            title: read.text("title"),
            amount: read.amount("amount"),
            currency: read.text("currency"),
            status,
            flow,
            payment_process_url: fields.text("payment_process_url"),
            reverted: read.flag("reverted"),
            late_payment,
            attempt,
            return_url: fields.text("return_url"),
            can_open_attempt: read.flag("can_open_attempt"),
            delayed: read.flag("delayed"),
            next_poll_seconds: fields.number("next_poll_seconds"),
            checked_seconds_ago: fields.number("checked_seconds_ago"),
            as_of: read.text("as_of"),
        };
        read.end(order)
    }
}
