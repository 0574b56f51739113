//! Snapshot of every state of the gallery: heading, mark, steps and first action must agree.

use std::fmt::Write as _;

use crate::gallery::{Gallery, wide};

/// One line for a state: `name | heading | mark | steps, the current one in brackets | first action`. A dash where
/// there is none.
const EXPECTED: &str = include_str!("states.txt");

/// Returns heading, mark, steps and first action of the screen.
const SHOWN: &str = "
    const main = document.querySelector('florin-checkout').shadowRoot.querySelector('.main');
    const seen = (selector) => [...main.querySelectorAll(selector)].filter((at) => at.checkVisibility({ visibilityProperty: true }));
    const words = (at) => at?.textContent.replace(/[\\u2066-\\u2069]/g, '').replace(/\\s+/g, ' ').trim() || '-';
    const mark = seen('.mark, .tick')[0];
    const steps = seen('.steps > li').map((step) => {
        const text = words(step.querySelector('p'));
        return step.className === 'now' ? `[${text}]` : text;
    });
    return [
        words(seen('h2')[0]),
        mark?.getAttribute('class') || '-',
        steps.join(', ') || '-',
        words(seen('.primary')[0]),
    ].join(' | ');";

#[tokio::test]
async fn heading_mark_steps_and_first_action_agree_in_every_state() {
    let gallery = Gallery::open().await;
    gallery.browser.emulate(wide(1270)).await;
    let mut shown = String::new();
    for state in Gallery::states() {
        gallery.show(&state, "").await;
        let line = gallery.browser.evaluate(SHOWN, &[]).await;
        let _ = writeln!(shown, "{state} | {}", line.as_str().unwrap());
    }
    gallery.end().await;
    assert_eq!(shown, EXPECTED, "shown:\n{shown}");
}
