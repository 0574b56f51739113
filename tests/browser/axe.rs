//! axe-core on the page.

use support::{Browser, npm_file};

/// Returns the findings, one per line; an empty string is a clean page.
pub(crate) async fn axe_findings(browser: &Browser) -> String {
    const RUN: &str = "
        const [done] = [...arguments].slice(-1);
        axe.run(document, {
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
            resultTypes: ['violations'],
            preload: false,
        }).then(({ violations, passes }) => done([passes.length, violations.flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) =>
            id + ' at ' + target.flat().join(' ') + ': ' + [...any, ...all, ...none].map(({ message }) => message).join('; ')))]), (error) => done([0, ['' + error]]));";
    let there = browser.evaluate("return typeof axe").await;
    if there != "object" {
        let axe = std::fs::read_to_string(npm_file("axe-core/axe.min.js")).unwrap();
        browser.evaluate(&axe).await;
    }
    let response = browser.evaluate_async(RUN).await;
    assert!(
        response[0].as_u64() > Some(5),
        "axe-core looked: {response}"
    );
    let found = response[1].as_array().unwrap().iter();
    let found: Vec<_> = found.map(|line| line.as_str().unwrap()).collect();
    found.join("\n")
}

/// Returns what is wrong with the page that is shown: its width, and what axe-core finds.
pub(crate) async fn page_findings(browser: &Browser, name: &str) -> Vec<String> {
    let too_wide = "return document.documentElement.scrollWidth > innerWidth";
    let too_wide = browser.evaluate(too_wide).await == true;
    let found = axe_findings(browser).await;
    let found = found.lines().map(|finding| format!("{name}: {finding}"));
    let too_wide = too_wide.then(|| format!("{name}: wider than the window"));
    too_wide.into_iter().chain(found).collect()
}
