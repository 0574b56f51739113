//! Commands of the protocol of Chrome's developer tools; only for Chromium.

use serde_json::{Value, json};

use super::{Browser, Engine};

impl Browser {
    /// Disables or enables the network.
    pub async fn set_offline(&self, offline: bool) {
        let conditions = json!({
            "offline": offline,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": -1,
        });
        self.send_cdp("Network.enable", json!({})).await;
        self.send_cdp("Network.emulateNetworkConditions", conditions)
            .await;
    }

    /// Puts it on a slow phone with a slow line: 150 ms there and back, 1.6 Mbit/s down and half of it up, and a
    /// processor of a quarter's speed.
    pub async fn throttle(&self) {
        let conditions = json!({
            "offline": false,
            "latency": 150,
            "downloadThroughput": 200_000,
            "uploadThroughput": 100_000,
        });
        self.send_cdp("Network.enable", json!({})).await;
        self.send_cdp("Network.emulateNetworkConditions", conditions)
            .await;
        self.send_cdp("Emulation.setCPUThrottlingRate", json!({ "rate": 4 }))
            .await;
    }

    /// Looks at the page as it would be printed, or as it is on the screen.
    pub async fn emulate_print(&self, paper: bool) {
        let media = if paper { "print" } else { "" };
        self.send_cdp("Emulation.setEmulatedMedia", json!({ "media": media }))
            .await;
    }

    /// Emulates a media feature.
    pub async fn emulate_media(&self, feature: &str, value: &str) {
        let features = json!({ "features": [{ "name": feature, "value": value }] });
        self.send_cdp("Emulation.setEmulatedMedia", features).await;
    }

    /// Is a device without a mouse from here on.
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
        let screen =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
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

    /// Sends a command of the protocol; returns the response.
    pub(super) async fn send_cdp(&self, method: &str, parameters: Value) -> Value {
        assert_eq!(self.engine, Engine::Chromium, "{method} is Chromium's");
        let response = self.tab.cdp().send_raw(method, parameters).await;
        response.unwrap_or_else(|error| panic!("{method}: {error}"))
    }
}
