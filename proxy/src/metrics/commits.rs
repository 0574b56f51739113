//! Commits of the storage, which counts them itself.

use florin_storage::Commits;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;

/// What the storage counted.
#[derive(Debug)]
pub(super) struct CountedCommits(pub(super) Commits);

impl Collector for CountedCommits {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let Self(commits) = self;
        let bounds = Commits::BOUNDS.iter().map(std::time::Duration::as_secs_f64);
        let buckets: Vec<_> = bounds
            .chain([f64::INFINITY])
            .zip(commits.by_duration)
            .collect();
        let count = commits.by_duration.iter().sum();
        let help = "Time of commits to the disk";
        let name = "florin_storage_commit_seconds";
        let mut histogram = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        let sum = commits.total.as_secs_f64();
        histogram.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
        let transactions = ConstCounter::new(commits.transactions);
        let help =
            "Transactions that were committed; those that wait at the same time share a commit";
        let name = "florin_storage_transactions";
        let encoder = encoder.encode_descriptor(name, help, None, transactions.metric_type())?;
        transactions.encode(encoder)
    }
}
