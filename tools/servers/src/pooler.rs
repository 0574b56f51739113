//! A PgBouncer of the distribution's packages in transaction mode, in front of a server. It ends with the value or with the
//! process that started it, also when that process is killed.

use std::fs;
use std::io::{Error, ErrorKind};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;

use crate::postgres::{
    PAUSE, PAUSES, PostgresServer, new_folder, shell, unprivileged_user, write_private,
};
use crate::{free_port, on_path};

/// A running PgBouncer.
#[derive(Debug)]
pub struct Pooler {
    supervisor: Child,
    port: u16,
}

impl Pooler {
    /// Starts one in front of a server, with so many connections to each database.
    pub fn start(server: &PostgresServer, connections: u32) -> Result<Self, Error> {
        let program = on_path("pgbouncer").ok_or_else(|| {
            let missing = "PgBouncer is not installed: apt-get install pgbouncer";
            Error::new(ErrorKind::NotFound, missing)
        })?;
        let user = unprivileged_user()?;
        let (folder, port) = (new_folder()?, free_port());
        let users = format!("\"florin\" \"{}\"\n", server.password);
        write_private(&folder.join("users.txt"), &users, user.as_ref())?;
        // With the settings that an operator has to make, and no others.
        let settings = format!(
            "[databases]
             * = host=127.0.0.1 port={server}
             [pgbouncer]
             listen_addr = 127.0.0.1
             listen_port = {port}
             unix_socket_dir =
             auth_type = scram-sha-256
             auth_file = {folder}/users.txt
             pool_mode = transaction
             default_pool_size = {connections}
             max_client_conn = 1000
             server_idle_timeout = 5
             ",
            server = server.port,
            folder = folder.display(),
        );
        let settings: Vec<&str> = settings.lines().map(str::trim).collect();
        write_private(
            &folder.join("pgbouncer.ini"),
            &settings.join("\n"),
            user.as_ref(),
        )?;
        let supervisor = shell(&folder, user.as_ref())?
            .args(["-c", include_str!("pooler.sh"), "florin-pooler"])
            .args([&program, &folder])
            .stdout(Stdio::null())
            .spawn()?;
        let mut pooler = Self { supervisor, port };
        pooler.wait_until_ready(&folder)?;
        Ok(pooler)
    }

    fn wait_until_ready(&mut self, folder: &Path) -> Result<(), Error> {
        for _ in 0..PAUSES {
            if self.supervisor.try_wait()?.is_some() {
                break;
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        let log = fs::read_to_string(folder.join("pgbouncer.log")).unwrap_or_default();
        Err(Error::other(format!("PgBouncer did not start: {log}")))
    }

    /// Its port: [`PostgresServer::url_at`] is the address of a database through it.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}
