//! A shop as a merchant would write it: plain pages, one script tag, and a small backend that believes only the signed
//! webhook.
//!
//! It shows every way to open an order. A product of the catalogue needs nothing but
//! `<florin-checkout store product>` in the page. A cart has a price that only the shop knows, so
//! its backend opens the order with the store's secret key and hands the page a client token; in
//! the hosted flow it is paid on the gateway's own page. A members' price is signed into an order
//! token. A donation's amount is the customer's.
//!
//! What this crate refuses to do: to take anything from a browser (the return page, an event of the page, a query) as
//! a proof of payment. What it leaves out, because it is a demonstration: customers' accounts, a database, shipping.

mod cart;
mod catalogue;
mod order_book;
mod pages {
    pub(crate) mod layout;
    pub(crate) mod orders;
    pub(crate) mod storefront;
}
mod proxy_client;
mod server;
mod shop;
mod webhook;

pub use catalogue::{DONATIONS_TOML, PRODUCTS_TOML};
pub use server::run;
pub use shop::Settings;
