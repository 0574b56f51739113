//! One checkout: the signals of its order.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use florin_checkout_api::{AttemptView, DonationView, OrderView, SignedReceipt};
use leptos::prelude::*;
use web_sys::HtmlElement;

use super::announcements::Announcements;
use super::phase::Phase;
use super::{Connection, Problem, Request, Sold};
use crate::browser::is_hidden;
use crate::host::{Host, PageStore};
use crate::i18n::I18n;

pub(crate) struct Shared {
    pub(crate) host: Host,
    /// The element that the page is in, below the shadow root.
    pub(crate) root: HtmlElement,
    pub(crate) connection: Rc<dyn Connection>,
    pub(super) announcements: Cell<Announcements>,
    /// What the customer has pressed without a result, and how many times in a row.
    pub(super) unfinished: RwSignal<Option<(Press, i32)>>,
    /// Seconds until the order is opened again; 0 while no retry is planned.
    pub(crate) retry_in_seconds: RwSignal<u32>,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Press {
    Send(Request),
    /// Opens another attempt in the asset of this `crypto_code`, at today's price.
    Renew(String),
    /// Opens the order of a donation of this amount.
    Donate(String),
    /// Gets the receipt and prints it, by this function of the payment module.
    Print(Print),
}

/// A function that the first module does not call by its name: it would contain it then.
#[derive(Clone)]
pub(crate) struct Print(pub(super) fn(Checkout));

impl PartialEq for Print {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Print {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PaymentScreens {
    Awaited,
    /// Being loaded, after this number of failures in a row.
    Loading(u32),
    /// Number of failures in a row.
    Failed(u32),
    /// The proxy no longer has those of this page's version.
    OutOfDate,
    Loaded,
}

impl PaymentScreens {
    pub(crate) fn failures(self) -> u32 {
        match self {
            Self::Loading(failures) | Self::Failed(failures) => failures,
            _ => 0,
        }
    }
}

/// A handle: copied into every closure, and empty once the element is removed.
#[derive(Clone, Copy)]
pub(crate) struct Checkout {
    shared: StoredValue<Rc<Shared>, LocalStorage>,
    pub(crate) i18n: I18n,
    /// The order as the server last described it.
    pub(crate) order: RwSignal<Option<Arc<OrderView>>>,
    /// What is sold, of the order too.
    pub(crate) offer: RwSignal<Option<Arc<Sold>>>,
    pub(crate) phase: Memo<Phase>,
    pub(crate) payment_screens: RwSignal<PaymentScreens>,
    /// The quotes as JSON, for the page's script; empty while they are awaited.
    pub(crate) quotes: RwSignal<String>,
    /// The donation whose amount the customer has yet to name.
    pub(crate) donation: RwSignal<Option<Arc<DonationView>>>,
    pub(crate) receipt: RwSignal<Option<Arc<SignedReceipt>>>,
    /// Why there is no order to show, or why the last request was refused.
    pub(crate) problem: RwSignal<Option<Problem>>,
    /// The problem leaves nothing to show.
    pub(super) is_stopped: RwSignal<bool>,
    pub(crate) is_choosing: RwSignal<bool>,
    pub(crate) is_busy: RwSignal<bool>,
    pub(crate) is_offline: RwSignal<bool>,
    pub(crate) is_back: RwSignal<bool>,
    pub(crate) seconds_left: RwSignal<u32>,
    /// Seconds since the gateway last answered about the order.
    pub(crate) checked_seconds_ago: RwSignal<u32>,
    pub(crate) announcement: RwSignal<String>,
}

pub(crate) fn use_checkout() -> Checkout {
    expect_context()
}

impl Checkout {
    pub(crate) fn new(
        host: Host,
        root: HtmlElement,
        i18n: I18n,
        connection: Rc<dyn Connection>,
    ) -> Self {
        let order = RwSignal::new(None);
        let offer = RwSignal::new(None);
        let donation = RwSignal::new(None);
        let (is_stopped, is_choosing) = (RwSignal::new(false), RwSignal::new(false));
        let payment_screens = RwSignal::new(PaymentScreens::Awaited);
        let embeds = host.embed();
        let asked = Memo::new(move |_| {
            let order: Option<Arc<OrderView>> = order.get();
            if order.is_none() && donation.with(Option::is_some) && !is_stopped.get() {
                return Phase::EnterAmount;
            }
            let has_offer = offer.with(Option::is_some);
            let (is_choosing, is_stopped) = (is_choosing.get(), is_stopped.get());
            let phase = Phase::of(order.as_deref(), has_offer, is_choosing, is_stopped);
            // The gateway's page in a frame shows the confirmations itself.
            let is_hosted = order.is_some_and(|order| order.payment_process_url.is_some());
            match phase {
                Phase::Processing if is_hosted && embeds => Phase::Hosted,
                phase => phase,
            }
        });
        let phase = Memo::new(move |_| match asked.get() {
            phase if phase.is_first() || payment_screens.get() == PaymentScreens::Loaded => phase,
            _ => Phase::LoadingPayment,
        });
        let shared = Shared {
            host,
            root,
            connection,
            announcements: Cell::default(),
            unfinished: RwSignal::new(None),
            retry_in_seconds: RwSignal::new(0),
        };
        Self {
            shared: StoredValue::new_local(Rc::new(shared)),
            i18n,
            order,
            offer,
            phase,
            payment_screens,
            quotes: RwSignal::new(String::new()),
            donation,
            receipt: RwSignal::new(None),
            problem: RwSignal::new(None),
            is_stopped,
            is_choosing,
            is_busy: RwSignal::new(false),
            is_offline: RwSignal::new(false),
            is_back: RwSignal::new(false),
            seconds_left: RwSignal::new(0),
            checked_seconds_ago: RwSignal::new(0),
            announcement: RwSignal::new(String::new()),
        }
    }

    pub(crate) fn shared(self) -> Option<Rc<Shared>> {
        self.shared.try_get_value()
    }

    /// Returns `true` once the element is removed: no signal may be read or set then.
    pub(crate) fn is_removed(self) -> bool {
        self.shared.try_with_value(|_| ()).is_none()
    }

    /// A value that follows order and attempt; the default while there is neither.
    pub(crate) fn follow<T>(self, read: fn(&OrderView, &AttemptView) -> T) -> Memo<T>
    where
        T: Default + PartialEq + Send + Sync + 'static,
    {
        Memo::new(move |_| {
            self.order
                .with(|order| {
                    let order = order.as_ref()?;
                    Some(read(order, order.attempt.as_ref()?))
                })
                .unwrap_or_default()
        })
    }

    /// What is to be sent where, as one text. Of a hosted order it is the gateway's page, which a new session changes.
    pub(crate) fn destination(self) -> Option<String> {
        let phase = self.phase.get();
        self.order.with(|order| {
            let order = order.as_ref()?;
            if phase == Phase::Hosted {
                return order.payment_process_url.clone();
            }
            let attempt = order.attempt.as_ref()?;
            let amount = attempt.amount_in_crypto.as_str();
            Some(format!(
                "{} {amount} {}",
                attempt.crypto_code, attempt.address
            ))
        })
    }

    /// Returns `true` while the page is hidden and its customer waits for no notification: it sends no request.
    pub(crate) fn is_at_rest(self) -> bool {
        is_hidden() && self.shared().is_some_and(|shared| !shared.host.notifies())
    }

    pub(crate) fn has_order(self) -> bool {
        self.order.with_untracked(Option::is_some)
    }

    /// Returns `true` if there is something to show even after a refused request.
    pub(crate) fn has_screen(self) -> bool {
        self.offer.with_untracked(Option::is_some) || self.donation.with_untracked(Option::is_some)
    }

    /// Returns `true` on the proxy's own page, framed or not.
    pub(crate) fn is_page(self) -> bool {
        self.shared()
            .is_some_and(|shared| shared.host.heading() == "h1")
    }

    /// Returns `true` if another order can be opened by the same attributes.
    pub(crate) fn is_repeatable(self) -> bool {
        self.shared().is_some_and(|shared| shared.host.repeatable())
    }

    pub(crate) fn money(self, amount: &str) -> String {
        let currency = self
            .offer
            .with_untracked(|offer| offer.as_ref().map(|offer| offer.currency.clone()));
        self.i18n.money(amount, &currency.unwrap_or_default())
    }

    /// The store's name; empty while neither an order nor the page says it.
    pub(crate) fn store_name(self) -> String {
        self.offer
            .with_untracked(|offer| offer.as_ref().map(|offer| offer.store.name.clone()))
            .or_else(|| self.page_store().map(|store| store.name()))
            .unwrap_or_default()
    }

    pub(crate) fn page_store(self) -> Option<PageStore> {
        self.shared()?.host.store()
    }
}
