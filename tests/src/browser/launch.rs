//! Starting Chromium so that it does what it is told and nothing else.

use std::time::Duration;

use serde_json::json;
use thirtyfour::{Capabilities, DesiredCapabilities, WebDriver};
use thirtyfour::{ChromiumLikeCapabilities as _, LoggingPrefsLogLevel};

use super::Look;
use super::driver::{Driver, program};
use crate::folder::Folder;

/// No window, no profile of anybody's, nothing from the network.
const FLAGS: [&str; 11] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // A camera sees more than one point for each of a page's.
    "--force-device-scale-factor=2",
];

/// How long a script or a page may take.
const BOUND: Duration = Duration::from_secs(30);

pub(super) async fn launch(driver: &Driver, folder: &Folder, look: Look) -> WebDriver {
    // A test may have a browser and no world, which would have done so.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let capabilities = capabilities(folder, look);
    let http = reqwest::Client::builder().no_proxy().timeout(BOUND).build();
    let http = http.expect("the crypto provider is installed");
    let tab = WebDriver::builder(driver.url(), capabilities).client(http);
    let tab = tab.connect().await;
    let tab = tab.unwrap_or_else(|error| panic!("Chromium does not start: {error}"));
    tab.set_script_timeout(BOUND)
        .await
        .expect("a time can be set");
    tab.set_page_load_timeout(BOUND)
        .await
        .expect("a time can be set");
    let cdp = tab.cdp();
    let scheme = if look.dark { "dark" } else { "light" };
    let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    let allowed = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    for (method, parameters) in [
        ("Emulation.setEmulatedMedia", media),
        ("Browser.grantPermissions", allowed),
    ] {
        let told = cdp.send_raw(method, parameters).await;
        told.unwrap_or_else(|error| panic!("{method}: {error}"));
    }
    tab
}

fn capabilities(folder: &Folder, look: Look) -> Capabilities {
    let mut chromium = DesiredCapabilities::chrome();
    let (width, height) = look.size;
    let own = [
        format!("--user-data-dir={}", folder.file("profile").display()),
        format!("--window-size={width},{height}"),
        "--lang=en-US".to_owned(),
    ];
    let flags = FLAGS.into_iter().map(str::to_owned).chain(own);
    for flag in flags {
        chromium.add_arg(&flag).expect("a flag is text");
    }
    let program = program("chromium", "chromium");
    let program = program.to_str().expect("the system's paths are text");
    chromium.set_binary(program).expect("a path is text");
    let logs = chromium.set_browser_log_level(LoggingPrefsLogLevel::Warning);
    logs.expect("a level is text");
    chromium.into()
}
