//! Options of a campaign of several proxies.

use std::path::PathBuf;
use std::time::Duration;

/// Settings of a campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of kills.
    pub kills: u64,
    /// Proxies on one database.
    pub replicas: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// `florin-proxy`
    pub proxy: PathBuf,
    /// No kill is begun after this time.
    pub longest: Duration,
}
