//! The proxy without its sockets and without its own sense of when to act.
//!
//! [`crate::run`] serves a core and lets its jobs act when something is due. A test may take their place: it calls the
//! router and the steps itself, on a clock of its own.

use std::sync::Arc;

use axum::Router;
use tokio_util::sync::CancellationToken;

use crate::app::{App, Parts};
use crate::config::Config;
use crate::http::{admin_routes, routes};
use crate::jobs;

/// Everything that a running proxy does, to be called.
#[derive(Clone, Debug)]
pub struct Core {
    pub(crate) app: Arc<App>,
}

impl Core {
    /// Puts the parts together; nothing happens yet. What is under way when `shutdown` is cancelled still finishes.
    pub fn new(config: Config, parts: Parts, shutdown: CancellationToken) -> Self {
        Self {
            app: Arc::new(App::new(config, parts, shutdown)),
        }
    }

    /// What browsers, stores and the service call.
    pub fn router(&self) -> Router {
        routes(self.app.clone())
    }

    /// What the operator calls.
    pub(crate) fn admin_router(&self) -> Router {
        admin_routes(self.app.clone())
    }

    /// One step of the watcher: asks the service about attempts that are due, as many as are looked at at once, and
    /// records what it says.
    pub async fn look(&self) {
        jobs::look(&self.app).await;
    }

    /// One step of the teller: delivers events that are due, to every store as many as are delivered at once, and
    /// records how that went.
    pub async fn tell(&self) {
        jobs::tell_all(&self.app).await;
    }

    /// One step of the keeper: gives up what never came, and ends what is over.
    pub async fn tidy(&self) {
        jobs::tidy(&self.app).await;
    }
}
