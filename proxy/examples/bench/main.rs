//! `bench`: what the proxy costs, as it is released. `cargo xtask bench` builds all that it needs and runs it.
//!
//! ```text
//! bench idle PROXY SANDBOX       time to start, and memory when idle
//! bench reads PROXY SANDBOX      status reads per second, beside a bare axum router with the same bytes
//! bench streams PROXY SANDBOX    memory and fan-out of event streams
//! bench watchers PROXY SANDBOX   calls of the gateway for an order that many pages watch
//! ```

mod idle;
mod reads;
mod server;
mod streams;
mod watchers;

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;

#[tokio::main]
async fn main() -> ExitCode {
    // Fails only when it is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[&str]) -> anyhow::Result<()> {
    // It starts itself.
    if let [server::BARE, file] = *words {
        return server::serve(Path::new(file)).await;
    }
    let [what, proxy, sandbox] = *words else {
        bail!("use `bench WHAT PROXY SANDBOX`");
    };
    let (proxy, sandbox) = (Path::new(proxy), Path::new(sandbox));
    match what {
        "idle" => idle::measure(proxy, sandbox).await,
        "reads" => reads::compare(proxy).await,
        "streams" => streams::measure(proxy).await,
        "watchers" => watchers::compare(proxy, sandbox).await,
        _ => bail!("there is no `{what}` to measure"),
    }
}
