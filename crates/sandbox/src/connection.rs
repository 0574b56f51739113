//! Connections that can be closed without an answer, as a network would.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::task::{Context, Poll, ready};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use crate::clock::{Clock, Sleep};

/// A listener whose connections can be cut.
#[derive(Debug)]
pub(crate) struct CuttableListener {
    pub(crate) listener: TcpListener,
    /// What a dripping connection waits by.
    pub(crate) clock: Arc<dyn Clock>,
}

impl Listener for CuttableListener {
    type Io = CuttableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (CuttableStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let cut = Cut::default();
        let stream = CuttableStream {
            stream,
            cut,
            clock: self.clock.clone(),
            pause: None,
        };
        (stream, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Cuts one connection: nothing more is written, and it is closed. Or slows it down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cut(Arc<Wishes>);

#[derive(Debug, Default)]
struct Wishes {
    cut: AtomicBool,
    /// Bytes a second; 0 for as many as there are.
    drip: AtomicU32,
}

impl Cut {
    pub(crate) fn cut(&self) {
        self.0.cut.store(true, Ordering::Release);
    }

    fn is_cut(&self) -> bool {
        self.0.cut.load(Ordering::Acquire)
    }

    /// From now on at most so many bytes a second are written.
    pub(crate) fn drip(&self, bytes_per_second: u32) {
        self.0.drip.store(bytes_per_second, Ordering::Release);
    }

    fn drips(&self) -> Option<usize> {
        let bytes = self.0.drip.load(Ordering::Acquire);
        usize::try_from(bytes).ok().filter(|bytes| *bytes > 0)
    }
}

impl Connected<IncomingStream<'_, CuttableListener>> for Cut {
    fn connect_info(stream: IncomingStream<'_, CuttableListener>) -> Self {
        stream.io().cut.clone()
    }
}

/// A TCP stream that refuses to write once it was cut.
pub(crate) struct CuttableStream {
    stream: TcpStream,
    cut: Cut,
    clock: Arc<dyn Clock>,
    /// Until the next drop may fall.
    pause: Option<Sleep>,
}

impl AsyncRead for CuttableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for CuttableStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.cut.is_cut() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let Some(drop) = self.cut.drips() else {
            return Pin::new(&mut self.stream).poll_write(context, bytes);
        };
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        let drop = &bytes[..drop.min(bytes.len())];
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, drop));
        self.pause = Some(self.clock.sleep(Duration::from_secs(1)));
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
