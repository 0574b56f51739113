//! Start options of each engine.

use serde_json::{Value, json};
use thirtyfour::Capabilities;

use super::BrowserOptions;
use super::engine::{Engine, program};
use super::network_log;
use crate::folder::Folder;

/// Whether Chromium notes what it asks of the network, in a file that is whole once it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkLog {
    On,
    Off,
}

/// Chromium's profile, in the browser's folder.
pub(super) const PROFILE: &str = "profile";

/// What Chromium does without: a server of its maker's that says what to fill in for every page with a field, and
/// parts of the window that are pages themselves, each with a process, in every window that is opened.
const WITHOUT: &str = "--disable-features=AutofillServerCommunication,OptimizationGuideModelDownloading,OptimizationHints,\
                       WebUIOmniboxAimPopup,WebUIOmniboxPopup";

/// Chromium: headless, a new profile, no background requests.
const FLAGS: [&str; 13] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    WITHOUT,
    "--disable-extensions",
    "--disable-sync",
    // A camera sees more than one point for each of a page's.
    "--force-device-scale-factor=2",
];

pub(super) fn capabilities(
    engine: Engine,
    folder: &Folder,
    options: BrowserOptions,
    log: NetworkLog,
) -> Capabilities {
    let wanted = match engine {
        Engine::Chromium => chromium(folder, options, log),
        Engine::Firefox => firefox(options),
        Engine::WebKit => webkit(),
    };
    let Value::Object(members) = wanted else {
        unreachable!("capabilities are an object");
    };
    Capabilities::from(members)
}

fn chromium(folder: &Folder, options: BrowserOptions, log: NetworkLog) -> Value {
    let (width, height) = options.size;
    let own = [
        format!("--user-data-dir={}", folder.file(PROFILE).display()),
        format!("--window-size={width},{height}"),
        "--lang=en-US".to_owned(),
    ];
    let log = (log == NetworkLog::On).then(|| {
        let file = folder.file(network_log::FILE);
        format!("--log-net-log={}", file.display())
    });
    let flags = FLAGS.into_iter().map(str::to_owned).chain(own);
    let flags = flags.chain(log);
    json!({
        "browserName": "chrome",
        "goog:chromeOptions": {
            "binary": program("chromium", "chromium"),
            "args": flags.collect::<Vec<_>>(),
        },
        "goog:loggingPrefs": { "browser": "WARNING" },
    })
}

fn firefox(options: BrowserOptions) -> Value {
    let (width, height) = options.size;
    json!({
        "browserName": "firefox",
        "moz:firefoxOptions": {
            "binary": program("firefox-esr", "firefox-esr"),
            "args": ["-headless", format!("--width={width}"), format!("--height={height}")],
            "prefs": {
                "browser.region.network.url": "",
                "datareporting.policy.dataSubmissionEnabled": false,
                "intl.accept_languages": "en-US",
                "layout.css.devPixelsPerPx": "2.0",
                "network.captive-portal-service.enabled": false,
                "network.connectivity-service.enabled": false,
                "network.proxy.type": 0,
                "ui.systemUsesDarkTheme": u8::from(options.dark),
            },
        },
    })
}

/// It starts `MiniBrowser`, which comes with the engine and keeps nothing when it is driven.
fn webkit() -> Value {
    json!({
        "browserName": "MiniBrowser",
        "webkitgtk:browserOptions": { "args": ["--automation"] },
    })
}
