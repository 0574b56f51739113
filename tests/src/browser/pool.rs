//! A pool of running Chromiums; every test uses a separate browser context.
//!
//! Starting Chromium takes about 2 s of a processor, a context less than half of that. A context has its own cookies,
//! storage, caches, connections and permissions, as another profile has; its window has its own emulation, scripts
//! and history. What is left is shared by a whole process, and is reset here: the clipboard, and the console's log of
//! the driver.
//!
//! A browser is used by one test at a time. It returns to the pool only from a successful test and only if it still
//! responds; otherwise it is killed, and the next test starts another one.
//!
//! Source: the protocol of Chrome's developer tools, domain Target (2026): `createBrowserContext`, `createTarget`,
//! `disposeBrowserContext`. The first and the last are refused to a page's session, which is what the driver offers:
//! they go to the browser's session.

use std::fs;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use parking_lot::Mutex;
use serde_json::{Value, json};
use thirtyfour::error::WebDriverResult;
use thirtyfour::{WebDriver, WindowHandle};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use super::driver::Process;
use super::engine::{BrowserOptions, Engine, NetworkLog, PROFILE};
use crate::wait::within;

/// Longest command of the protocol on a loaded machine.
const BOUND: Duration = Duration::from_secs(30);

/// Overwrites the clipboard with one word; an empty selection cannot be copied.
const CLEAR_THE_CLIPBOARD: &str = "(() => {
    const text = document.createElement('textarea');
    text.value = 'nothing-was-copied';
    document.documentElement.append(text);
    text.select();
    const copied = document.execCommand('copy');
    text.remove();
    return copied;
})()";

#[derive(Debug, Default)]
pub(super) struct BrowserPool(Mutex<Vec<Pooled>>);

impl BrowserPool {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A running Chromium with a fresh context, whose window has the size of `options`.
    pub(super) async fn lend(&self, options: BrowserOptions) -> (Pooled, Context) {
        while let Some(idle) = self.take(options.ratio) {
            if let Some(context) = idle.open_context(options).await {
                return (idle, context);
            }
        }
        let started = Pooled::start(options.ratio).await;
        let context = started.open_context(options).await;
        (
            started,
            context.expect("Chromium opens a window in a new context"),
        )
    }

    /// Takes a browser back.
    pub(super) async fn take_back(&self, browser: Pooled, context: Context) {
        let closed = browser.close(context).await;
        assert!(
            closed.is_some(),
            "Chromium crashed or hangs after this test"
        );
        self.0.lock().push(browser);
    }

    fn take(&self, ratio: f64) -> Option<Pooled> {
        let mut idle = self.0.lock();
        let at = idle
            .iter()
            .position(|one| one.ratio.total_cmp(&ratio).is_eq())?;
        Some(idle.swap_remove(at))
    }
}

/// A browser context: a profile that is kept in memory alone.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) id: String,
    window: String,
}

#[derive(Debug)]
pub(super) struct Pooled {
    pub(super) process: Process,
    /// The window with which it started. It keeps Chromium running between two contexts, and shows nothing.
    first: WindowHandle,
    devtools: String,
    /// Device pixels of a CSS pixel, which belong to the whole browser.
    ratio: f64,
}

impl Pooled {
    async fn start(ratio: f64) -> Self {
        let options = BrowserOptions {
            ratio,
            ..BrowserOptions::default()
        };
        let process = Process::start(Engine::Chromium, options, NetworkLog::Off).await;
        let session = &process.session;
        session.goto("about:blank").await.expect("an empty page");
        let first = session.window().await.expect("Chromium has a window");
        Self {
            first,
            devtools: devtools(&process),
            process,
            ratio,
        }
    }

    async fn open_context(&self, options: BrowserOptions) -> Option<Context> {
        within(BOUND, async || Some(self.try_open_context(options).await)).await?
    }

    async fn try_open_context(&self, options: BrowserOptions) -> Option<Context> {
        let made = self.send("Target.createBrowserContext", json!({})).await?;
        let id = made["browserContextId"].as_str()?.to_owned();
        let (width, height) = options.size;
        let window = json!({
            "url": "about:blank",
            "browserContextId": id,
            "newWindow": true,
            "width": width,
            "height": height,
        });
        let window = self.send("Target.createTarget", window).await?;
        let window = window["targetId"].as_str()?.to_owned();
        let session = &self.process.session;
        session.switch_to_window(window.clone().into()).await.ok()?;
        // Reading the log empties it.
        session.browser_log().await.ok()?;
        Some(Context { id, window })
    }

    async fn close(&self, context: Context) -> Option<()> {
        within(BOUND, async || Some(self.try_close(&context).await)).await?
    }

    async fn try_close(&self, context: &Context) -> Option<()> {
        let session = &self.process.session;
        // A renderer that crashed is no browser to go on with, though the others still answer.
        let response = on_window(session, &context.window).await.ok()?;
        (response == 2).then_some(())?;
        let first = self.first.clone();
        session.switch_to_window(first).await.ok()?;
        let context = json!({ "browserContextId": context.id });
        self.send("Target.disposeBrowserContext", context).await?;
        // The response does not wait for the windows.
        within(BOUND, async || {
            (session.windows().await.ok()?.len() == 1).then_some(())
        })
        .await?;
        let clear = json!({ "expression": CLEAR_THE_CLIPBOARD, "userGesture": true });
        let cleared = session.cdp().send_raw("Runtime.evaluate", clear).await;
        (cleared.ok()?["result"]["value"] == true).then_some(())
    }

    /// One command to the browser itself. The connection ends with it: it belongs to the runtime of one test.
    async fn send(&self, method: &str, parameters: Value) -> Option<Value> {
        let (mut socket, _) = connect_async(self.devtools.as_str()).await.ok()?;
        let command = json!({ "id": 1, "method": method, "params": parameters });
        let command = Message::text(command.to_string());
        socket.send(command).await.ok()?;
        while let Some(message) = socket.next().await {
            let response: Value = serde_json::from_str(message.ok()?.to_text().ok()?).ok()?;
            if response["id"] == 1 {
                return response.get("result").cloned();
            }
        }
        None
    }
}

async fn on_window(session: &WebDriver, window: &str) -> WebDriverResult<Value> {
    session.switch_to_window(window.to_owned().into()).await?;
    let response = session.execute("return 1 + 1", vec![]).await?;
    Ok(response.json().clone())
}

/// Source: Chromium, `content/browser/devtools/devtools_http_handler.cc` (2026): the file holds the port and the path.
pub(super) fn devtools(process: &Process) -> String {
    let file = process.folder.file(PROFILE).join("DevToolsActivePort");
    let text = fs::read_to_string(file).expect("Chromium writes where it listens");
    let (port, path) = text.trim().split_once('\n').expect("a port and a path");
    format!("ws://127.0.0.1:{port}{path}")
}
