//! Connections that the sandbox can close without a response, as a network does.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

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

/// A listener whose connections have a [`ConnectionFault`].
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
