//! All that a checkout shows of one order.

use money::AmountText;

use crate::fields::{amount, flag, number, text};
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
    /// The word on the wire and in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Production => "production",
        }
    }

    pub(crate) fn read(fields: &impl Fields) -> Result<Self, Unreadable> {
        match text(fields, "environment")?.as_str() {
            "test" => Ok(Self::Test),
            "production" => Ok(Self::Production),
            _ => Err(Unreadable("environment")),
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

    fn read(fields: &impl Fields) -> Result<Option<Self>, Unreadable> {
        let Some(word) = fields.text("late_payment") else {
            return Ok(None);
        };
        let known = Self::ALL.into_iter().find(|(_, known)| *known == word);
        known
            .map(|(kind, _)| Some(kind))
            .ok_or(Unreadable("late_payment"))
    }
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
        let store = fields.object("store").ok_or(Unreadable("store"))?;
        Ok(Self {
            id: text(&store, "id")?,
            name: text(&store, "name")?,
            support_url: store.text("support_url"),
            theme: text(&store, "theme")?,
            theme_tokens: ThemeTokens::read(&store),
        })
    }
}

impl OrderView {
    /// Reads an order.
    ///
    /// # Errors
    /// [`Unreadable`] names the first member that is missing or not of its type.
    pub fn read(fields: &impl Fields) -> Result<Self, Unreadable> {
        Ok(Self {
            id: text(fields, "id")?,
            version: number(fields, "version")?,
            environment: Environment::read(fields)?,
            store: StoreView::read(fields)?,
            title: text(fields, "title")?,
            amount: amount(fields, "amount")?,
            currency: text(fields, "currency")?,
            status: Status::parse(&text(fields, "status")?).ok_or(Unreadable("status"))?,
            flow: match text(fields, "flow")?.as_str() {
                "custom" => Flow::Custom,
                "hosted" => Flow::Hosted,
                _ => return Err(Unreadable("flow")),
            },
            payment_process_url: fields.text("payment_process_url"),
            reverted: flag(fields, "reverted")?,
            late_payment: LatePayment::read(fields)?,
            attempt: fields
                .object("attempt")
                .map(|fields| AttemptView::read(&fields))
                .transpose()?,
            return_url: fields.text("return_url"),
            can_open_attempt: flag(fields, "can_open_attempt")?,
            delayed: flag(fields, "delayed")?,
            next_poll_seconds: fields.number("next_poll_seconds"),
            checked_seconds_ago: fields.number("checked_seconds_ago"),
            as_of: text(fields, "as_of")?,
        })
    }
}
