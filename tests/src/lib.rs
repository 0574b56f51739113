//! A world to test in: the payment service's sandbox, the proxy and the demo shop, in one process, over real HTTP and
//! with real signatures, each on a port of its own.
//!
//! ```no_run
//! # async fn sale() {
//! use support::World;
//!
//! let world = World::start().await;
//! let checkout = world.shopper().opens("ebook").await;
//! checkout.chooses("BTC").await;
//! world.chain().pays(&checkout, "exact").await;
//! world.chain().mines(3).await;
//! checkout.sees("paid").await;
//! world.end().await;
//! # }
//! ```
//!
//! What it refuses to do: to wait without a bound, to share anything between two worlds, and to end well when an
//! unexpected error was logged, a delivery was not signed, or an event still waits to be told.

mod answer;
mod browser;
pub mod campaign;
mod chain;
mod clock;
mod contract;
mod ear;
pub mod first_view;
mod folder;
mod hosted_page;
mod http;
mod journeys;
mod log;
mod mint;
mod npm;
mod npm_project;
mod patience;
mod peer;
mod program;
mod shopper;
mod site;
mod store_server;
mod wire;
mod world;

pub use answer::Answer;
pub use browser::{Browser, BrowserPool, Engine, Look};
pub use chain::Chain;
pub use clock::MovableClock;
pub use contract::{CONTRACT, Contract};
pub use ear::{Ear, Heard, Mood};
pub use folder::Folder;
pub use hosted_page::HostedPage;
pub use journeys::pays_in_full;
pub use mint::Mint;
pub use npm::{npm_file, type_errors_of};
pub use npm_project::{NpmProject, React, packed_files};
pub use patience::{eventually, pause, within};
pub use peer::{PRODUCTS, Peer, Product};
pub use program::{Ended, Program, built};
pub use shopper::{Checkout, Shopper};
pub use site::Site;
pub use store_server::StoreServer;
pub use wire::Wire;
pub use world::{Wishes, World, secrets};
