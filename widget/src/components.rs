//! Parts of screens.

mod amount;
mod asset_icon;
mod button;
mod copy_button;
mod countdown;
mod drawing;
mod focus;
mod freshness;
mod order_links;
mod problem_text;
mod qr_code;
mod renewed;
mod text;
mod transaction;

pub(crate) use self::{
    amount::{Ltr, coins},
    asset_icon::AssetIcon,
    button::{Button, Look, NewPriceButton, OtherAssetButton, Press},
    copy_button::CopyButton,
    countdown::Countdown,
    drawing::{Drawing, TICK},
    focus::{focus, focus_heading, is_screen_focused},
    freshness::CheckedAgo,
    order_links::{
        HelpLink, HostedPageLink, NewPurchaseButton, NewSessionButton, OrderReference, ReturnLink,
        hosted_page,
    },
    problem_text::problem_text,
    qr_code::{LargeQrCode, QrCode},
    renewed::renewed,
    text::{Heading, Sentence},
    transaction::{ExplorerLink, Transaction},
};
