//! Where the demo listens: four ports of this machine's own loopback address.

use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context as _, bail};

/// The ports, all derived from the proxy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) proxy: u16,
    pub(crate) shop: u16,
    pub(crate) sandbox: u16,
    pub(crate) admin: u16,
}

impl Ports {
    /// `base` is at most 64525, so that the admin port exists.
    pub(crate) fn from_base(base: u16) -> Self {
        Self {
            proxy: base,
            shop: base + 1,
            sandbox: base + 10,
            admin: base + 1010,
        }
    }

    /// Ports that nobody has at this moment.
    ///
    /// # Errors
    /// There are none.
    pub(crate) fn free() -> anyhow::Result<Self> {
        let listen =
            || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("there is no free port");
        let listeners = [listen()?, listen()?, listen()?, listen()?];
        let mut ports = [0; 4];
        for (port, listener) in ports.iter_mut().zip(&listeners) {
            let address = listener.local_addr();
            *port = address.context("a listener has an address")?.port();
        }
        let [proxy, shop, sandbox, admin] = ports;
        Ok(Self {
            proxy,
            shop,
            sandbox,
            admin,
        })
    }

    /// # Errors
    /// A port is taken: the sentence names it and a base whose ports are free.
    pub(super) fn check(self) -> anyhow::Result<()> {
        let Some((name, port)) = self.named().into_iter().find(|(_, port)| !is_free(*port)) else {
            return Ok(());
        };
        let free = (18..60).map(|thousand| thousand * 1000 + 80).find(|base| {
            let ports = Self::from_base(*base).named();
            ports.into_iter().all(|(_, port)| is_free(port))
        });
        let elsewhere = match free {
            Some(base) => format!("or run `cargo xtask demo --port-base {base}`"),
            None => "or choose others with --port-base".to_owned(),
        };
        bail!("port {port}, the {name}'s, is taken: stop the program that has it, {elsewhere}");
    }

    /// What to ask each program for, to know that it is ready.
    pub(crate) fn health(self) -> Vec<(&'static str, u16, &'static str)> {
        vec![
            ("sandbox", self.sandbox, "/sandbox"),
            ("proxy", self.admin, "/health/ready"),
            ("shop", self.shop, "/"),
        ]
    }

    fn named(self) -> [(&'static str, u16); 4] {
        [
            ("proxy", self.proxy),
            ("shop", self.shop),
            ("sandbox", self.sandbox),
            ("proxy's admin listener", self.admin),
        ]
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_named_with_a_base_that_is_free() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let ports = Ports {
            shop: port,
            ..Ports::from_base(10_080)
        };
        let sentence = ports.check().unwrap_err().to_string();
        let begin = format!("port {port}, the shop's, is taken: stop the program that has it, ");
        assert!(sentence.starts_with(&begin), "{sentence}");
        assert!(
            sentence.contains("`cargo xtask demo --port-base "),
            "{sentence}"
        );
    }
}
