//! A payment page of another vendor, served on loopback for measurements.
//!
//! `cargo xtask bench` bundles each from npm; `tests/peers/README.md` describes the files. They are served as ours are:
//! compressed with brotli beforehand, and cached for a year. What the maker's and the shop's servers would answer is
//! canned. The page's policy admits the page's origin alone, so that no request leaves this machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use crate::local_server::LocalServer;

/// A peer of the bench.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// The folder in `tests/peers`, and among the bundles.
    pub folder: &'static str,
    /// The package of npm.
    pub package: &'static str,
    /// The least ratio of its time to ours, in hundredths: below it the bench fails.
    pub promised: u64,
}

/// Each peer of the bench.
pub const PRODUCTS: [Product; 2] = [
    Product {
        folder: "bitcoin-connect",
        package: "@getalby/bitcoin-connect",
        promised: 148,
    },
    Product {
        folder: "adyen",
        package: "@adyen/adyen-web",
        promised: 124,
    },
];

impl Product {
    /// The version that `tests/peers/package.json` pins.
    ///
    /// # Panics
    /// It pins none.
    pub fn version(&self) -> String {
        let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/package.json");
        let list = fs::read_to_string(list).expect("the list is part of the repository");
        let list: Value = serde_json::from_str(&list).expect("the list is JSON");
        let version = list["devDependencies"][self.package].as_str();
        version
            .unwrap_or_else(|| panic!("{} has no version", self.package))
            .to_owned()
    }

    /// Its time over ours in hundredths, rounded down, and whether that is what is promised. Both times in one unit.
    ///
    /// # Panics
    /// Ours is zero.
    pub fn ratio(&self, theirs: u64, ours: u64) -> (u64, bool) {
        let hundredths = theirs * 100 / ours;
        (hundredths, hundredths >= self.promised)
    }
}

/// A peer's page, served on a separate port until dropped.
#[derive(Debug)]
pub struct Peer {
    _server: LocalServer,
    url: String,
    choice: String,
    files: Arc<Files>,
}

#[derive(Debug)]
struct Files {
    page: String,
    /// By name, compressed with brotli.
    assets: BTreeMap<String, Vec<u8>>,
    responses: BTreeMap<String, Value>,
    /// Paths that were requested and are missing.
    missing: Mutex<Vec<String>>,
}

impl Peer {
    /// Serves a bundle: a folder with `page.html`, `choice.js`, `responses.json`, and `assets/<name>.br`.
    ///
    /// # Panics
    /// One of them is missing.
    pub async fn open(bundle: &Path) -> Self {
        let read = |name: &str| {
            let path = bundle.join(name);
            let text = fs::read_to_string(&path);
            text.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let assets = fs::read_dir(bundle.join("assets")).expect("a bundle has assets");
        let assets = assets.map(|entry| {
            let entry = entry.expect("the bundle is readable");
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = name.strip_suffix(".br").expect("assets are compressed");
            let content = fs::read(entry.path()).expect("the bundle is readable");
            (name.to_owned(), content)
        });
        let files = Arc::new(Files {
            page: read("page.html"),
            assets: assets.collect(),
            responses: serde_json::from_str(&read("responses.json")).expect("answers are JSON"),
            missing: Mutex::default(),
        });
        let routes = Router::new()
            .fallback(response)
            .with_state(Arc::clone(&files));
        let server = LocalServer::start(routes).await;
        Self {
            url: format!("{}/", server.url),
            _server: server,
            choice: read("choice.js"),
            files,
        }
    }

    /// The address of its page.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A function of the page, in JavaScript: `true` when something can be chosen.
    pub fn choice(&self) -> &str {
        &self.choice
    }

    /// The paths that had no response.
    pub fn missing(&self) -> Vec<String> {
        let missing = self.files.missing.lock();
        missing.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The page's own origin alone.
const POLICY: &str = "default-src 'self' 'unsafe-inline' data: blob:";
/// As the proxy has it for its own assets.
const FOR_A_YEAR: &str = "public, max-age=31536000, immutable";
/// What is no part of the choice: pictures beside it, and frames for later.
const PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"26\"/>";
const FRAME: &str = "<!doctype html><html lang=\"en\"><title>Frame</title>";

async fn response(State(files): State<Arc<Files>>, uri: Uri) -> Response {
    let path = uri.path();
    if path == "/" {
        let headers = [
            (CONTENT_SECURITY_POLICY, POLICY),
            (CONTENT_TYPE, content_type("html")),
        ];
        return (headers, files.page.clone()).into_response();
    }
    if let Some(response) = files.responses.get(path) {
        let headers = [(CONTENT_TYPE, content_type("json"))];
        return (headers, response.to_string()).into_response();
    }
    let ending = path.rsplit('.').next().unwrap_or_default();
    let name = path.strip_prefix("/assets/");
    if let Some(content) = name.and_then(|name| files.assets.get(name)) {
        let headers = [
            (CONTENT_TYPE, content_type(ending)),
            (CONTENT_ENCODING, "br"),
            (CACHE_CONTROL, FOR_A_YEAR),
        ];
        return (headers, content.clone()).into_response();
    }
    match ending {
        "svg" => ([(CONTENT_TYPE, content_type(ending))], PICTURE).into_response(),
        "html" => ([(CONTENT_TYPE, content_type(ending))], FRAME).into_response(),
        _ if path == "/favicon.ico" => StatusCode::NO_CONTENT.into_response(),
        _ => {
            let mut missing = files.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.push(path.to_owned());
            StatusCode::NOT_FOUND.into_response()
        }
    }
}

fn content_type(ending: &str) -> &'static str {
    match ending {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "html" => "text/html; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
