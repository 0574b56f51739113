//! A real browser, driven by WebDriver: Chromium, or another [`Engine`].
//!
//! Every step waits, with a bound, until its element is there. If a checkout is shown in a frame, call
//! [`Browser::enter_checkout`] first.

mod devtools;
mod driver;
mod engine;
mod pool;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use thirtyfour::session::scriptret::ScriptRet;
use thirtyfour::{Key, TypingData, WebDriver, WebElement};

use self::driver::{Process, prepare};
pub use self::engine::{BrowserOptions, Engine};
use self::engine::{NetworkLog, program};
use self::pool::{BrowserPool, Context, Pooled};
use crate::circumstances;
use crate::wait::{eventually, pause};

/// Finds by `data-testid`: in the checkout's shadow root, else in the page.
const FIND: &str = r#"
    const named = `[data-testid="${arguments[0]}"]`;
    const checkout = document.querySelector('florin-checkout');
    const found = checkout?.shadowRoot?.querySelector(named) ?? document.querySelector(named);
"#;

/// After [`FIND`]: returns it if a customer sees it.
const IF_VISIBLE: &str = "
    const hasSize = (at) => [at.getBoundingClientRect()].some(({ width, height }) => width && height);
    const shown = found?.checkVisibility({ opacityProperty: true, visibilityProperty: true })
        && [found, ...found.querySelectorAll('*')].some(hasSize);
    return shown ? found : null;";

/// The `data-testid` of what has the focus, or of the element around it, else its tag.
const FOCUSED: &str = r"
    let at = document.activeElement;
    let name = at?.dataset?.testid;
    while (at?.shadowRoot?.activeElement) {
        at = at.shadowRoot.activeElement;
        name = at.dataset.testid ?? name;
    }
    return name ?? at?.tagName ?? '';
";

/// The browsers that all tests of one process share.
static POOL: BrowserPool = BrowserPool::new();

/// A browser with one tab and no stored state. Ends with [`Browser::end`].
#[derive(Debug)]
pub struct Browser {
    tab: WebDriver,
    engine: Engine,
    state: State,
}

#[derive(Debug)]
enum State {
    /// In a separate context of a browser that other tests use before and after.
    Context(Box<Pooled>, Context),
    /// In a separate browser.
    Alone(Box<Process>),
    Closed,
}

impl Browser {
    /// Opens a browser with a screen that is drawn by the test's name.
    pub async fn open() -> Self {
        Self::open_with(circumstances::drawn_screen()).await
    }

    pub async fn open_with(options: BrowserOptions) -> Self {
        let (pooled, context) = POOL.lend(options).await;
        let tab = pooled.process.session.clone();
        prepare(&tab, options, Some(&context.id)).await;
        Self {
            tab,
            engine: Engine::Chromium,
            state: State::Context(Box::new(pooled), context),
        }
    }

    pub async fn open_engine(engine: Engine, options: BrowserOptions) -> Self {
        match engine {
            Engine::Chromium => Self::open_with(options).await,
            Engine::Firefox | Engine::WebKit => Self::open_alone(engine, options).await,
        }
    }

    /// Starts a browser of this engine only for this test, with a log of its network requests.
    pub async fn open_alone(engine: Engine, options: BrowserOptions) -> Self {
        let process = Process::start(engine, options, NetworkLog::On).await;
        Self {
            tab: process.session.clone(),
            engine,
            state: State::Alone(Box::new(process)),
        }
    }

    fn process(&self) -> &Process {
        match &self.state {
            State::Context(pooled, _) => &pooled.process,
            State::Alone(process) => process,
            State::Closed => unreachable!("a browser that ended was moved"),
        }
    }

    pub async fn goto(&self, url: &str) {
        self.tab.goto(url).await.expect("the page loads");
    }

    pub async fn reload(&self) {
        self.leave_checkout().await;
        self.tab.refresh().await.expect("the page loads again");
    }

    pub async fn enter_checkout(&self) {
        self.leave_checkout().await;
        let what = "the frame of the checkout";
        eventually(what, async || {
            let script = "
                const element = document.querySelector('florin-checkout');
                return element?.querySelector('iframe') ?? element?.shadowRoot?.querySelector('iframe')";
            let frame = self.try_wait_until(what, script, &[]).await;
            frame.element().ok()?.enter_frame().await.ok()?;
            let inside = "return document.querySelector('florin-checkout') !== null";
            (self.evaluate(inside).await == json!(true)).then_some(())
        })
        .await;
    }

    /// Steps into a frame within this page or frame: a `data-testid`.
    pub async fn enter_frame(&self, name: &str) {
        let frame = self.wait_for(name).await;
        frame.enter_frame().await.expect("it is a frame");
    }

    pub async fn leave_checkout(&self) {
        self.tab
            .enter_default_frame()
            .await
            .expect("there is a page");
    }

    /// Waits until a script returns a truthy value in the page or frame; returns the value.
    ///
    /// The page repeats the script for half a second before it is sent again: a command to the driver takes 10 to 15 ms of the
    /// processor.
    pub async fn wait_until(&self, what: &str, script: &str) -> Value {
        self.wait_until_with(what, script, &[]).await
    }

    /// The same with arguments of the script.
    pub async fn wait_until_with(&self, what: &str, script: &str, arguments: &[Value]) -> Value {
        let found = self.try_wait_until(what, script, arguments).await;
        found.json().clone()
    }

    async fn try_wait_until(&self, what: &str, script: &str, arguments: &[Value]) -> ScriptRet {
        let repeated = format!(
            "const probe = () => {{ {script} }};
            return (async () => {{
                for (let count = 0; ; count += 1) {{
                    const found = probe();
                    if (found || count === 20) return found || null;
                    await new Promise((next) => setTimeout(next, 25));
                }}
            }})();"
        );
        eventually(what, async || {
            // A page that is left ends its scripts with an error.
            let response = self.tab.execute(&repeated, arguments.to_vec()).await.ok()?;
            (!response.json().is_null()).then_some(response)
        })
        .await
    }

    pub async fn wait_for_result(&self, what: &str, script: &str, value: impl Into<Value>) {
        let is_it = format!(
            "const read = () => {{ {script} }};
            return JSON.stringify(read() ?? null) === JSON.stringify(arguments[0]);"
        );
        self.wait_until_with(what, &is_it, &[value.into()]).await;
    }

    pub async fn wait_for(&self, name: &str) -> WebElement {
        let script = [FIND, IF_VISIBLE].concat();
        let found = self
            .try_wait_until(&format!("{name} is visible"), &script, &[json!(name)])
            .await;
        found.element().expect("the script returns an element")
    }

    pub async fn wait_for_text(&self, name: &str, part: &str) {
        let what = format!("{name} contains {part:?}");
        let script = [FIND, "return found?.textContent.includes(arguments[1]);"].concat();
        let arguments = [json!(name), json!(part)];
        self.wait_until_with(&what, &script, &arguments).await;
    }

    pub async fn wait_until_gone(&self, name: &str) {
        let script = [FIND, "return !found;"].concat();
        self.wait_until_with(&format!("{name} is gone"), &script, &[json!(name)])
            .await;
    }

    pub async fn is_visible(&self, name: &str) -> bool {
        let script = [FIND, IF_VISIBLE].concat();
        let found = self.tab.execute(&script, vec![json!(name)]).await;
        found.is_ok_and(|found| !found.json().is_null())
    }

    /// Its text, as it is read: without the blanks that only look nice.
    pub async fn text(&self, name: &str) -> String {
        let read = "return arguments[0].textContent";
        let found = self.wait_for(name).await;
        let found = found.to_json().expect("an element is JSON");
        let text = self.evaluate_with(read, &[found]).await;
        text.as_str().unwrap_or_default().to_owned()
    }

    pub async fn press(&self, name: &str) {
        let what = format!("{name} can be pressed");
        let ready = "return found?.hasAttribute('aria-disabled') === false ? found : null;";
        let script = [FIND, ready].concat();
        eventually(&what, async || {
            let found = self.try_wait_until(&what, &script, &[json!(name)]).await;
            found.element().ok()?.click().await.ok()
        })
        .await;
    }

    /// What a camera reads in it.
    pub async fn scan(&self, name: &str) -> String {
        let found = self.wait_for(name).await;
        let script = "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })";
        self.evaluate_with(script, &[found.to_json().expect("an element is JSON")])
            .await;
        // WebKit paints a frame some time after its scripts have drawn it.
        eventually("a QR code that can be read", async || {
            let picture = match self.engine {
                // Of an element in a frame its driver takes a black picture; the page has only one code anyway.
                Engine::WebKit => self.tab.screenshot_as_png().await,
                Engine::Chromium | Engine::Firefox => found.screenshot_as_png().await,
            };
            scan(&picture.ok()?, &self.process().folder.file("code.png"))
        })
        .await
    }

    pub async fn clipboard(&self) -> String {
        self.leave_checkout().await;
        let read = "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done('' + e))";
        let text = self.tab.execute_async(read, vec![]).await;
        let text = text.expect("a page may ask for the clipboard");
        let text = text.json().as_str().unwrap_or_default().to_owned();
        self.enter_checkout().await;
        text
    }

    /// Presses Tab until this has the focus (a `data-testid`), inside or outside the frame.
    pub async fn tab_to(&self, name: &str) {
        for _ in 0..60 {
            if self.evaluate(FOCUSED).await == name {
                return;
            }
            self.type_keys(Key::Tab).await;
            // A frame reports the new focus a moment after the key.
            pause(std::time::Duration::from_millis(20)).await;
        }
        panic!("{name} cannot be reached with Tab");
    }

    pub async fn type_keys(&self, keys: impl Into<TypingData>) {
        let typed = self.tab.action_chain().send_keys(keys).perform().await;
        typed.expect("keys can be pressed");
    }

    /// Presses the pointer at a place of the window, in CSS pixels.
    pub async fn click_at(&self, x: i64, y: i64) {
        let chain = self.tab.action_chain().move_to(x, y);
        chain.click().perform().await.expect("there is a pointer");
    }

    pub async fn fill(&self, name: &str, text: &str) {
        let field = self.wait_for(name).await;
        field.clear().await.expect("it is a field");
        field.send_keys(text).await.expect("a field takes text");
    }

    pub async fn evaluate(&self, script: &str) -> Value {
        self.evaluate_with(script, &[]).await
    }

    /// The same with arguments of the script.
    pub async fn evaluate_with(&self, script: &str, arguments: &[Value]) -> Value {
        let response = self.tab.execute(script, arguments.to_vec()).await;
        response.map_or(Value::Null, |response| response.json().clone())
    }

    /// Closes it. Dropped without this, as by a test that fails, it is killed, and no other test uses it.
    pub async fn end(mut self) {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::Context(pooled, context) => POOL.take_back(*pooled, context).await,
            State::Alone(mut process) => process.quit().await,
            State::Closed => {}
        }
    }
}

/// Returns the text of the QR code in a picture. An unreadable picture is kept among the temporary files.
fn scan(picture: &[u8], file: &Path) -> Option<String> {
    std::fs::write(file, picture).expect("the folder is writable");
    let mut zbar = Command::new(program("zbarimg", "zbar-tools"));
    zbar.args(["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"])
        .arg(file);
    let output = zbar.output().expect("zbarimg can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim_end_matches('\n').to_owned();
    if text.is_empty() {
        let kept = std::env::temp_dir().join("florin-unreadable-code.png");
        let _ = std::fs::copy(file, &kept);
        return None;
    }
    Some(text)
}
