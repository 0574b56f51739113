//! Device pixels of a CSS pixel, changed while a page is shown.

use axum::http::Method;
use serde_json::json;
use thirtyfour::common::command::FormatRequestData;
use thirtyfour::{RequestData, SessionId};

use super::engine::FIREFOX_RATIO;
use super::{Browser, Engine};

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

impl Browser {
    /// Sets the device pixels of a CSS pixel, as another screen or zoom would. The others have the ratio of their start.
    ///
    /// # Panics
    /// It is no Firefox.
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
