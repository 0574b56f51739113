//! Opens the first tab.

use std::time::Duration;

use serde_json::json;
use thirtyfour::WebDriver;

use super::BrowserOptions;
use super::capabilities::{NetworkLog, capabilities};
use super::driver::Driver;
use super::engine::Engine;
use crate::folder::Folder;

/// Longest script, page load or start of a browser on a loaded machine.
const BOUND: Duration = Duration::from_mins(1);

pub(super) async fn launch(
    engine: Engine,
    driver: &Driver,
    folder: &Folder,
    options: BrowserOptions,
    log: NetworkLog,
) -> WebDriver {
    // A test may have a browser without a world.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = crate::http::client().timeout(BOUND);
    // A connection belongs to the runtime of one test; the browser may serve the next one.
    let http = http.pool_max_idle_per_host(0).build();
    let http = http.expect("the crypto provider is installed");
    let wanted = capabilities(engine, folder, options, log);
    let tab = WebDriver::builder(driver.url(), wanted).client(http);
    let tab = tab.connect().await;
    let tab = tab.unwrap_or_else(|error| panic!("{engine:?} does not start: {error}"));
    let set = tab.set_script_timeout(BOUND).await;
    set.expect("a time can be set");
    let set = tab.set_page_load_timeout(BOUND).await;
    set.expect("a time can be set");
    match engine {
        Engine::Chromium => prepare(&tab, options, None).await,
        Engine::Firefox => {}
        // It ignores the window size among its start options.
        Engine::WebKit => {
            let (width, height) = options.size;
            let set = tab.set_window_rect(0, 0, width, height).await;
            set.expect("a window has a size");
        }
    }
    tab
}

/// Applies the options to the window and its context by the protocol of the developer tools.
pub(super) async fn prepare(tab: &WebDriver, options: BrowserOptions, context: Option<&str>) {
    let cdp = tab.cdp();
    let scheme = if options.dark { "dark" } else { "light" };
    let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    let mut allowed = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    if let Some(context) = context {
        allowed["browserContextId"] = json!(context);
    }
    for (method, parameters) in [
        ("Emulation.setEmulatedMedia", media),
        ("Browser.grantPermissions", allowed),
    ] {
        let response = cdp.send_raw(method, parameters).await;
        response.unwrap_or_else(|error| panic!("{method}: {error}"));
    }
}
