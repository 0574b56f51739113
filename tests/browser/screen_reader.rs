//! What a screen reader is told.

use serde_json::Value;
use support::{Browser, eventually};

/// Collects what the checkout's live region says, in `told`, and counts its regions, in `regions()`.
pub(crate) const LISTEN: &str = "(() => {
    window.told = [];
    const inside = () => document.querySelector('florin-checkout')?.shadowRoot;
    window.regions = () => inside().querySelectorAll(
        '[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]').length;
    const listen = () => {
        const region = inside()?.querySelector('[role=status]');
        if (!region) return setTimeout(listen, 5);
        const hear = () => region.textContent.trim() && window.told.push(region.textContent.trim());
        new MutationObserver(hear).observe(region, { childList: true, characterData: true, subtree: true });
        hear();
    };
    listen();
})();";

/// What the live region has said so far.
pub(crate) async fn told(browser: &Browser) -> Value {
    browser.evaluate("return window.told", &[]).await
}

/// Waits until this is what the live region has said last.
pub(crate) async fn has_told(browser: &Browser, words: &str) {
    eventually(&format!("a screen reader is told {words:?}"), async || {
        let told = told(browser).await;
        let last = told.as_array()?.last()?.as_str()?;
        (last == words).then_some(())
    })
    .await;
}
