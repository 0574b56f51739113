//! How a page is looked at: its size, its colours, and pictures of it.

use std::path::Path;

use serde_json::json;

use super::{Browser, BrowserOptions};

impl Browser {
    /// Gives the page this size and these colours from here on, and keeps everything still: what moves is not what is
    /// looked at.
    pub async fn emulate(&self, options: BrowserOptions) {
        self.emulate_with(options, &[]).await;
    }

    /// The same for a customer whose system asks for more: media features and their values.
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

    /// Keeps a picture of the page that is looked at, as far down as it goes, without its scroll bars and the room for
    /// them.
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

    /// Runs a script that answers later: it calls the last of its arguments with the answer.
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
