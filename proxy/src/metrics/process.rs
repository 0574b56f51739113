//! The process, as its kernel sees it. Where there is no `/proc`, there are no such series.
//!
//! Source: proc(5); names are those of the Prometheus client libraries' guidelines, "Process metrics".

use std::fs;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Reads the process when it is asked.
#[derive(Debug)]
pub(super) struct Process;

struct Reading {
    resident_bytes: u64,
    open_files: u64,
    max_files: u64,
    cpu: Duration,
    started_at: u64,
}

impl Reading {
    fn take() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        // Behind the name, which may hold anything. Its field is the second, so the first one here is the third.
        let (_, stat) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = stat.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let ticks_a_second = rustix::param::clock_ticks_per_second().max(1);
        let boot = fs::read_to_string("/proc/stat").ok()?;
        let boot = boot.lines().find_map(|line| line.strip_prefix("btime "))?;
        let page = u64::try_from(rustix::param::page_size()).ok()?;
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        Some(Self {
            resident_bytes: field(24)?.saturating_mul(page),
            open_files: fs::read_dir("/proc/self/fd")
                .ok()?
                .count()
                .try_into()
                .ok()?,
            max_files: limit.current.unwrap_or(u64::MAX),
            cpu: Duration::from_millis((field(14)? + field(15)?) * 1000 / ticks_a_second),
            started_at: boot.trim().parse::<u64>().ok()? + field(22)? / ticks_a_second,
        })
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), std::fmt::Error> {
        let Some(reading) = Reading::take() else {
            return Ok(());
        };
        let gauges = [
            (
                "process_resident_memory_bytes",
                "Resident memory",
                reading.resident_bytes,
            ),
            (
                "process_open_fds",
                "Open files, sockets included",
                reading.open_files,
            ),
            (
                "process_max_fds",
                "Files that may be open",
                reading.max_files,
            ),
            (
                "process_start_time_seconds",
                "Start of the process as Unix time",
                reading.started_at,
            ),
        ];
        for (name, help, value) in gauges {
            let gauge = ConstGauge::new(value);
            let encoder = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
            gauge.encode(encoder)?;
        }
        let cpu = ConstCounter::new(reading.cpu.as_secs_f64());
        let help = "Time on a processor, of user and system";
        let encoder =
            encoder.encode_descriptor("process_cpu_seconds", help, None, cpu.metric_type())?;
        cpu.encode(encoder)
    }
}
