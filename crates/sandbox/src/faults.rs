//! Faults on demand: which calls they hit, how often, and what goes wrong; and connections that the sandbox can close without
//! a response, as a network does.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use florin_gateway::api::request::Endpoint;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// What goes wrong. All but `Status` leave the work done: only the response is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Fault {
    /// An error instead of a response; nothing is done.
    Status {
        /// 400 to 599.
        status: u16,
        /// The error's `code`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// The header Retry-After, in seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u32>,
    },
    Slow {
        delay_ms: u64,
    },
    /// The body is the first half of its text, complete as HTTP.
    Garbled {},
    /// Numbers and lists in place of strings.
    WrongTypes {},
    /// 200 without a body.
    Empty {},
    /// The connection is closed instead of a response.
    Drop {},
    /// The connection is closed in the middle of the body.
    Cut {},
    Lost {},
    Repeated {},
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// Every endpoint.
    #[default]
    Any,
    /// A callback that is about to be sent.
    Callback,
    #[serde(untagged)]
    Endpoint(Endpoint),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FaultPlan {
    #[serde(default)]
    pub(crate) endpoint: Target,
    #[serde(flatten)]
    pub(crate) fault: Fault,
    /// Calls that it still hits.
    #[serde(default = "one")]
    pub(crate) times: u32,
}

/// The default of a number of times or blocks.
pub(crate) fn one() -> u32 {
    1
}

/// Faults that wait for their calls, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<FaultPlan>);

/// Faults that wait at once.
const CAPACITY: usize = 100;

impl Faults {
    /// Injects a fault into the next calls.
    ///
    /// # Errors
    /// A sentence, when the plan is invalid.
    pub(crate) fn inject(&mut self, plan: FaultPlan) -> Result<(), &'static str> {
        if let Fault::Status { status, .. } = plan.fault
            && !(400..=599).contains(&status)
        {
            return Err("The status of a fault is one from 400 to 599.");
        }
        let is_of_callbacks = matches!(plan.fault, Fault::Lost {} | Fault::Repeated {});
        if is_of_callbacks != (plan.endpoint == Target::Callback) {
            return Err(
                "The kinds lost and repeated go with the endpoint \"callback\", and no other kind does.",
            );
        }
        if self.0.len() == CAPACITY {
            return Err("A hundred faults are waiting: DELETE /sandbox/faults removes them.");
        }
        if plan.times > 0 {
            self.0.push(plan);
        }
        Ok(())
    }

    /// The oldest fault that hits this target; it counts down.
    pub(crate) fn take(&mut self, target: Target) -> Option<Fault> {
        let hits = |plan: &FaultPlan| {
            plan.endpoint == target || plan.endpoint == Target::Any && target != Target::Callback
        };
        let index = self.0.iter().position(hits)?;
        let plan = &mut self.0[index];
        plan.times -= 1;
        if plan.times == 0 {
            return Some(self.0.remove(index).fault);
        }
        Some(plan.fault.clone())
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn waiting(&self) -> &[FaultPlan] {
        &self.0
    }
}

/// Closes one connection: writes fail from then on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionFault(Arc<AtomicBool>);

impl ConnectionFault {
    pub(crate) fn close(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Connected<IncomingStream<'_, FaultyListener>> for ConnectionFault {
    fn connect_info(stream: IncomingStream<'_, FaultyListener>) -> Self {
        stream.io().fault.clone()
    }
}

#[derive(Debug)]
pub(crate) struct FaultyListener(pub(crate) TcpListener);

impl Listener for FaultyListener {
    type Io = FaultyStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (FaultyStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        let fault = ConnectionFault::default();
        (FaultyStream { stream, fault }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A TCP stream that fails to write once it is closed.
pub(crate) struct FaultyStream {
    stream: TcpStream,
    fault: ConnectionFault,
}

impl AsyncRead for FaultyStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for FaultyStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.fault.is_closed() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GARBLED: Fault = Fault::Garbled {};
    const LOST: Fault = Fault::Lost {};
    const PRICES: Target = Target::Endpoint(Endpoint::Prices);

    fn plan(endpoint: Target, fault: Fault, times: u32) -> FaultPlan {
        FaultPlan {
            endpoint,
            fault,
            times,
        }
    }

    #[test]
    fn a_fault_hits_its_target_as_often_as_planned_and_in_order() {
        let mut faults = Faults::default();
        faults.inject(plan(Target::Callback, LOST, 1)).unwrap();
        faults.inject(plan(PRICES, GARBLED, 2)).unwrap();
        faults.inject(plan(Target::Any, Fault::Drop {}, 1)).unwrap();
        faults.inject(plan(Target::Any, GARBLED, 0)).unwrap();
        let prices = [(); 4].map(|()| faults.take(PRICES));
        let expected = [Some(GARBLED), Some(GARBLED), Some(Fault::Drop {}), None];
        assert_eq!(prices, expected);
        assert_eq!(faults.take(Target::Callback), Some(LOST));
        assert_eq!(faults.take(Target::Callback), None);
    }

    #[test]
    fn a_hundred_faults_are_the_limit() {
        let mut faults = Faults::default();
        for _ in 0..100 {
            faults.inject(plan(Target::Any, GARBLED, 1)).unwrap();
        }
        let error = faults.inject(plan(Target::Any, GARBLED, 1)).unwrap_err();
        assert!(error.starts_with("A hundred faults"), "{error}");
    }
}
