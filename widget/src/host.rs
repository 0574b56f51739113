//! The functions and settings that the page's script gives one checkout.

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{AbortSignal, HtmlElement, Node};

#[wasm_bindgen]
extern "C" {
    /// What the page's script gives one checkout: see `widget/js/host/checkout.js`.
    #[derive(Clone)]
    pub type Host;

    /// The proxy's address; ends in a slash.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn base(this: &Host) -> String;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn words(this: &Host) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn menu(this: &Host) -> Node;
    /// How numbers and times are written, BCP 47; its language is the file's.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn locale(this: &Host) -> String;
    /// What is sold, with its shop and price, as it was drawn last.
    #[wasm_bindgen(method)]
    pub(crate) fn about(this: &Host) -> Node;
    /// The element for the order's title: `h1` on the checkout page, `p` within the shop's.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn heading(this: &Host) -> String;
    /// `true` where the same attributes open another order once this one is paid.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn repeatable(this: &Host) -> bool;
    /// `true` where the gateway's page is shown in a frame of this one.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn embed(this: &Host) -> bool;
    /// Loads what the screens after the asset choice need: their module, their style, and their texts, which it brings;
    /// `null` if the proxy no longer has those of this page's version.
    #[wasm_bindgen(method)]
    pub(crate) fn load_payment(this: &Host) -> Promise;
    /// Puts the list of assets into a place of the screens. `calls`: `ListCalls` of widget/js/types.d.ts. `may_leave`: a payment
    /// can be gone back to.
    #[wasm_bindgen(method)]
    pub(crate) fn list(
        this: &Host,
        place: &HtmlElement,
        calls: &JsValue,
        may_leave: bool,
    ) -> AssetList;
    /// What opening the order brought, once, if it came with its prices before the program did.
    #[wasm_bindgen(method)]
    pub(crate) fn take_opening(this: &Host) -> Option<HostResponse>;
    /// Finds the order, or what is offered while there is none; brings a [`HostResponse`]. `again` leaves the known order; an
    /// empty `amount` is the one before.
    #[wasm_bindgen(method)]
    pub(crate) fn open(this: &Host, again: bool, amount: &str) -> Promise;
    /// Opens the order with an attempt in this asset; brings a [`HostResponse`]. Repeated while it is under way, it sends
    /// nothing.
    #[wasm_bindgen(method)]
    pub(crate) fn choose(this: &Host, crypto_code: &str, quote_id: &str) -> Promise;
    /// Returns `true` if an order may exist that this checkout has not shown: its token is known, or was signed by the shop.
    #[wasm_bindgen(method)]
    pub(crate) fn may_exist(this: &Host) -> bool;
    /// What makes the address of a GET request one that a caching service worker has not answered: a query, or nothing.
    #[wasm_bindgen(method)]
    pub(crate) fn uncached(this: &Host) -> String;
    /// Resolves with `true` if an event stream may be opened, which has a place until `signal` ends it: over HTTP/1.1 a
    /// browser has six connections to a host.
    #[wasm_bindgen(method)]
    pub(crate) fn may_stream(this: &Host, signal: &AbortSignal) -> Promise;
    /// Shows the state of the order in the icon of the proxy's page: `paid`, `problem`, or empty for the usual icon.
    #[wasm_bindgen(method)]
    pub(crate) fn mark(this: &Host, state: &str);
    /// The store of the proxy's page, where the page came without an offer.
    #[wasm_bindgen(method)]
    pub(crate) fn store(this: &Host) -> Option<PageStore>;
    /// Takes what the proxy's page shows: `list`, `payment` or neither, and the id of an order that can be paid, or nothing.
    #[wasm_bindgen(method)]
    pub(crate) fn shows(this: &Host, screen: &str, order: &str);
    /// Draws a button that has the customer notified once the order is paid, where this page may ask to.
    #[wasm_bindgen(method)]
    pub(crate) fn notify_button(this: &Host, place: &HtmlElement);
    /// Returns `true` if the customer waits for a notification.
    #[wasm_bindgen(method)]
    pub(crate) fn notifies(this: &Host) -> bool;
    /// Prints the checkout without the page around it, once what is shown is up to date.
    #[wasm_bindgen(method)]
    pub(crate) fn print(this: &Host);
    /// Draws what is to be sent in a place of the screens, with the wallets of this browser: `WalletPayment` of
    /// widget/js/types.d.ts. What the place has goes beside the code.
    #[wasm_bindgen(method)]
    pub(crate) fn instructions(this: &Host, place: &HtmlElement, payment: &JsValue);
    /// Shows how far a payment by a wallet of this browser is.
    #[wasm_bindgen(method)]
    pub(crate) fn wallets(this: &Host, place: &HtmlElement, payment: &JsValue);
    /// Draws a button that copies: `CopyButton` of widget/js/types.d.ts.
    #[wasm_bindgen(method)]
    pub(crate) fn copy_button(this: &Host, place: &HtmlElement, button: &JsValue);
    /// The payment's screen, if it was drawn before the program ran. `due`: what is to be sent where.
    #[wasm_bindgen(method)]
    pub(crate) fn early_payment(this: &Host, due: &str) -> Option<Node>;
    /// Dispatches `florin-{name}` on the element.
    #[wasm_bindgen(method)]
    pub(crate) fn emit(this: &Host, name: &str, detail: &JsValue);

    /// The result of [`Host::list`].
    pub(crate) type AssetList;

    /// Shows these quotes: `ShownList` of widget/js/types.d.ts.
    #[wasm_bindgen(method)]
    pub(crate) fn show(this: &AssetList, quotes: &str, is_unpriced: bool, is_busy: bool);

    /// The result of [`Host::store`].
    pub(crate) type PageStore;

    #[wasm_bindgen(method, getter)]
    pub(crate) fn name(this: &PageStore) -> String;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn support_url(this: &PageStore) -> Option<String>;
    /// Where customers go back to; absent where the store names no such page.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn return_url(this: &PageStore) -> Option<String>;

    /// The result of [`Host::open`].
    pub(crate) type HostResponse;

    /// The order's client token; absent while there is no order.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn token(this: &HostResponse) -> Option<String>;
    /// The order; without a token a refusal, what is offered, or the donation that needs an amount.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn body(this: &HostResponse) -> JsValue;
    #[wasm_bindgen(method, getter)]
    pub(crate) fn status(this: &HostResponse) -> u16;
    /// The prices, or a promise of them or of nothing, where an asset is to be chosen.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn quotes(this: &HostResponse) -> JsValue;
    /// `true` where `body` is an offer.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn offers(this: &HostResponse) -> Option<bool>;
    /// Why the order has no attempt, as the proxy wrote it; `undefined` if it has one, or if none was asked for.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn refusal(this: &HostResponse) -> JsValue;
    /// `true` while the customer has yet to name the amount of a donation.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn asks(this: &HostResponse) -> Option<bool>;
}
