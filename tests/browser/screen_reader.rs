//! Announcements to screen readers.

use serde_json::Value;
use support::{Browser, eventually};

/// Records the texts of the checkout's live region in `announced`; `regions()` counts the live regions.
pub(crate) const RECORD_ANNOUNCEMENTS: &str = "(() => {
    window.announced = [];
    const inside = () => document.querySelector('florin-checkout')?.shadowRoot;
    window.regions = () => inside().querySelectorAll(
        '[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]').length;
    const listen = () => {
        const region = inside()?.querySelector('[role=status]');
        if (!region) return setTimeout(listen, 5);
        const hear = () => region.textContent.trim() && window.announced.push(region.textContent.trim());
        new MutationObserver(hear).observe(region, { childList: true, characterData: true, subtree: true });
        hear();
    };
    listen();
})();";

/// Returns the announcements so far.
pub(crate) async fn announced(browser: &Browser) -> Value {
    browser.evaluate("return window.announced", &[]).await
}

/// Waits until this is the last announcement.
pub(crate) async fn wait_until_announced(browser: &Browser, words: &str) {
    eventually(&format!("announcement of {words:?}"), async || {
        let announced = announced(browser).await;
        let last = announced.as_array()?.last()?.as_str()?;
        (last == words).then_some(())
    })
    .await;
}
