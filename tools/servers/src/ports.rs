//! Ports for programs that bind them by number, and again after a restart.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Below the range from which the kernel takes the ports of outgoing connections: a port that is free stays free until the
/// program has bound it, and while the program restarts.
///
/// Source: ip(7), `ip_local_port_range`: 32768 to 60999.
const PORTS: Range<u16> = 20_000..32_000;
/// Ports that a process takes at a time.
const BLOCK: u16 = 100;

/// The ports of this process.
static OWN: Mutex<OwnPorts> = Mutex::new(OwnPorts {
    next: 0,
    end: 0,
    locks: Vec::new(),
});

struct OwnPorts {
    next: u16,
    end: u16,
    /// Each keeps other processes of the user out of a block. The kernel ends them with the process.
    locks: Vec<File>,
}

impl OwnPorts {
    /// Returns a port that no other process returns, and this one once.
    fn take(&mut self) -> u16 {
        if self.next == self.end {
            let (block, lock) = PORTS
                .step_by(usize::from(BLOCK))
                .find_map(|first| Some((first, lock(first)?)))
                .expect("a hundred ports are free below 32000");
            (self.next, self.end) = (block, block + BLOCK);
            self.locks.push(lock);
        }
        let port = self.next;
        self.next += 1;
        port
    }
}

/// Returns nothing if another process has the block.
fn lock(block: u16) -> Option<File> {
    let user = rustix::process::geteuid();
    let folder = std::env::temp_dir().join(format!("florin-ports-{}", user.as_raw()));
    std::fs::create_dir_all(&folder).ok()?;
    let file = File::create(folder.join(block.to_string())).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Returns a port of the loopback interface that is free, and that no other call has returned, in no process that runs.
pub fn free_port() -> u16 {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    std::iter::repeat_with(|| own.take())
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("the search does not end before a port is found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_has_other_ports() {
        let own = free_port();
        let block = own - (own - PORTS.start) % BLOCK;
        assert!(lock(block).is_none());
        assert_ne!(free_port(), own);
    }
}
