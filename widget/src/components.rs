//! Parts of screens.

mod button;
mod countdown;
mod elements;
mod icon;
mod order_links;
mod text;

pub(crate) use self::{
    button::{Button, CopyButton, Look, NewPriceButton, OtherAssetButton, Press},
    countdown::Countdown,
    elements::{focus, focus_heading, is_screen_focused, keyed},
    icon::{Drawing, TICK},
    order_links::{
        ExplorerLink, Hash, HelpLink, HostedPageLink, NewPurchaseButton, NewSessionButton,
        OrderReference, ReturnLink, Transaction, hosted_page,
    },
    text::{CheckedAgo, Heading, Ltr, Sentence, coins, isolated, problem_text, send_more},
};
