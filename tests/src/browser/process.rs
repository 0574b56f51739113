//! A running browser with its driver.

use thirtyfour::WebDriver;

use super::BrowserOptions;
use super::capabilities::NetworkLog;
use super::driver::Driver;
use super::engine::Engine;
use super::launch::launch;
use super::process_tree::ProcessTree;
use crate::folder::Folder;

/// A browser, its driver and its folder. Dropped, all its processes are killed and the folder is removed.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) session: WebDriver,
    pub(super) folder: Folder,
    driver: Driver,
    /// The driver, the browser and the browser's own processes, some of which outlive the others.
    tree: ProcessTree,
    has_quit: bool,
}

impl Process {
    /// Starts a browser, with its one window.
    pub(super) async fn start(engine: Engine, options: BrowserOptions, log: NetworkLog) -> Self {
        let folder = Folder::new();
        let driver = Driver::start(engine, &folder, options).await;
        let session = launch(engine, &driver, &folder, options, log).await;
        Self {
            session,
            folder,
            tree: driver.process_tree(),
            driver,
            has_quit: false,
        }
    }

    /// Its processes, with the screen of an engine that needs one.
    pub(super) fn process_tree(&self) -> ProcessTree {
        self.driver.process_tree()
    }

    /// Ends it in order: what it writes at its end is in its folder.
    pub(super) async fn quit(&mut self) {
        self.has_quit = true;
        self.tree = self.driver.process_tree();
        let quit = self.session.clone().quit().await;
        self.tree.end();
        quit.expect("a browser can be closed");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_quit {
            self.tree.end();
            self.driver.process_tree().end();
            // The session ended with its browser: without this, the library would try to close it.
            let _ = self.session.clone().leak();
        }
    }
}
