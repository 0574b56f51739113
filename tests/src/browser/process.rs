//! A running browser with its driver.

use std::time::Duration;

use serde_json::json;
use thirtyfour::WebDriver;

use super::driver::Driver;
use super::engine::{BrowserOptions, Engine, NetworkLog, capabilities};
use crate::process_tree::ProcessTree;
use crate::program::Folder;

/// A browser, its driver and its folder. Dropped, all its processes are killed and the folder is removed.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) session: WebDriver,
    pub(super) folder: Folder,
    driver: Driver,
    /// The driver, the browser and the browser's own processes, some of which outlive the others.
    tree: ProcessTree,
    has_quit: bool,
}

impl Process {
    /// Starts a browser, with its one window.
    pub(super) async fn start(engine: Engine, options: BrowserOptions, log: NetworkLog) -> Self {
        let folder = Folder::new();
        let driver = Driver::start(engine, &folder, options).await;
        let session = launch(engine, &driver, &folder, options, log).await;
        Self {
            session,
            folder,
            tree: driver.process_tree(),
            driver,
            has_quit: false,
        }
    }

    /// Ends it in order: what it writes at its end is in its folder.
    pub(super) async fn quit(&mut self) {
        self.has_quit = true;
        self.tree = self.driver.process_tree();
        let quit = self.session.clone().quit().await;
        self.tree.end();
        quit.expect("a browser can be closed");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_quit {
            self.tree.end();
            self.driver.process_tree().end();
            // The session ended with its browser: without this, the library would try to close it.
            let _ = self.session.clone().leak();
        }
    }
}

/// Longest script, page load or start of a browser on a loaded machine.
const BOUND: Duration = Duration::from_mins(1);

async fn launch(
    engine: Engine,
    driver: &Driver,
    folder: &Folder,
    options: BrowserOptions,
    log: NetworkLog,
) -> WebDriver {
    // A test may have a browser without a world.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = crate::http_response::client().timeout(BOUND);
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
    let motion = if options.motion {
        "no-preference"
    } else {
        "reduce"
    };
    let media = json!({ "features": [
        { "name": "prefers-color-scheme", "value": scheme },
        { "name": "prefers-reduced-motion", "value": motion },
    ] });
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
