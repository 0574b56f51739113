//! One checkout: what is known of its order, and what its customer can do.

use std::cell::RefCell;
use std::rc::Rc;

use checkout_api::{
    AttemptView, DonationView, ErrorCode, Fields as _, MarkPaid, OpenAttempt, OrderView, Quote,
};
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::api::{Api, Problem, read_order, refusal};
use crate::countdown;
use crate::element::Host;
use crate::json::Parsed;
use crate::language::{Language, object};
use crate::live::Live;
use crate::phase::Phase;
use crate::task::spawn;

/// The prices on the screen.
#[derive(Clone)]
pub(crate) enum Quotes {
    /// Under way, with nothing to show yet.
    Awaited,
    /// Not to be had at present.
    Missing,
    /// Prices, in the order in which they are offered.
    Shown(Rc<[Quote]>),
}

/// What a checkout works with beside its signals.
pub(crate) struct Parts {
    pub(crate) host: Host,
    pub(crate) root: HtmlElement,
    pub(crate) language: Language,
    pub(crate) api: Api,
    live: Rc<Live>,
    /// Beside a signal that says whether it is there: a signal of a type of its own is half a kilobyte.
    donation: RefCell<Option<Rc<DonationView>>>,
    /// The same.
    receipt: RefCell<Option<Rc<Parsed>>>,
}

/// A handle: copied into every closure, and empty once the element is gone.
#[derive(Clone, Copy)]
pub(crate) struct Checkout {
    parts: StoredValue<Rc<Parts>, LocalStorage>,
    /// The order as the server last described it.
    pub(crate) order: RwSignal<Option<Rc<OrderView>>, LocalStorage>,
    pub(crate) quotes: RwSignal<Quotes, LocalStorage>,
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
    pub(crate) seconds_left: RwSignal<u32>,
    /// Seconds since the server was heard, while `lost`.
    pub(crate) silent_for: RwSignal<u32>,
    /// What a screen reader is told.
    pub(crate) said: RwSignal<String>,
}

impl Checkout {
    pub(crate) fn new(host: Host, root: HtmlElement, live: &Rc<Live>) -> Self {
        let parts = Parts {
            language: Language::new(host.words(), host.locale()),
            api: Api::new(host.base()),
            host,
            root,
            live: Rc::clone(live),
            donation: RefCell::default(),
            receipt: RefCell::default(),
        };
        let checkout = Self {
            parts: StoredValue::new_local(Rc::new(parts)),
            order: RwSignal::new_local(None),
            quotes: RwSignal::new_local(Quotes::Awaited),
            asks: RwSignal::new(false),
            has_receipt: RwSignal::new(false),
            problem: RwSignal::new(None),
            stopped: RwSignal::new(false),
            choosing: RwSignal::new(false),
            busy: RwSignal::new(false),
            lost: RwSignal::new(false),
            seconds_left: RwSignal::new(0),
            silent_for: RwSignal::new(0),
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
    pub(crate) fn receipt(self) -> Option<Rc<Parsed>> {
        let parts = self.parts().filter(|_| self.has_receipt.get())?;
        parts.receipt.borrow().clone()
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

    /// Opens the order.
    pub(crate) fn begin(self) {
        self.open(false);
    }

    /// Leaves this order and opens another by the same door.
    pub(crate) fn start_over(self) {
        self.open(true);
    }

    fn open(self, again: bool) {
        self.order.set(None);
        self.problem.set(None);
        self.stopped.set(false);
        self.choosing.set(false);
        self.asks.set(false);
        self.has_receipt.set(false);
        self.quotes.set(Quotes::Awaited);
        self.ask_to_open(again, String::new());
    }

    /// Gives this amount, as a decimal text: the proxy says whether it is one, and within the bounds.
    pub(crate) fn give(self, amount: String) {
        if self.busy.get_untracked() {
            return;
        }
        self.problem.set(None);
        self.ask_to_open(false, amount);
    }

    fn ask_to_open(self, again: bool, amount: String) {
        let Some(parts) = self.parts() else { return };
        self.busy.set(true);
        spawn(async move {
            let answer = parts.host.open(again, &amount).await;
            if self.parts().is_none() {
                return;
            }
            self.busy.set(false);
            let done = answer
                .map_err(|_| Problem::Network)
                .and_then(|answer| self.opened(&Parsed(answer)));
            match done {
                Ok(()) => {}
                // What was typed stays on the screen.
                Err(problem) if self.has_screen() => self.tell(problem),
                Err(problem) => self.stop_with(problem),
            }
        });
    }

    fn opened(self, answer: &Parsed) -> Result<(), Problem> {
        let body = answer.object("body").ok_or(Problem::Unreadable)?;
        if answer.flag("asks") == Some(true) {
            let donation = DonationView::read(&body).map_err(|_| Problem::Unreadable)?;
            if let Some(parts) = self.parts() {
                *parts.donation.borrow_mut() = Some(Rc::new(donation));
            }
            self.asks.set(true);
            return Ok(());
        }
        let Some(token) = answer.text("token") else {
            return Err(refusal(body.0));
        };
        if let Some(parts) = self.parts() {
            parts.api.hold(token);
        }
        self.receive(read_order(&body.0)?);
        Ok(())
    }

    /// Shows the order as the server describes it.
    pub(crate) fn receive(self, order: OrderView) {
        let Some(parts) = self.parts() else { return };
        let before = self.order.get_untracked();
        // A slow answer to an earlier question: what is shown is newer.
        let is_old = |shown: &Rc<OrderView>| shown.id == order.id && shown.version > order.version;
        if before.as_ref().is_some_and(is_old) {
            parts.live.heard(None);
            return;
        }
        let status = order.status;
        let is_news = before.is_none_or(|before| before.status != status);
        let left = order.attempt.as_ref().map_or(0, |a| a.expires_in_seconds);
        let id = order.id.clone();
        let order = Rc::new(order);
        self.seconds_left.set(left);
        self.answered(is_news);
        self.stopped.set(false);
        self.order.set(Some(Rc::clone(&order)));
        parts.live.heard(Some(&order));
        if is_news {
            let detail = object(&[("order_id", &id), ("status", status.as_str())]);
            parts.host.emit("status", &detail);
        }
        if is_news && status.is_settled() {
            parts.host.emit("paid", &object(&[("order_id", &id)]));
        }
    }

    /// The proxy has answered: a connection that was lost is back, and with news what was refused before is past.
    pub(crate) fn answered(self, is_news: bool) {
        self.lost.set(false);
        let is_past = self.problem.with_untracked(|problem| match problem {
            Some(Problem::Network) => true,
            Some(_) => is_news,
            None => false,
        });
        if is_past {
            self.problem.set(None);
        }
    }

    /// Gives up until the customer tries again.
    pub(crate) fn stop_with(self, problem: Problem) {
        self.tell(problem);
        self.stopped.set(true);
    }

    /// Shows why a wish was not granted.
    fn tell(self, problem: Problem) {
        if let Some(parts) = self.parts() {
            let code = problem.code().map_or("network", ErrorCode::as_str);
            let message = match &problem {
                Problem::Refused(body) => body.message.as_str(),
                Problem::Network => "no answer",
                Problem::Unreadable => "an answer that this page does not understand",
            };
            let detail = object(&[("code", code), ("message", message)]);
            parts.host.emit("error", &detail);
        }
        self.problem.set(Some(problem));
    }

    /// Gets the prices; those on the screen stay until then.
    pub(crate) fn load_quotes(self) {
        let Some(parts) = self.parts() else { return };
        spawn(async move {
            let answer = parts.api.quotes().await;
            if self.parts().is_none() {
                return;
            }
            if let Ok(quotes) = answer {
                let hold = quotes.iter().map(|quote| quote.valid_for_seconds).min();
                parts.live.quotes_hold(hold.unwrap_or(30).max(5));
                let wanted = parts.host.asset();
                let first = matches!(self.quotes.get_untracked(), Quotes::Awaited);
                let chosen = quotes
                    .iter()
                    .find(|quote| first && quote.available && quote.crypto_code == wanted)
                    .cloned();
                self.quotes.set(Quotes::Shown(quotes.into()));
                if let Some(quote) = chosen.filter(|_| !self.choosing.get_untracked()) {
                    self.choose(quote.crypto_code, quote.quote_id);
                }
            } else {
                parts.live.quotes_hold(15);
                if !matches!(self.quotes.get_untracked(), Quotes::Shown(_)) {
                    self.quotes.set(Quotes::Missing);
                }
            }
        });
    }

    /// Opens an attempt in this asset, at the price that was shown.
    pub(crate) fn choose(self, crypto_code: String, quote_id: String) {
        let wish = OpenAttempt {
            crypto_code,
            quote_id,
        };
        self.post("/attempt", wish.to_json());
    }

    /// Opens another attempt in the same asset at today's price; offers the choice when it is not to be had.
    pub(crate) fn renew(self, crypto_code: String) {
        let Some(parts) = self.parts() else { return };
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        spawn(async move {
            let quotes = parts.api.quotes().await.unwrap_or_default();
            if self.parts().is_none() {
                return;
            }
            self.busy.set(false);
            let quote = quotes
                .into_iter()
                .find(|quote| quote.available && quote.crypto_code == crypto_code);
            match quote {
                Some(quote) => self.choose(quote.crypto_code, quote.quote_id),
                None => self.choose_again(),
            }
        });
    }

    /// Shows the choice of assets.
    pub(crate) fn choose_again(self) {
        self.quotes.set(Quotes::Awaited);
        self.problem.set(None);
        self.choosing.set(true);
    }

    /// "I have paid".
    pub(crate) fn mark_paid(self, email: &str) {
        let email = email.trim();
        let wish = MarkPaid {
            email: (!email.is_empty()).then(|| email.to_owned()),
        };
        self.post("/paid", wish.to_json());
    }

    /// Opens another session on the payment service's page.
    pub(crate) fn open_session(self) {
        self.post("/session", String::from("{}"));
    }

    /// Gets the receipt, so that it is there when somebody prints.
    pub(crate) fn load_receipt(self, print: bool) {
        let Some(parts) = self.parts() else { return };
        spawn(async move {
            let answer = parts.api.receipt().await;
            if self.parts().is_none() {
                return;
            }
            match answer {
                Ok(receipt) => {
                    *parts.receipt.borrow_mut() = Some(Rc::new(Parsed(receipt)));
                    self.has_receipt.set(true);
                    if print {
                        parts.host.print();
                    }
                }
                Err(problem) if print => self.tell(problem),
                Err(_) => {}
            }
        });
    }

    /// Prints the receipt.
    pub(crate) fn print_receipt(self) {
        match self.parts() {
            Some(parts) if self.has_receipt.get_untracked() => parts.host.print(),
            _ => self.load_receipt(true),
        }
    }

    fn post(self, path: &'static str, json: String) {
        let Some(parts) = self.parts() else { return };
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.problem.set(None);
        spawn(async move {
            let answer = parts.api.post(path, json).await;
            if self.parts().is_none() {
                return;
            }
            self.busy.set(false);
            match answer {
                Ok(order) => {
                    self.choosing.set(false);
                    self.receive(order);
                }
                Err(problem) => {
                    self.tell(problem);
                    // The prices or the order may not be what the screen shows.
                    if self.is_choosing() {
                        self.load_quotes();
                    }
                    parts.live.ask();
                }
            }
        });
    }

    /// The countdown has moved.
    pub(crate) fn count_down(self, seconds: u32) {
        self.seconds_left.set(seconds);
        let (Some((number, unit)), Some(parts)) = (countdown::announcement(seconds), self.parts())
        else {
            return;
        };
        if untrack(|| self.phase()) == Phase::Paying {
            let time = parts.language.duration(number, unit);
            self.said
                .set(self.sentence("time_left", &[("time", &time)]));
        }
    }
}

/// One type of memo for all, see `markup`.
pub(crate) fn remember(read: Box<dyn Fn() -> String + Send + Sync>) -> Memo<String> {
    Memo::new(move |_| read())
}
