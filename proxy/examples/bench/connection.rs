//! A connection that is kept alive. It parses no more than the status and the length of a response, so that the server is what
//! is measured.

use std::net::SocketAddr;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    head: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(8 * 1024),
            head: 0,
        })
    }

    /// Sends a request and reads the whole response, which must have the status 200 and a length.
    pub(crate) async fn exchange(&mut self, request: &str) -> anyhow::Result<()> {
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "closed");
            let Some(head) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let text = std::str::from_utf8(&self.buffer[..head])?;
            ensure!(text.split(' ').nth(1) == Some("200"), "{text}");
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.context("a response without a length")?.parse()?;
            self.head = head + 4;
            while self.buffer.len() < self.head + length {
                ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "closed");
            }
            return Ok(());
        }
    }

    /// The body of the last response.
    pub(crate) fn body(&self) -> &[u8] {
        &self.buffer[self.head..]
    }
}
