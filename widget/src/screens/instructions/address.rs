//! The address, whole and in groups, and the two ways to carry it into a wallet.

use checkout_api::AttemptView;
use web_sys::Node;

use crate::checkout::Checkout;
use crate::grouping::groups;
use crate::links;
use crate::markup::tag;
use crate::screens::copy::{self, ToCopy};

use super::names;

/// Where to send it.
pub(super) fn show(checkout: Checkout, attempt: &AttemptView, rest: bool) -> Node {
    let groups = groups(&attempt.address)
        .into_iter()
        .map(|group| tag("span", "").text(group).into());
    let copy = ToCopy {
        test: "copy-address",
        place: ".address",
        value: attempt.address.clone(),
        words: checkout.sentence("copy_on", &names(attempt)),
        label: String::new(),
    };
    tag("div", "destination")
        .with(tag("p", "label").text(checkout.sentence("to_address", &names(attempt))))
        .with(
            tag("p", "address")
                .attr("dir", "ltr")
                .test("address")
                .all(groups),
        )
        .with(
            tag("div", "line")
                .all(wallet(checkout, attempt, rest))
                .with(copy::button(checkout, copy)),
        )
        .into()
}

fn wallet(checkout: Checkout, attempt: &AttemptView, rest: bool) -> Option<Node> {
    let opens = !rest && links::is_wallet(&attempt.qr_string);
    opens.then(|| {
        // From within a frame only the whole page may leave for another program.
        tag("a", "primary wallet")
            .attr("href", attempt.qr_string.as_str())
            .attr("target", "_top")
            .test("wallet-link")
            .text(checkout.word("open_wallet"))
            .into()
    })
}
