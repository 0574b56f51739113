//! A world to test in: the gateway's sandbox, the proxy and the demo shop, in one process, over real HTTP on separate
//! ports and with real signatures.
//!
//! ```no_run
//! # async fn sale() {
//! use support::World;
//!
//! let world = World::start().await;
//! let checkout = world.customer().open("ebook").await;
//! checkout.choose("BTC").await;
//! world.sandbox().pay(&checkout, "exact").await;
//! world.sandbox().mine(3).await;
//! checkout.wait_for("paid").await;
//! world.end().await;
//! # }
//! ```
//!
//! Every wait has a bound, and two worlds share nothing. Ending a world fails if an unexpected error was logged, a
//! delivery was not signed, or an event is not delivered.
#![expect(
    missing_docs,
    reason = "it is for the tests of this repository alone: what a name says needs no comment"
)]

mod browser;
pub mod campaign;
mod chain;
#[path = "../browser/circumstances/table.rs"]
pub mod circumstances;
mod clock;
mod counters;
mod customer;
mod deploy;
pub mod first_view;
mod http_response;
mod local_server;
mod npm;
mod program;
mod random;
mod real_chains;
mod replicas;
mod sandbox_control;
mod server_libraries;
mod store_server;
mod tcp_proxy;
mod wait;
mod world;

pub use browser::{Browser, BrowserOptions, Engine};
pub use chain::{Chain, Demo, TronNode, wallet_guards};
pub use clock::MovableClock;
pub use counters::{Counters, names};
pub use customer::{Checkout, Customer, HostedPage};
pub use deploy::{Contained, Container, ReverseProxy};
pub use first_view::{PRODUCTS, Peer, Product};
pub use florin_servers::free_port;
pub use http_response::{CONTRACT, Contract, HttpResponse, plain_client};
pub use local_server::StoreSite;
pub use npm::{NpmProject, React, install_copy, npm_file, type_errors_of, yaml_documents};
pub use program::{Folder, Program, ProgramOutput, Running, built, command, write_private};
pub use random::SeededRandom;
pub use real_chains::{NodeCounter, RealChains, share};
pub use replicas::{
    Replicas, dump_postgres_database, empty_postgres_database, load_postgres_database, pooled,
    postgres_database,
};
pub use sandbox_control::SandboxControl;
pub use server_libraries::{
    Language, Receiver, ServerLibrary, generate_types, install_node_library,
};
pub use store_server::{Delivery, OperatorApi, Reply, StoreServer, TokenSigner, WebhookReceiver};
pub use tcp_proxy::{DiskError, FaultyMachine, MovedFile, SpoiledFile, TcpProxy};
pub use wait::{eventually, pause, within};
pub use world::{World, WorldConfig, pay_in_full, secrets};

/// The rows of a table, a line each, whose cells `|` separates.
pub fn rows<const N: usize>(table: &str) -> impl Iterator<Item = [&str; N]> {
    table.trim().lines().map(|row| {
        let cells = row.split('|').map(str::trim).collect::<Vec<_>>();
        cells
            .try_into()
            .unwrap_or_else(|_| panic!("{N} cells: {row}"))
    })
}
