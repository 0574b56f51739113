//! One checkout: what is known of its order, and what its customer can do.

mod opening;
mod quotes;
mod telling;
mod wishes;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use checkout_api::{AttemptView, DonationView, OrderView, SignedReceipt};
use reactive_graph::computed::Memo;
use reactive_graph::graph::untrack;
use reactive_graph::owner::{LocalStorage, StoredValue};
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use web_sys::HtmlElement;

pub(crate) use self::quotes::Quotes;

use crate::announcing::Announcing;
use crate::api::{Api, Problem};
use crate::currency_sign::{Sign, sign};
use crate::element::Host;
use crate::language::Language;
use crate::live::Live;
use crate::phase::Phase;

/// What a checkout works with beside its signals.
pub(crate) struct Parts {
    pub(crate) host: Host,
    pub(crate) root: HtmlElement,
    pub(crate) language: Language,
    pub(crate) api: Rc<Api>,
    live: Rc<Live>,
    announcing: Cell<Announcing>,
    /// Beside a signal that says whether it is there: a signal of a type of its own is half a kilobyte.
    donation: RefCell<Option<Rc<DonationView>>>,
    /// Beside a signal likewise.
    receipt: RefCell<Option<Rc<SignedReceipt>>>,
    /// When a screen reader was last told of fresh prices, by the monotonic clock.
    prices_said_ms: Cell<Option<u64>>,
}

/// A handle: copied into every closure, and empty once the element is gone.
#[derive(Clone, Copy)]
pub(crate) struct Checkout {
    parts: StoredValue<Rc<Parts>, LocalStorage>,
    /// The order as the server last described it.
    pub(crate) order: RwSignal<Option<Rc<OrderView>>, LocalStorage>,
    pub(crate) quotes: RwSignal<Quotes, LocalStorage>,
    /// The prices on the screen have just moved.
    pub(crate) fresh: RwSignal<bool>,
    /// The `crypto_code` whose network the customer is asked to confirm; empty while there is none.
    pub(crate) confirming: RwSignal<String>,
    /// The customer has yet to name the amount of a donation.
    asks: RwSignal<bool>,
    /// The receipt of the paid order has arrived.
    has_receipt: RwSignal<bool>,
    /// Why there is no order to show, or why the last wish was not granted.
    pub(crate) problem: RwSignal<Option<Problem>>,
    /// The problem leaves nothing to show.
    stopped: RwSignal<bool>,
    /// The customer asked for another asset.
    pub(crate) choosing: RwSignal<bool>,
    /// A wish is with the server.
    pub(crate) busy: RwSignal<bool>,
    /// The server has not been heard for a while.
    pub(crate) lost: RwSignal<bool>,
    /// It was lost, and is back since a moment ago.
    pub(crate) back: RwSignal<bool>,
    pub(crate) seconds_left: RwSignal<u32>,
    /// Seconds since the payment service was last heard about the order.
    pub(crate) checked_for: RwSignal<u32>,
    /// Seconds until a page that is stopped tries again; 0 while it does not wait to.
    pub(crate) retry_in: RwSignal<u32>,
    /// What a screen reader is told.
    pub(crate) said: RwSignal<String>,
}

impl Checkout {
    pub(crate) fn new(host: Host, root: HtmlElement, live: &Rc<Live>) -> Self {
        let parts = Parts {
            language: Language::new(&host.words(), host.locale()),
            api: Rc::new(Api::new(host.base())),
            host,
            root,
            live: Rc::clone(live),
            announcing: Cell::default(),
            donation: RefCell::default(),
            receipt: RefCell::default(),
            prices_said_ms: Cell::default(),
        };
        let checkout = Self {
            parts: StoredValue::new_local(Rc::new(parts)),
            order: RwSignal::new_local(None),
            quotes: RwSignal::new_local(Quotes::Awaited),
            fresh: RwSignal::new(false),
            confirming: RwSignal::new(String::new()),
            asks: RwSignal::new(false),
            has_receipt: RwSignal::new(false),
            problem: RwSignal::new(None),
            stopped: RwSignal::new(false),
            choosing: RwSignal::new(false),
            busy: RwSignal::new(false),
            lost: RwSignal::new(false),
            back: RwSignal::new(false),
            seconds_left: RwSignal::new(0),
            checked_for: RwSignal::new(0),
            retry_in: RwSignal::new(0),
            said: RwSignal::new(String::new()),
        };
        live.start(checkout);
        checkout
    }

    /// The checkout's parts; `None` once it was removed.
    pub(crate) fn parts(self) -> Option<Rc<Parts>> {
        self.parts.try_get_value()
    }

    /// The phase of its order.
    pub(crate) fn phase(self) -> Phase {
        let order = self.order.get();
        if order.is_none() && self.asks.get() && !self.stopped.get() {
            return Phase::Giving;
        }
        let phase = Phase::of(order.as_deref(), self.choosing.get(), self.stopped.get());
        // The service's page in a frame shows the blocks itself; whoever looks at it is not called away.
        match order {
            Some(order) if phase == Phase::Processing && order.payment_process_url.is_some() => {
                let embeds = self.parts().is_some_and(|parts| parts.host.embed());
                if embeds { Phase::Hosted } else { phase }
            }
            _ => phase,
        }
    }

    /// A text that follows the order, for a part of the page that is built anew only when the text changes. Empty
    /// while there is no order, or no attempt.
    pub(crate) fn watch(
        self,
        read: fn(&OrderView, &AttemptView) -> Option<String>,
    ) -> Memo<String> {
        let read = move || {
            self.order.with(|order| {
                let order = order.as_ref()?;
                read(order, order.attempt.as_ref()?)
            })
        };
        remember(Box::new(move || read().unwrap_or_default()))
    }

    /// Whether there is an order to ask about.
    pub(crate) fn is_open(self) -> bool {
        self.order.with_untracked(Option::is_some)
    }

    /// Whether there is something to show even while a wish was not granted.
    pub(crate) fn has_screen(self) -> bool {
        self.is_open() || self.asks.get_untracked()
    }

    /// The donation whose amount the customer has yet to name.
    pub(crate) fn donation(self) -> Option<Rc<DonationView>> {
        let parts = self.parts().filter(|_| self.asks.get())?;
        parts.donation.borrow().clone()
    }

    /// The receipt, once the order is paid and it has arrived.
    pub(crate) fn receipt(self) -> Option<Rc<SignedReceipt>> {
        let parts = self.parts().filter(|_| self.has_receipt.get())?;
        parts.receipt.borrow().clone()
    }

    /// Whether this is the proxy's own page, framed or not.
    pub(crate) fn is_page(self) -> bool {
        self.parts()
            .is_some_and(|parts| parts.host.heading() == "h1")
    }

    pub(crate) fn is_choosing(self) -> bool {
        untrack(|| self.phase()) == Phase::Choosing
    }

    /// A text of the customer's language.
    pub(crate) fn word(self, key: &'static str) -> String {
        self.parts
            .try_with_value(|parts| parts.language.word(key))
            .unwrap_or_default()
    }

    /// The same with its gaps filled.
    pub(crate) fn sentence(self, key: &'static str, values: &[(&str, &str)]) -> String {
        self.parts
            .try_with_value(|parts| parts.language.sentence(key, values))
            .unwrap_or_default()
    }

    /// An amount of money as the customer's language writes it.
    pub(crate) fn money(self, amount: &str, currency: &str) -> String {
        self.parts
            .try_with_value(|parts| parts.language.money(amount, currency))
            .unwrap_or_default()
    }

    /// The sign of a currency as the customer's language writes it.
    pub(crate) fn sign(self, currency: &str) -> Sign {
        sign(&self.money("0", currency), &self.number("0"))
    }

    /// A moment as the customer's language writes it.
    pub(crate) fn moment(self, time: &str) -> String {
        self.parts
            .try_with_value(|parts| parts.language.moment(time))
            .unwrap_or_default()
    }

    /// A number as the customer's language writes it.
    pub(crate) fn number(self, amount: &str) -> String {
        self.parts
            .try_with_value(|parts| parts.language.amount(amount))
            .unwrap_or_default()
    }
}

/// One type of memo for all, see `markup`.
pub(crate) fn remember(read: Box<dyn Fn() -> String + Send + Sync>) -> Memo<String> {
    Memo::new(move |_| read())
}
