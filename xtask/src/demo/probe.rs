//! Whether a program answers: one HTTP request by hand, since this is all that would be asked of a client.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Longest wait for a connection or for the first bytes of an answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether `GET path` on this machine is answered with 200.
pub(crate) fn answers(port: u16, path: &str) -> bool {
    ask(port, path).is_ok_and(|begin| begin.starts_with(b"HTTP/1.1 200"))
}

fn ask(port: u16, path: &str) -> std::io::Result<[u8; 12]> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let host = format!("127.0.0.1:{port}");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )?;
    let mut begin = [0; 12];
    stream.read_exact(&mut begin)?;
    Ok(begin)
}
