//! What the loader sees: mounting, unmounting, and the element's events.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use any_spawner::Executor;
use js_sys::Promise;
use reactive_graph::owner::Owner;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{HtmlElement, Node};

use crate::checkout::Checkout;
use crate::live::Live;
use crate::screens;

#[wasm_bindgen]
extern "C" {
    /// What the loader gives one checkout; see `widget/js/host/show.js`.
    pub type Host;

    /// Where the proxy is; ends in a slash.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn base(this: &Host) -> String;
    /// The language file.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn words(this: &Host) -> JsValue;
    /// The menu of languages.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn menu(this: &Host) -> Node;
    /// How numbers and times are written, BCP 47; its language is the file's.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn locale(this: &Host) -> String;
    /// A `crypto_code` to choose at once; empty for none.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn asset(this: &Host) -> String;
    /// The `crypto_code` that was chosen last on this origin; empty for none.
    #[wasm_bindgen(method)]
    pub(crate) fn recall(this: &Host) -> String;
    /// Keeps a `crypto_code` as the one that was chosen last.
    #[wasm_bindgen(method)]
    pub(crate) fn remember(this: &Host, crypto_code: &str);
    /// The element for the order's title: `h1` on a page of its own, `p` within the shop's.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn heading(this: &Host) -> String;
    /// Whether the same door opens another order once this one is paid.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn repeatable(this: &Host) -> bool;
    /// Whether the payment service's page is shown in a frame of this one.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn embed(this: &Host) -> bool;
    /// Opens the order; brings an [`Opening`]. `again` leaves the known order and opens another; an empty `amount` is
    /// none.
    #[wasm_bindgen(method)]
    pub(crate) fn open(this: &Host, again: bool, amount: &str) -> Promise;
    /// Prints the checkout without the page around it, once what is shown is up to date.
    #[wasm_bindgen(method)]
    pub(crate) fn print(this: &Host);
    /// Dispatches `florin-{name}` on the element.
    #[wasm_bindgen(method)]
    pub(crate) fn emit(this: &Host, name: &str, detail: &JsValue);

    /// What opening the order brought.
    pub(crate) type Opening;

    /// The order's client token; absent while there is no order.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn token(this: &Opening) -> Option<String>;
    /// The order; without a token a refusal, or the donation that needs an amount.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn body(this: &Opening) -> JsValue;
    /// A promise of the prices or of nothing, where an asset is to be chosen.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn quotes(this: &Opening) -> JsValue;
    /// Whether the customer has yet to name the amount of a donation.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn asks(this: &Opening) -> Option<bool>;
}

/// One checkout on the page.
struct Mounted {
    number: u32,
    live: Rc<Live>,
    /// Dropping it frees every signal, and all that follows one.
    _owner: Owner,
}

thread_local! {
    static MOUNTED: RefCell<Vec<Mounted>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u32> = const { Cell::new(1) };
}

/// Shows a checkout in `root` and returns its number.
#[wasm_bindgen]
pub fn mount(root: HtmlElement, host: Host) -> u32 {
    // Refused to every checkout but the page's first: it is done for all.
    let _ = Executor::init_wasm_bindgen();
    let live = Rc::new(Live::default());
    let owner = Owner::new();
    owner.with(|| {
        let place = root.clone();
        let checkout = Checkout::new(host, root, &live);
        checkout.begin();
        let page = screens::all(checkout);
        place
            .append_child(&page)
            .expect("a new page goes into its place");
    });
    let number = NEXT.replace(NEXT.get().wrapping_add(1));
    MOUNTED.with_borrow_mut(|mounted| {
        mounted.push(Mounted {
            number,
            live,
            _owner: owner,
        });
    });
    number
}

/// Removes a checkout and all that works for it.
#[wasm_bindgen]
pub fn unmount(number: u32) {
    let gone = MOUNTED.with_borrow_mut(|mounted| {
        let place = mounted.iter().position(|one| one.number == number)?;
        Some(mounted.swap_remove(place))
    });
    if let Some(gone) = gone {
        gone.live.stop();
    }
}

/// Asks for the order at once.
#[wasm_bindgen]
pub fn refresh(number: u32) {
    let live = MOUNTED.with_borrow(|mounted| {
        let one = mounted.iter().find(|one| one.number == number)?;
        Some(Rc::clone(&one.live))
    });
    if let Some(live) = live {
        live.ask();
    }
}
