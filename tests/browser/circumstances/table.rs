//! Circumstances of a checkout: what a customer's screen, and the page of a shop, may be like. Each names the report that it
//! comes from.
//!
//! **To add one, add a line to [`TABLE`]:** `tests/browser/circumstances.rs` shows a frame and an inline checkout in every
//! line. Tests that fix nothing draw a line by their name: [`Browser::open`](crate::Browser::open) draws a screen, and
//! `page_with` of `tests/browser/helpers.rs` draws what is on the page. `FLORIN_TEST_SEED` draws other lines.

use std::env;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::thread;

use self::Kind::{After, Before, Dark, Language, Place, Policy, Ratio};
use crate::BrowserOptions;

/// What is like that: a name, the report (`owner/name#number` on GitHub), and the circumstance.
pub type Circumstance = (&'static str, &'static str, Kind);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Device pixels of a CSS pixel. Each starts more browsers.
    Ratio(f64),
    Dark,
    /// HTML before the elements: styles and scripts of the page.
    Before(&'static str),
    After(&'static str),
    /// What the elements are in: HTML with `@` for them.
    Place(&'static str),
    /// A Content-Security-Policy with `{proxy}` for the proxy's origin.
    Policy(&'static str),
    /// The page's language, BCP 47. Not drawn: tests compare English texts.
    Language(&'static str),
}

/// All of them. The first two are those of most customers.
#[rustfmt::skip]
pub const TABLE: &[Circumstance] = &[
    ("a screen of one pixel per pixel", "davidjbradshaw/iframe-resizer#7", Ratio(1.0)),
    ("a bare page", "davidjbradshaw/iframe-resizer#163", Before("")),
    ("Windows at 125 %", "davidjbradshaw/iframe-resizer#1062", Ratio(1.25)),
    ("Windows at 150 %", "davidjbradshaw/iframe-resizer#1062", Ratio(1.5)),
    ("a dark system", "twbs/bootstrap#38750", Dark),
    ("a root of 62.5 %", "theopenco/llmchat#113", Before("<style>html { font-size: 62.5% }</style>")),
    ("a style's zoom", "GiovanH/unofficial-homestuck-collection#266", Before("<style>body { zoom: 1.1 }</style>")),
    ("capitals and letter spacing", "ampproject/amphtml#28865", Before("<style>body { letter-spacing: .3em; text-transform: uppercase }</style>")),
    ("shadows of texts, on one line", "lydell/LinkHints#82", Before("<style>body { text-shadow: 1px 1px #000; white-space: nowrap }</style>")),
    ("a body from right to left", "btcpayserver/btcpayserver#7428", Before("<style>body { direction: rtl }</style>")),
    ("Arabic", "btcpayserver/btcpayserver#7259", Language("ar")),
    ("a centred column", "stripe/react-connect-js#86", Place("<main style=\"display: flex; flex-direction: column; align-items: center\">@</main>")),
    ("a bare item of a flex row", "Vectreal/vectreal-platform#806", Place("<main style=\"display: flex\"><section>@</section></main>")),
    ("an inline block", "Vectreal/vectreal-platform#806", Place("<main style=\"display: inline-block\">@</main>")),
    ("a float", "Vectreal/vectreal-platform#806", Place("<main style=\"float: left\">@</main>")),
    ("a cell of a table", "Vectreal/vectreal-platform#806", Place("<table><tr><td>@</table>")),
    ("a button for another product", "VivaPayments/API#428", After("<florin-checkout store=\"demo\" product=\"mug\" display=\"modal\">Another</florin-checkout>")),
    ("a policy with the documented sources", "paypal/paypal-checkout-components#447", Policy("script-src {proxy} 'wasm-unsafe-eval'; frame-src {proxy}; connect-src {proxy}; style-src 'none'")),
];

impl Kind {
    pub fn screen(self) -> BrowserOptions {
        let usual = BrowserOptions::default();
        match self {
            Ratio(ratio) => BrowserOptions { ratio, ..usual },
            _ => BrowserOptions {
                dark: self == Dark,
                ..usual
            },
        }
    }

    /// Returns the policy and the body of a shop's page with these elements, which `{proxy}/florin.js` defines.
    pub fn page(self, proxy: &str, elements: &str) -> (String, String) {
        let script = format!("<script src=\"{proxy}/florin.js\" async></script>");
        let (policy, body) = match self {
            Ratio(_) | Dark => ("", elements.to_owned()),
            Before(html) => ("", [html, elements].concat()),
            After(html) => ("", [elements, html].concat()),
            Place(html) => ("", html.replace('@', elements)),
            // The policy would forbid them.
            Policy(_) if elements.contains("<script") || elements.contains("style") => {
                ("", elements.to_owned())
            }
            Policy(policy) => (policy, elements.to_owned()),
            Language(tag) => {
                let set = format!("<script>document.documentElement.lang = '{tag}'</script>");
                ("", [&set, elements].concat())
            }
        };
        (policy.replace("{proxy}", proxy), [script, body].concat())
    }
}

pub(crate) fn drawn_screen() -> BrowserOptions {
    draw(|kind| matches!(kind, Ratio(_) | Dark)).map_or_else(BrowserOptions::default, Kind::screen)
}

pub fn drawn_page() -> Kind {
    let is_of_a_page = |kind| !matches!(kind, Ratio(_) | Dark | Language(_));
    draw(is_of_a_page).unwrap_or(Before(""))
}

/// Draws by the name of the running test, which is that of its thread, and prints what it drew. None outside a test.
fn draw(is_wanted: impl Fn(Kind) -> bool) -> Option<Kind> {
    let thread = thread::current();
    let test = thread.name().filter(|name| name.contains("::"))?;
    let mut hash = DefaultHasher::new();
    (test, env::var("FLORIN_TEST_SEED").ok()).hash(&mut hash);
    let lines: Vec<_> = TABLE.iter().filter(|line| is_wanted(line.2)).collect();
    let at = usize::try_from(hash.finish() % 1024).ok()? % lines.len();
    let (name, source, kind) = lines[at];
    eprintln!("{test}: {name} ({source})");
    Some(*kind)
}
