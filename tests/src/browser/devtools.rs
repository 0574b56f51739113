//! Commands of the protocol of Chrome's developer tools, only for Chromium: among them emulated size, colours and media
//! features; all network requests for one page, from Chromium's network log; and the same screens in Firefox.
//!
//! Unlike the Performance API, the log contains the requests of every frame and worker, and blocked ones. Chromium's
//! own background requests name no page and are left out.
//!
//! Source: Chromium, `net/log/file_net_log_observer.cc` and `net/log/net_log_event_type_list.h` (2026): the first line
//! holds the constants, and every other line is one event.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use axum::http::Method;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use thirtyfour::common::command::FormatRequestData;
use thirtyfour::{RequestData, SessionId};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::engine::{FIREFOX_RATIO, NETWORK_LOG_FILE, media};
use super::pool::devtools;
use super::{Browser, BrowserOptions, Engine, State};

impl Browser {
    pub async fn set_offline(&self, offline: bool) {
        let conditions = network(offline, 0, [-1, -1]);
        let name = "Network.emulateNetworkConditions";
        self.send_network(name, conditions).await;
    }

    /// Requests of these addresses fail, with `*` for any text.
    pub async fn block(&self, addresses: &[&str]) {
        let urls = json!({ "urls": addresses });
        self.send_network("Network.setBlockedURLs", urls).await;
    }

    async fn send_network(&self, method: &str, parameters: Value) {
        self.send_cdp("Network.enable", json!({})).await;
        self.send_cdp(method, parameters).await;
    }

    /// Puts it on a slow phone with a slow line: 150 ms there and back, 1.6 Mbit/s down and half of it up, and a
    /// processor of a quarter's speed.
    pub async fn throttle(&self) {
        for (method, parameters) in slow_phone() {
            self.send_cdp(method, parameters).await;
        }
    }

    /// The same with frames of other sites, each of which has a separate process, whose session the driver does not offer. Such a
    /// frame waits until it is slow. A script runs in every page and frame before its own.
    ///
    /// Source: the protocol of Chrome's developer tools, `Target.setAutoAttach` (2026).
    pub async fn throttle_with_frames(&self, script: &str) {
        let attached =
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        let source = json!({ "source": script });
        let mut commands = vec![
            ("Page.enable", json!({})),
            ("Page.addScriptToEvaluateOnNewDocument", source),
        ];
        commands.extend(slow_phone());
        commands.extend([
            ("Target.setAutoAttach", attached),
            ("Runtime.runIfWaitingForDebugger", json!({})),
        ]);
        let last = commands.len() - 1;
        let connected = connect_async(devtools(self.process())).await;
        let (mut socket, _) = connected.expect("Chromium takes commands");
        let window = self.tab.window().await.expect("Chromium has a window");
        let page = json!({ "targetId": window.to_string(), "flatten": true });
        let attach =
            json!({ "id": commands.len(), "method": "Target.attachToTarget", "params": page });
        let sent = socket.send(Message::text(attach.to_string())).await;
        sent.expect("Chromium takes commands");
        let mut id = Value::Null;
        while id != last {
            let read = send_to_new(&mut socket, &commands).await;
            id = read.expect("Chromium responds");
        }
        tokio::spawn(async move { while send_to_new(&mut socket, &commands).await.is_some() {} });
    }

    /// Looks at the page as it would be printed, or as it is on the screen.
    pub async fn emulate_print(&self, paper: bool) {
        let media = if paper { "print" } else { "" };
        self.send_cdp("Emulation.setEmulatedMedia", json!({ "media": media }))
            .await;
    }

    pub async fn emulate_media(&self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.send_cdp("Emulation.setEmulatedMedia", features).await;
    }

    pub async fn emulate_touch(&self) {
        let touch = json!({ "enabled": true, "maxTouchPoints": 5 });
        self.send_cdp("Emulation.setTouchEmulationEnabled", touch)
            .await;
    }

    /// Runs a script in every page and frame that is loaded from here on, before its own.
    pub async fn run_before_every_page(&self, script: &str) {
        let source = json!({ "source": script });
        self.send_cdp("Page.addScriptToEvaluateOnNewDocument", source)
            .await;
    }

    /// Returns the console's warnings and errors since the last read.
    pub async fn console_warnings(&self) -> Vec<String> {
        let log = self.tab.browser_log().await.expect("Chromium keeps a log");
        let lines = log.into_iter().map(|entry| entry.message);
        lines.collect()
    }

    /// Sets the viewport in CSS pixels, also smaller than any window.
    pub async fn set_viewport(&self, width: u32, height: u32) {
        // With a factor of 0 the browser keeps that of its start.
        let screen =
            json!({ "width": width, "height": height, "deviceScaleFactor": 0, "mobile": false });
        self.send_cdp("Emulation.setDeviceMetricsOverride", screen)
            .await;
    }

    /// Returns the number of nodes and listeners after garbage collection, detached ones included.
    pub async fn nodes_and_listeners(&self) -> (u64, u64) {
        self.send_cdp("HeapProfiler.collectGarbage", json!({}))
            .await;
        let held = self.send_cdp("Memory.getDOMCounters", json!({})).await;
        let count = |name: &str| held[name].as_u64().expect("Chromium counts them");
        (count("nodes"), count("jsEventListeners"))
    }

    pub(super) async fn send_cdp(&self, method: &str, parameters: Value) -> Value {
        assert_eq!(self.engine, Engine::Chromium, "{method} is Chromium's");
        let response = self.tab.cdp().send_raw(method, parameters).await;
        response.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Emulates this size and colour scheme from here on.
    pub async fn emulate(&self, options: BrowserOptions) {
        self.emulate_with(options, &[]).await;
    }

    /// The same with further media features and their values.
    pub async fn emulate_with(&self, options: BrowserOptions, more: &[(&str, &str)]) {
        let (width, height) = options.size;
        self.set_viewport(width, height).await;
        self.send_cdp("Emulation.setEmulatedMedia", media(options, more))
            .await;
    }

    /// Saves a picture of the whole page without scroll bars.
    pub async fn save_picture(&self, options: BrowserOptions, file: &Path) {
        let hidden = json!({ "hidden": true });
        self.send_cdp("Emulation.setScrollbarsHidden", hidden).await;
        let no_room = "document.documentElement.style.scrollbarGutter = 'auto'";
        self.evaluate(no_room).await;
        let (width, least) = options.size;
        let height = "return document.documentElement.scrollHeight";
        let height = self.evaluate(height).await.as_u64().map(u32::try_from);
        let height = height.and_then(Result::ok).unwrap_or(least).max(least);
        self.set_viewport(width, height).await;
        let picture = self.tab.screenshot_as_png().await;
        let picture = picture.expect("the page can be seen");
        std::fs::write(file, picture).expect("the folder is writable");
        self.set_viewport(width, least).await;
    }

    /// Runs an asynchronous script, which calls its last argument with the result.
    pub async fn evaluate_async(&self, script: &str) -> Value {
        let response = self.tab.execute_async(script, vec![]).await;
        let response = response.unwrap_or_else(|error| panic!("the script does not end: {error}"));
        response.json().clone()
    }

    /// Closes a browser of [`Browser::open_alone`] and returns the requests of pages of this host and their frames:
    /// `POST http://…`, and `name host` for a name that was looked up without a request.
    pub async fn end_and_list_requests(mut self, host: &str) -> BTreeSet<String> {
        let State::Alone(process) = &mut self.state else {
            panic!("only a browser of open_alone has a network log");
        };
        let file = process.folder.file(NETWORK_LOG_FILE);
        process.quit().await;
        let text = fs::read_to_string(file).expect("Chromium writes its network log");
        requests(&text, &format!("http://{host} "))
    }

    /// Sets the device pixels of a CSS pixel, as another screen or zoom would. The others have the ratio of their start.
    pub async fn set_ratio(&self, ratio: f64) {
        assert_eq!(self.engine, Engine::Firefox);
        self.set_context("chrome").await;
        let set = "Services.prefs.setStringPref(arguments[0], arguments[1])";
        let arguments = [json!(FIREFOX_RATIO), json!(ratio.to_string())];
        self.evaluate_with(set, &arguments).await;
        self.set_context("content").await;
        // Firefox rounds it to a whole part of 60.
        let is_set = "return Math.abs(devicePixelRatio - arguments[0]) < arguments[0] / 30";
        self.wait_until_with(&format!("the ratio is {ratio}"), is_set, &[json!(ratio)])
            .await;
    }

    async fn set_context(&self, context: &'static str) {
        let set = self.tab.handle().cmd(SetContext(context)).await;
        set.expect("geckodriver allows access to the system");
    }
}

/// Reads a message, and sends commands to the page or frame that it announces. Returns the id of the message; `None` once the
/// browser has ended.
async fn send_to_new(
    socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>,
    commands: &[(&str, Value)],
) -> Option<Value> {
    let message = socket.next().await?.ok()?;
    let message: Value = serde_json::from_str(message.to_text().ok()?).ok()?;
    if message["method"] == "Target.attachedToTarget" {
        let session = &message["params"]["sessionId"];
        for (id, (method, parameters)) in commands.iter().enumerate() {
            let command =
                json!({ "id": id, "method": method, "params": parameters, "sessionId": session });
            let command = Message::text(command.to_string());
            socket.send(command).await.ok()?;
        }
    }
    Some(message["id"].clone())
}

fn slow_phone() -> [(&'static str, Value); 3] {
    let line = network(false, 150, [200_000, 100_000]);
    [
        ("Network.enable", json!({})),
        ("Network.emulateNetworkConditions", line),
        ("Emulation.setCPUThrottlingRate", json!({ "rate": 4 })),
    ]
}

/// `throughput` is that of downloads and of uploads, in bytes a second; -1 is unlimited.
fn network(offline: bool, latency_ms: u32, throughput: [i64; 2]) -> Value {
    json!({
        "offline": offline,
        "latency": latency_ms,
        "downloadThroughput": throughput[0],
        "uploadThroughput": throughput[1],
    })
}

/// Where Firefox runs the scripts that follow: in the page (`content`), or with the browser's privileges (`chrome`).
///
/// Source: geckodriver, `src/command.rs` (2026).
#[derive(Debug)]
struct SetContext(&'static str);

impl FormatRequestData for SetContext {
    fn format_request(&self, session: &SessionId) -> RequestData {
        let path = format!("session/{session}/moz/context");
        RequestData::new(Method::POST, path).add_body(json!({ "context": self.0 }))
    }
}

fn requests(log: &str, page: &str) -> BTreeSet<String> {
    let mut lines = log.lines();
    let constants = lines.next().unwrap_or_default().trim_end_matches(',');
    let constants: Value = serde_json::from_str(&format!("{constants}}}")).expect("the constants");
    let kind = |name: &str| constants["constants"]["logEventTypes"][name].clone();
    let request = kind("URL_REQUEST_START_JOB");
    let lookup = kind("HOST_RESOLVER_MANAGER_REQUEST");
    assert!(
        request.is_u64() && lookup.is_u64(),
        "the log's words are others"
    );
    let events = lines.filter_map(|line| serde_json::from_str(line.trim_end_matches(',')).ok());
    let asked = events.filter_map(|event: Value| {
        let of = |member: &str| event["params"][member].as_str();
        if event["type"] == request && of("network_isolation_key")?.starts_with(page) {
            return Some(format!("{} {}", of("method")?, of("url")?));
        }
        if event["type"] == lookup && of("network_anonymization_key")?.starts_with(page) {
            return Some(format!("name {}", of("host")?));
        }
        None
    });
    asked.collect()
}
