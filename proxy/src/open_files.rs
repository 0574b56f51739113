//! The number of files that the process may open, sockets included.

use anyhow::Context as _;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Enough for [`MAX_CONNECTIONS`]; some systems have no upper limit.
const WANTED: u64 = 65_536;
/// For the database, the gateway, the listeners and the log.
const RESERVED: u64 = 128;
/// For the deliveries in flight to one webhook, and the lookup of its host name.
const RESERVED_PER_WEBHOOK: u64 = 8;
pub(crate) const ADMIN_CONNECTIONS: usize = 64;
/// The connections of the public listener. One takes about 20 KiB while it waits for a request.
const MAX_CONNECTIONS: u64 = 16_384;

/// Raises the soft limit to the hard one. Returns the limit in force.
///
/// # Errors
/// If the system refuses to raise the limit.
pub fn raise_limit() -> anyhow::Result<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(WANTED).min(WANTED);
    let current = limit.current.unwrap_or(u64::MAX);
    if current >= allowed {
        return Ok(current);
    }
    limit.current = Some(allowed);
    setrlimit(Resource::Nofile, limit)
        .with_context(|| format!("cannot raise the limit of open files to {allowed}"))?;
    Ok(allowed)
}

/// Returns how many connections the public listener may hold, so that enough files are left for everything else.
pub fn public_connections(open_files: u64, webhooks: usize) -> usize {
    let webhooks = u64::try_from(webhooks).unwrap_or(u64::MAX);
    let admin = u64::try_from(ADMIN_CONNECTIONS).unwrap_or(u64::MAX);
    let reserved = webhooks
        .saturating_mul(RESERVED_PER_WEBHOOK)
        .saturating_add(RESERVED + admin);
    let left = open_files.saturating_sub(reserved).max(open_files / 4);
    usize::try_from(left.min(MAX_CONNECTIONS)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_reserved_for_everything_but_customers() {
        for (files, stores, connections) in [
            (1_024, 1, 824),
            (1_024, 10, 752),
            (65_536, 1, 16_384),
            // A low limit leaves some.
            (256, 1, 64),
            (1_024, usize::MAX, 256),
        ] {
            assert_eq!(public_connections(files, stores), connections);
        }
    }

    #[test]
    fn the_limit_is_raised_to_the_highest_allowed() {
        let raised = raise_limit().unwrap();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current.unwrap_or(u64::MAX), raised);
        let allowed = limit.maximum.unwrap_or(WANTED);
        assert!(raised >= allowed.min(WANTED), "{raised} of {allowed}");
    }
}
