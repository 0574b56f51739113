//! Values as texts, and typed texts as values. No browser is needed: all of it is tested on any machine.

pub mod address_check;
pub mod block_time;
pub mod countdown;
pub mod currency_sign;
pub mod grouping;
pub mod links;
pub mod networks;
pub mod qr_path;
pub mod search;
pub mod short_amount;
pub mod typed_amount;
