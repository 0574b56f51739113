//! Emulated size, colours and media features, and screenshots.

use std::path::Path;

use serde_json::json;

use super::{Browser, BrowserOptions};

impl Browser {
    /// Emulates this size and colour scheme from here on, without motion.
    pub async fn emulate(&self, options: BrowserOptions) {
        self.emulate_with(options, &[]).await;
    }

    /// The same with further media features and their values.
    pub async fn emulate_with(&self, options: BrowserOptions, more: &[(&str, &str)]) {
        let (width, height) = options.size;
        self.set_viewport(width, height).await;
        let scheme = if options.dark { "dark" } else { "light" };
        let usual = [
            ("prefers-color-scheme", scheme),
            ("prefers-reduced-motion", "reduce"),
        ];
        let features = usual.iter().chain(more);
        let features: Vec<_> = features
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        let media = json!({ "media": "", "features": features });
        self.send_cdp("Emulation.setEmulatedMedia", media).await;
    }

    /// Saves a picture of the whole page without scroll bars.
    pub async fn save_picture(&self, options: BrowserOptions, file: &Path) {
        let hidden = json!({ "hidden": true });
        self.send_cdp("Emulation.setScrollbarsHidden", hidden).await;
        let no_room = "document.documentElement.style.scrollbarGutter = 'auto'";
        self.evaluate(no_room, &[]).await;
        let (width, least) = options.size;
        let height = "return document.documentElement.scrollHeight";
        let height = self.evaluate(height, &[]).await.as_u64().map(u32::try_from);
        let height = height.and_then(Result::ok).unwrap_or(least).max(least);
        self.set_viewport(width, height).await;
        let picture = self.tab.screenshot_as_png().await;
        let picture = picture.expect("the page can be seen");
        std::fs::write(file, picture).expect("the folder is writable");
        self.set_viewport(width, least).await;
    }

    /// Runs an asynchronous script, which calls its last argument with the result.
    pub async fn evaluate_async(
        &self,
        script: &str,
        arguments: &[serde_json::Value],
    ) -> serde_json::Value {
        let answer = self.tab.execute_async(script, arguments.to_vec()).await;
        let answer = answer.unwrap_or_else(|error| panic!("the script does not end: {error}"));
        answer.json().clone()
    }
}
