//! The functions that the page's script calls.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use florin_money::Network;
use leptos::mount::mount_to;
use leptos::prelude::*;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::HtmlElement;

use crate::app::App;
use crate::host::Host;
use crate::i18n::{I18n, Language};
use crate::net::Polling;
use crate::state::{Checkout, Connection as _};

struct Mounted {
    number: u32,
    polling: Rc<Polling>,
    /// Dropping it removes the page and frees its signals, effects and listeners.
    _page: Box<dyn Any>,
}

thread_local! {
    static MOUNTED: RefCell<Vec<Mounted>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u32> = const { Cell::new(1) };
}

/// Shows a checkout in `root` and returns its number.
#[wasm_bindgen]
#[expect(
    clippy::needless_pass_by_value,
    reason = "for a borrowed object wasm-bindgen writes `table.fill`, which Binaryen 116 cannot read"
)]
pub fn mount(root: HtmlElement, host: Host) -> u32 {
    #[cfg(feature = "panic-hook")]
    console_error_panic_hook::set_once();
    let polling = Polling::new(host.clone());
    let menu = host.menu();
    let place = root.clone();
    let connection = Rc::clone(&polling);
    let page = mount_to(root.clone(), move || {
        let i18n = I18n::new(Language::new(&host.words(), host.locale()));
        let checkout = Checkout::new(host, place, i18n, connection.clone());
        connection.start(checkout);
        checkout.begin();
        view! { <App checkout=checkout /> }
    });
    // The menu is an element of the page's script, not a view.
    if let Ok(Some(summary)) = root.query_selector(".summary") {
        let _ = summary.append_child(&menu);
    }
    let number = NEXT.replace(NEXT.get().wrapping_add(1));
    MOUNTED.with_borrow_mut(|mounted| {
        mounted.push(Mounted {
            number,
            polling,
            _page: Box::new(page),
        });
    });
    number
}

/// Removes a checkout: its page, requests, timers and listeners.
#[wasm_bindgen]
pub fn unmount(number: u32) {
    let removed = MOUNTED.with_borrow_mut(|mounted| {
        let place = mounted.iter().position(|one| one.number == number)?;
        Some(mounted.swap_remove(place))
    });
    if let Some(removed) = removed {
        removed.polling.stop();
    }
}

/// Polls the order at once.
#[wasm_bindgen]
pub fn refresh(number: u32) {
    if let Some(polling) = polling(number) {
        polling.poll_now();
    }
}

/// Shows the list of assets, or the payment again: the browser's Back and Forward.
#[wasm_bindgen]
pub fn show_list(number: u32, is_list: bool) {
    if let Some(checkout) = polling(number).and_then(|polling| polling.checkout()) {
        checkout.turn_to_list(is_list);
    }
}

/// What wallets and exchanges call a network, and after a line break the shape of its addresses; empty for an unknown one.
#[wasm_bindgen]
#[must_use]
pub fn network(name: &str) -> String {
    let known = Network::of(name);
    known.map_or_else(String::new, |known| {
        format!("{}\n{}", known.names, known.example)
    })
}

fn polling(number: u32) -> Option<Rc<Polling>> {
    MOUNTED.with_borrow(|mounted| {
        let one = mounted.iter().find(|one| one.number == number)?;
        Some(Rc::clone(&one.polling))
    })
}
