//! The three browser engines.

use std::env;
use std::path::PathBuf;

/// A browser engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Chromium: Chrome, Edge, Opera, Samsung Internet.
    Chromium,
    /// Gecko: Firefox.
    Firefox,
    /// `WebKit`, in its port to GTK: the engine of Safari and of every browser on an iPhone.
    WebKit,
}

impl Engine {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Chromium, Self::Firefox, Self::WebKit];

    /// Returns its WebDriver program.
    pub(super) fn driver(self) -> PathBuf {
        match self {
            Self::Chromium => program("chromedriver", "chromium-driver"),
            Self::Firefox => geckodriver(),
            Self::WebKit => program("WebKitWebDriver", "webkit2gtk-driver"),
        }
    }
}

/// Returns the path of a program; panics with the way to install it.
pub(super) fn program(name: &str, package: &str) -> PathBuf {
    on_path(name).unwrap_or_else(|| {
        panic!("{name} is missing. Install it with: sudo apt-get install {package}")
    })
}

/// No package of the distribution: `cargo xtask test` installs it into the user's cache, where it is found even when
/// the tests are run alone.
fn geckodriver() -> PathBuf {
    const NAME: &str = "geckodriver";
    on_path(NAME)
        .or_else(|| in_the_cache(NAME))
        .expect("geckodriver is missing. Install it with: cargo xtask test --only tests")
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|candidate| candidate.is_file())
}

/// `florin/tools/{name}-{version}/bin/{name}` where the user keeps caches, of the newest version that is there.
fn in_the_cache(name: &str) -> Option<PathBuf> {
    let caches = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
    let caches = caches.map(PathBuf::from);
    let caches = caches.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    let tools = std::fs::read_dir(caches.join("florin/tools")).ok()?;
    let begin = format!("{name}-");
    let of_it = |folder: &PathBuf| {
        let last = folder.file_name().and_then(|last| last.to_str());
        last.is_some_and(|last| last.starts_with(&begin))
    };
    let versions = tools.flatten().map(|entry| entry.path()).filter(of_it);
    let programs = versions.map(|folder| folder.join("bin").join(name));
    programs.filter(|program| program.is_file()).max()
}
