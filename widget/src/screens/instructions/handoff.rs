//! Going on with this very order on another device.

use checkout_api::OrderView;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::markup::{live, nothing, tag};
use crate::screens::copy::{self, ToCopy};
use crate::screens::paragraph;

use super::code::picture;
use super::{aid, summary};

/// The link to this order, as a code and to copy. It holds the order's token, which opens it to whoever has it: it is
/// drawn only while the customer looks at it.
pub(super) fn show(checkout: Checkout, order: &OrderView) -> Node {
    let is_open = RwSignal::new(false);
    let store = order.store.id.clone();
    let link = live(move || {
        let Some(parts) = checkout.parts().filter(|_| is_open.get()) else {
            return nothing();
        };
        let link = parts.api.link(&store);
        let copy = ToCopy {
            test: "copy-link",
            place: ".link",
            value: link.clone(),
            words: checkout.word("copy_link"),
            label: String::new(),
        };
        tag("div", "live")
            .with(paragraph(checkout.word("handoff_hint")))
            .with(picture(&link, &checkout.word("handoff_qr")).test("handoff-qr"))
            .with(
                tag("p", "link quiet")
                    .attr("dir", "ltr")
                    .test("link")
                    .text(link),
            )
            .with(copy::button(checkout, copy))
            .into()
    });
    let press = move || is_open.set(!is_open.get_untracked());
    aid("handoff", summary(checkout, "handoff").on_click(press))
        .with(link)
        .into()
}
