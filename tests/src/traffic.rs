//! HTTP requests and responses that pass a [`TcpProxy`](crate::TcpProxy).

use std::net::SocketAddr;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::broadcast;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Proxy,
    Gateway,
    Shop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) link: Link,
    pub(crate) there: SocketAddr,
    /// `true` for a response, `false` for a request.
    pub(crate) is_response: bool,
    /// `POST /api/invoice`: method and path of the request, without its query.
    pub(crate) request: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    pub(crate) link: Link,
    pub(crate) passed: broadcast::Sender<Passed>,
}

pub(crate) struct Observed {
    traffic: Traffic,
    there: SocketAddr,
    /// The request without a response so far.
    outstanding: Mutex<Option<String>>,
}

impl Traffic {
    pub(crate) fn between(self, there: SocketAddr) -> Observed {
        Observed {
            traffic: self,
            there,
            outstanding: Mutex::default(),
        }
    }
}

impl Observed {
    pub(crate) fn request(&self, bytes: &[u8]) {
        if let Some(request) = request_line(bytes) {
            *self.outstanding() = Some(request.clone());
            self.report(false, request);
        }
    }

    pub(crate) fn response(&self) {
        let request = self.outstanding().take();
        if let Some(request) = request {
            self.report(true, request);
        }
    }

    fn report(&self, is_response: bool, request: String) {
        // An error means that no kill plan listens at the moment.
        let _ = self.traffic.passed.send(Passed {
            link: self.traffic.link,
            there: self.there,
            is_response,
            request,
        });
    }

    fn outstanding(&self) -> MutexGuard<'_, Option<String>> {
        self.outstanding.lock()
    }
}

fn request_line(bytes: &[u8]) -> Option<String> {
    let line = bytes.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let method = words
        .next()
        .filter(|word| matches!(*word, "GET" | "POST" | "PUT"))?;
    let path = words.next()?.split('?').next()?;
    Some(format!("{method} {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_recognised_by_its_first_line() {
        let line = request_line(b"GET /api/invoice?id=inv_1 HTTP/1.1\r\nhost: x\r\n\r\n");
        assert_eq!(line.as_deref(), Some("GET /api/invoice"));
        assert_eq!(request_line(b"{\"POST\": 1}"), None);
    }
}
