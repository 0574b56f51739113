//! A running browser with its driver: chromedriver, geckodriver or `WebKitWebDriver`, which speaks `WebDriver`; and a virtual
//! display, for the engine that needs one.

use std::fs;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use florin_servers::free_port;
use serde_json::json;
use thirtyfour::WebDriver;

use super::engine::{BrowserOptions, Engine, NetworkLog, capabilities, media, program};
use crate::program::Folder;
use crate::wait::within;

/// A browser, its driver and its folder. Dropped, all its processes are killed and the folder is removed.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) session: WebDriver,
    _driver: Driver,
    has_quit: bool,
    /// Dropped after the driver, whose browser writes into it.
    pub(super) folder: Folder,
}

impl Process {
    pub(super) async fn start(engine: Engine, options: BrowserOptions, log: NetworkLog) -> Self {
        let folder = Folder::new();
        let driver = Driver::start(engine, &folder, options).await;
        let session = launch(engine, &driver, &folder, options, log).await;
        Self {
            session,
            _driver: driver,
            has_quit: false,
            folder,
        }
    }

    /// Ends it in order: what it writes at its end is in its folder.
    pub(super) async fn quit(&mut self) {
        self.has_quit = true;
        let quit = self.session.clone().quit().await;
        quit.expect("a browser can be closed");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_quit {
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
    let mut allowed = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
    if let Some(context) = context {
        allowed["browserContextId"] = json!(context);
    }
    for (method, parameters) in [
        ("Emulation.setEmulatedMedia", media(options, &[])),
        ("Browser.grantPermissions", allowed),
    ] {
        let response = cdp.send_raw(method, parameters).await;
        response.unwrap_or_else(|error| panic!("{method}: {error}"));
    }
}

/// Kills the driver and the browser and removes their folder when its standard input ends, which is when the process
/// of the tests does, however it ends. They are recognised by their home, which is that folder.
const CLEAN_UP: &str = r#"
    trap '' INT TERM HUP
    cat >/dev/null
    for file in $(grep -lzxF -- "HOME=$1" /proc/[0-9]*/environ 2>/dev/null); do
        id=${file#/proc/}
        kill -KILL "${id%/environ}" 2>/dev/null
    done
    rm -rf -- "$1" || { sleep 0.2; rm -rf -- "$1"; }
"#;

/// A running driver on a separate port. It ends with its browser when dropped.
#[derive(Debug)]
pub(super) struct Driver {
    process: Child,
    port: u16,
    cleaner: Child,
    /// Dropped after the process, because a browser that loses its display logs errors.
    _display: Option<Display>,
}

/// Longest start of a driver on a loaded machine.
const LISTENING: Duration = Duration::from_secs(20);

/// Variables of folders in which programs store data.
const HOMES: [&str; 6] = [
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

impl Driver {
    /// Starts the engine's driver; it and its browser write into the folder.
    pub(super) async fn start(engine: Engine, folder: &Folder, options: BrowserOptions) -> Self {
        let (port, log) = (free_port(), folder.file("driver.log"));
        let mut command = command(engine, folder);
        command.stdout(File::create(&log).expect("the folder is writable"));
        command.arg(format!("--port={port}"));
        let display = match engine {
            Engine::Chromium => None,
            Engine::Firefox => {
                command.arg("--profile-root").arg(folder.path());
                // For `set_ratio`, which changes a preference.
                command.arg("--allow-system-access");
                None
            }
            Engine::WebKit => {
                let display = Display::start(options);
                command.env("DISPLAY", &display.name);
                command.env("GDK_SCALE", options.ratio.to_string());
                // Without a graphics processor, painting by OpenGL in software takes a fifth more processor time.
                command.env("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1");
                Some(display)
            }
        };
        let driver = Self {
            cleaner: cleaner(folder),
            process: command.spawn().expect("a driver can be started"),
            port,
            _display: display,
        };
        let listening = within(LISTENING, async || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()
        });
        let output = || fs::read_to_string(&log).unwrap_or_default();
        let is_listening = listening.await.is_some();
        assert!(
            is_listening,
            "the driver of {engine:?} does not start: {}",
            output()
        );
        driver
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.cleaner.stdin.take());
        let _ = self.cleaner.wait();
        let _ = self.process.wait();
    }
}

fn cleaner(folder: &Folder) -> Child {
    let mut command = Command::new("sh");
    command
        .args(["-c", CLEAN_UP, "sh"])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("a shell can be started")
}

/// The user's home folder is neither read nor written.
fn command(engine: Engine, folder: &Folder) -> Command {
    let mut command = Command::new(engine.driver());
    command.stdin(Stdio::null()).stderr(Stdio::null());
    for home in HOMES {
        command.env(home, folder.path());
    }
    command.env_remove("DBUS_SESSION_BUS_ADDRESS");
    command
}

/// A running Xvfb, on a number that was free. Ended with the value.
#[derive(Debug)]
pub(super) struct Display {
    process: Child,
    /// `:7`, as it stands in `DISPLAY`.
    pub(super) name: String,
}

impl Display {
    /// Starts it, as large as the window: without a window manager the focus belongs to the window at the screen's centre.
    pub(super) fn start(options: BrowserOptions) -> Self {
        let (width, height) = options.size;
        // `WebKit` takes the ratios 1 and 2.
        let ratio = if options.ratio > 1.0 { 2 } else { 1 };
        let [width, height] = [width, height].map(|size| size * ratio);
        let mut command = Command::new(program("Xvfb", "xvfb"));
        command
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{width}x{height}x24"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().expect("Xvfb can be started");
        let out = process.stdout.take().expect("it is piped");
        let mut number = String::new();
        let read = BufReader::new(out).read_line(&mut number);
        read.expect("Xvfb writes text");
        let display = Self {
            process,
            name: format!(":{}", number.trim()),
        };
        assert!(display.name.len() > 1, "Xvfb does not start");
        display
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // Asked, not killed: it takes its lock and its socket away.
        let id = self.process.id().to_string();
        let _ = Command::new("kill").arg(id).status();
        let _ = self.process.wait();
    }
}
