//! One try at paying an order in one asset.

use florin_money::{Amount, CryptoCode, Currency};
use jiff::Timestamp;

use crate::{AttemptId, Figures, Flow, InvoiceId, OrderId};

/// What an attempt is begun with, before the service is asked for an invoice.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAttempt {
    /// Its id, drawn by the caller, so that it exists before anything is sent.
    pub id: AttemptId,
    /// What the service is asked for.
    pub ask: Ask,
}

/// What the service is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// An invoice in one asset, whose address we show.
    Custom(CustomAsk),
    /// A session on the service's own page, for the order's price in the order's currency. The customer picks the asset
    /// there, so what it asks for in the asset and in dollars is the service's own sum.
    Hosted,
}

/// The ask for an invoice in one asset.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomAsk {
    /// The asset.
    pub crypto_code: CryptoCode,
    /// The service's pin on the price.
    pub conversion_id: String,
    /// What the service will be asked to ask for.
    pub asked: Asked,
}

/// The price in the three amounts that the service states, computed by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// In the asset, US dollars, and the service's local currency.
    pub figures: Figures<Amount>,
    /// The service's local currency.
    pub local_currency: Currency,
}

/// An attempt and how far it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Its order.
    pub order_id: OrderId,
    /// As it was begun.
    pub terms: NewAttempt,
    /// When it was begun.
    pub begun_at: Timestamp,
    /// How far it came.
    pub state: AttemptState,
}

/// The life of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum AttemptState {
    /// The row is written; the invoice may be on its way.
    Creating,
    /// It holds an invoice, whose address passed our checks.
    Open(Box<Invoice>),
    /// It never got an invoice that may be shown.
    Abandoned(Abandoned),
}

/// Why an attempt holds no invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abandoned {
    /// The service refused, or could surely not be reached.
    Refused,
    /// Nobody knows whether the service made an invoice. It is never asked again for this attempt: an invoice whose
    /// address was never shown cannot be paid.
    Unclear,
    /// The invoice did not pass our checks.
    Blocked,
}

impl Abandoned {
    /// Every reason with its word.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Refused, "refused"),
        (Self::Unclear, "unclear"),
        (Self::Blocked, "blocked"),
    ];
}

/// The service's record of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Invoice {
    /// The service's id. Of a hosted session: its `session_id`, which is the same thing.
    pub id: InvoiceId,
    /// Where to pay. It never changes.
    pub place: Place,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it runs out.
    pub expires_at: Timestamp,
    /// When the customer said "I have paid".
    pub marked_as_paid_at: Option<Timestamp>,
    /// What the latest observation made of it; of the credited attempt what it was credited by.
    pub standing: Standing,
    /// When it came to stand there.
    pub standing_since: Timestamp,
    /// What has arrived by the latest observation.
    pub progress: Progress,
    /// Whether any look at it saw a payment, also one that is gone since.
    pub was_seen: bool,
    /// How much of it the store was told of as a late payment, in the asset; absent while it was told of none. The same
    /// money, gone and there again, is told once.
    pub told_late: Option<Amount>,
    /// When the service last answered about it.
    pub observed_at: Option<Timestamp>,
    /// When it is asked about next; absent when nothing can change any more.
    pub next_poll_at: Option<Timestamp>,
}

/// Where an invoice is paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an address that passed our checks.
    Address {
        /// The address.
        address: String,
        /// What the service's QR code says. It is kept as evidence, and shown only as it is written anew.
        qr_string: String,
        /// What the service wants customers to read.
        warnings: Vec<String>,
    },
    /// On the service's hosted page.
    Page {
        /// Where it is: https, on the service's checkout address, with the session's id.
        url: String,
    },
}

/// What the latest readable observation said of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing arrived.
    Waiting,
    /// A transaction without a confirmation.
    Seen,
    /// A transaction with too few confirmations.
    Confirming,
    /// Completed, and the price is covered.
    Settled,
    /// Completed, and less than the price.
    Short,
    /// Failed.
    Failed,
    /// Cancelled at the service.
    Cancelled,
    /// Ran out with nothing arrived.
    Expired,
    /// The service named another address: nothing of it is shown any more.
    Frozen,
}

impl Standing {
    /// Every standing with its word.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Waiting, "waiting"),
        (Self::Seen, "seen"),
        (Self::Confirming, "confirming"),
        (Self::Settled, "settled"),
        (Self::Short, "short"),
        (Self::Failed, "failed"),
        (Self::Cancelled, "cancelled"),
        (Self::Expired, "expired"),
        (Self::Frozen, "frozen"),
    ];
}

/// What has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// In all three amounts.
    pub received: Figures<Amount>,
    /// Blocks so far and blocks required, as the service says.
    pub confirmations: Option<(u32, u32)>,
    /// The transaction's hash.
    pub transaction_hash: Option<String>,
    /// The asset that the customer picked on the service's page; absent before, and where the attempt names the asset.
    pub paid_in: Option<CryptoCode>,
}

impl Progress {
    /// Nothing has arrived.
    pub const NOTHING: Self = Self {
        received: Figures {
            crypto: Amount::ZERO,
            usd: Amount::ZERO,
            local: Amount::ZERO,
        },
        confirmations: None,
        transaction_hash: None,
        paid_in: None,
    };

    /// Whether something is on its way or there.
    pub fn is_something(&self) -> bool {
        !self.received.crypto.is_zero() || self.transaction_hash.is_some()
    }
}

impl NewAttempt {
    /// The ask for an invoice in one asset; `None` for a hosted session.
    pub fn custom(&self) -> Option<&CustomAsk> {
        match &self.ask {
            Ask::Custom(ask) => Some(ask),
            Ask::Hosted => None,
        }
    }

    /// Who shows the customer how to pay.
    pub fn flow(&self) -> Flow {
        match self.ask {
            Ask::Custom(_) => Flow::Custom,
            Ask::Hosted => Flow::Hosted,
        }
    }
}

impl Invoice {
    /// The invoice as it was opened: nothing has been seen of it.
    pub fn opened(
        id: InvoiceId,
        place: Place,
        opened_at: Timestamp,
        expires_at: Timestamp,
    ) -> Self {
        Self {
            id,
            place,
            opened_at,
            expires_at,
            marked_as_paid_at: None,
            standing: Standing::Waiting,
            standing_since: opened_at,
            progress: Progress::NOTHING,
            was_seen: false,
            told_late: None,
            observed_at: None,
            next_poll_at: None,
        }
    }

    /// Whether the store was not told yet that so much arrived late.
    pub(crate) fn is_untold(&self, received: Amount) -> bool {
        self.told_late.is_none_or(|told| received > told)
    }

    /// Where the hosted page is; `None` for an address.
    pub fn page(&self) -> Option<&str> {
        match &self.place {
            Place::Page { url } => Some(url),
            Place::Address { .. } => None,
        }
    }
}

impl Attempt {
    /// Its invoice, once it has one.
    pub fn invoice(&self) -> Option<&Invoice> {
        match &self.state {
            AttemptState::Open(invoice) => Some(invoice),
            AttemptState::Creating | AttemptState::Abandoned(_) => None,
        }
    }
}
