//! The three browser engines, the options of a browser, and the start options of each engine.

use std::path::{Path, PathBuf};

use florin_servers::on_path;
use serde_json::{Value, json};
use thirtyfour::Capabilities;

use crate::program::Folder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Chromium: Chrome, Edge, Opera, Samsung Internet.
    Chromium,
    /// Gecko: Firefox.
    Firefox,
    /// `WebKit`, in its port to GTK: the engine of Safari and of every browser on an iPhone.
    WebKit,
}

impl Engine {
    pub const ALL: [Self; 3] = [Self::Chromium, Self::Firefox, Self::WebKit];

    pub(super) fn driver(self) -> PathBuf {
        match self {
            Self::Chromium => program("chromedriver", "chromium-driver"),
            Self::Firefox => geckodriver(),
            Self::WebKit => program("WebKitWebDriver", "webkit2gtk-driver"),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct BrowserOptions {
    /// The window, in CSS pixels.
    pub size: (u32, u32),
    /// `true` for the dark colour scheme.
    pub dark: bool,
    /// `true` for a user who wants motion. Each frame of an animation costs every test on the machine time.
    pub motion: bool,
    /// Device pixels of a CSS pixel; a whole number for `WebKit`.
    pub ratio: f64,
}

impl Default for BrowserOptions {
    /// A laptop with the light colour scheme.
    fn default() -> Self {
        Self {
            size: (1280, 1000),
            dark: false,
            motion: false,
            ratio: 1.0,
        }
    }
}

/// Returns the path of a program; panics with the way to install it.
pub(super) fn program(name: &str, package: &str) -> PathBuf {
    on_path(name).unwrap_or_else(|| {
        panic!("{name} is missing. Install it with: sudo apt-get install {package}")
    })
}

/// No package of the distribution: `cargo xtask test` installs it into the user's cache, where it is found even when
/// the tests are run alone.
fn geckodriver() -> PathBuf {
    const NAME: &str = "geckodriver";
    on_path(NAME)
        .or_else(|| in_the_cache(NAME))
        .expect("geckodriver is missing. Install it with: cargo xtask test --only tests")
}

/// `{name}-{version}/bin/{name}` among the installed tools, of the newest version that is there.
fn in_the_cache(name: &str) -> Option<PathBuf> {
    let tools = std::fs::read_dir(florin_servers::installed::tools()?).ok()?;
    let begin = format!("{name}-");
    let of_it = |folder: &PathBuf| {
        let last = folder.file_name().and_then(|last| last.to_str());
        last.is_some_and(|last| last.starts_with(&begin))
    };
    let versions = tools.flatten().map(|entry| entry.path()).filter(of_it);
    let programs = versions.map(|folder| folder.join("bin").join(name));
    programs.filter(|program| program.is_file()).max()
}

/// Whether Chromium notes what it asks of the network, in a file that is whole once it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NetworkLog {
    On,
    Off,
}

pub(super) const NETWORK_LOG_FILE: &str = "network.json";
pub(super) const PROFILE: &str = "profile";

/// Chromium: headless, a new profile, no background requests.
const FLAGS: &str = "\
    --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic \
    --no-first-run --no-proxy-server --disable-background-networking --disable-component-update \
    --disable-extensions --disable-sync \
    --disable-features=AutofillServerCommunication,OptimizationGuideModelDownloading,OptimizationHints";

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
        // An emulated ratio rounds no borders.
        format!("--force-device-scale-factor={}", options.ratio),
        "--lang=en-US".to_owned(),
    ];
    // A frame of another origin is out of reach of `prepare`.
    let motion = (!options.motion).then(|| "--force-prefers-reduced-motion".to_owned());
    let log_flag = (log == NetworkLog::On).then(|| {
        let file = folder.file(NETWORK_LOG_FILE);
        format!("--log-net-log={}", file.display())
    });
    let flags = FLAGS.split(' ').map(str::to_owned).chain(own);
    let flags = flags.chain(motion).chain(log_flag);
    json!({
        "browserName": "chrome",
        "goog:chromeOptions": {
            "binary": chromium_program(log),
            "args": flags.collect::<Vec<_>>(),
        },
        "goog:loggingPrefs": { "browser": "WARNING" },
    })
}

/// With a network log, Chromium itself. Else its headless shell: the same engine without the parts of a window, in two thirds of
/// the processor's time (34 tests, `perf stat -e task-clock`, 2026-11-26). The shell prefetches no names, so its log is not that
/// of a customer's browser. It opens no page unless its arguments name one, and chromedriver waits for a page: the script names
/// one.
fn chromium_program(log: NetworkLog) -> PathBuf {
    match log {
        NetworkLog::On => program("chromium", "chromium"),
        NetworkLog::Off => {
            program("chromium-headless-shell", "chromium-headless-shell");
            Path::new(env!("CARGO_MANIFEST_DIR")).join("src/browser/headless_shell.sh")
        }
    }
}

pub(super) const FIREFOX_RATIO: &str = "layout.css.devPixelsPerPx";

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
                FIREFOX_RATIO: options.ratio.to_string(),
                "network.captive-portal-service.enabled": false,
                "network.connectivity-service.enabled": false,
                "network.proxy.type": 0,
                "ui.prefersReducedMotion": u8::from(!options.motion),
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

/// The media features of these options, and further ones.
pub(super) fn media(options: BrowserOptions, more: &[(&str, &str)]) -> Value {
    let scheme = if options.dark { "dark" } else { "light" };
    let motion = if options.motion {
        "no-preference"
    } else {
        "reduce"
    };
    let usual = [
        ("prefers-color-scheme", scheme),
        ("prefers-reduced-motion", motion),
    ];
    let features = usual.iter().chain(more);
    let features = features.map(|(name, value)| json!({ "name": name, "value": value }));
    json!({ "media": "", "features": features.collect::<Vec<_>>() })
}
