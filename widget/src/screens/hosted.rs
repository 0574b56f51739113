//! The payment service's own page, where a hosted order is paid.
//!
//! Only an address that the proxy has checked is gone to. What its customer did there, and where the page sends them
//! afterwards, proves nothing: this screen stays until the proxy says otherwise.

use reactive_graph::prelude::*;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::links;
use crate::markup::{Tag, nothing, tag};

use super::{button, heading, paragraph, root, while_idle};

/// What the framed page may do: run its program, keep its own storage, send its forms, open a wallet or an explorer. It
/// may not lead the shop's page away.
const SANDBOX: &str = "allow-scripts allow-same-origin allow-forms allow-popups";

/// The page in a frame, or the way to it.
pub(super) fn show(checkout: Checkout) -> Node {
    let (Some(url), Some(parts)) = (page(checkout), checkout.parts()) else {
        return nothing();
    };
    if url.is_empty() {
        return invitation(checkout)
            .with(tag("div", "actions").with(again(checkout, "hosted_go")))
            .into();
    }
    if !parts.host.embed() {
        let go = link(checkout, "primary", "hosted_go", &url);
        return invitation(checkout)
            .with(tag("div", "actions").with(go))
            .into();
    }
    let frame = tag("iframe", "")
        .attr("title", checkout.word("hosted"))
        .attr("sandbox", SANDBOX)
        .attr("allow", "clipboard-write")
        .attr("referrerpolicy", "strict-origin")
        .attr("src", url.as_str())
        .test("hosted-frame");
    tag("div", "embedded")
        .test("status-hosted")
        .with(
            tag("h2", "unseen")
                .attr("tabindex", "-1")
                .text(checkout.word("hosted")),
        )
        .with(frame)
        .with(link(checkout, "plain", "hosted_open", &url))
        .into()
}

/// Where to go on while money is on its way or a part of it is missing.
pub(super) fn way_back(checkout: Checkout) -> Option<Node> {
    let url = page(checkout).filter(|url| !url.is_empty())?;
    Some(link(checkout, "plain", "hosted_open", &url).into())
}

/// Opens another session, after the last one ended.
pub(super) fn again(checkout: Checkout, words: &'static str) -> Tag {
    let open = move || checkout.open_session();
    let again = button("primary", checkout.word(words), open).test("new-session");
    while_idle(checkout, again)
}

/// The address of the page: empty while there is no session, or none that may be gone to. `None` without an order.
fn page(checkout: Checkout) -> Option<String> {
    let order = checkout.order.get_untracked()?;
    let url = order.payment_process_url.clone();
    Some(url.filter(|url| links::is_page(url)).unwrap_or_default())
}

fn invitation(checkout: Checkout) -> Tag {
    root("hosted")
        .with(heading(checkout.word("hosted")))
        .with(paragraph(checkout.word("hosted_hint")))
        .with(paragraph(checkout.word("come_back")))
}

/// Out of every frame: the service's page has the window to itself.
fn link(checkout: Checkout, class: &'static str, words: &'static str, url: &str) -> Tag {
    tag("a", class)
        .attr("href", url)
        .attr("target", "_top")
        .attr("referrerpolicy", "strict-origin")
        .test("hosted-link")
        .text(checkout.word(words))
}
