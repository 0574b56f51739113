//! `[tracing]`: where traces are sent, and how many.

use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use crate::config::problems::Errors;

/// One request in a hundred: enough to see where time goes, and no load for a collector.
const SAMPLE_RATIO: &str = "0.01";
/// Source: OpenTelemetry Protocol, "OTLP/HTTP Request".
const TRACES_PATH: &str = "/v1/traces";
const MILLION: u32 = 1_000_000;

/// Where traces are sent, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracing {
    /// Where the collector takes spans: its address and `/v1/traces`.
    pub traces_url: Url,
    /// Of a million requests, so many are recorded.
    pub sampled_per_million: u32,
}

/// Traces for a collector of OpenTelemetry. Without `otlp_endpoint` nothing is recorded.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TracingTable {
    /// The collector's address for OTLP over HTTP, like `http://127.0.0.1:4318`; `/v1/traces` is added. Spans have no secrets and
    /// no data of customers.
    #[schemars(extend("x-default" = "none"))]
    pub(crate) otlp_endpoint: Option<String>,
    /// The share of requests that are recorded, as a string: "0" to "1" with six decimals at most. Orders whose store sends a
    /// sampled `traceparent` are always recorded.
    #[schemars(extend("x-default" = SAMPLE_RATIO))]
    pub(crate) sample_ratio: Option<String>,
}

pub(crate) fn tracing(errors: &mut Errors, table: &TracingTable) -> Option<Tracing> {
    let ratio = table.sample_ratio.as_deref().unwrap_or(SAMPLE_RATIO);
    let sampled_per_million = per_million(ratio);
    if sampled_per_million.is_none() {
        errors.add(
            "tracing.sample_ratio",
            format!("{ratio:?} is no share: write a number from \"0\" to \"1\", like \"0.01\""),
        );
    }
    let Some(endpoint) = &table.otlp_endpoint else {
        if table.sample_ratio.is_some() {
            errors.add(
                "tracing.sample_ratio",
                "has no effect without tracing.otlp_endpoint: write both, or none",
            );
        }
        return None;
    };
    Some(Tracing {
        traces_url: errors.record("tracing.otlp_endpoint", traces_url(endpoint))?,
        sampled_per_million: sampled_per_million?,
    })
}

fn traces_url(text: &str) -> Result<Url, String> {
    // Without the text, which may hold a password.
    let refused = |reason: &str| format!("{reason}: write like http://127.0.0.1:4318");
    let mut url = Url::parse(text).map_err(|error| refused(&format!("is no address ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(refused("is no web address"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must carry no user name and no password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused("has a query or a fragment"));
    }
    let path = url.path().trim_end_matches('/');
    if !path.ends_with(TRACES_PATH) {
        let path = format!("{path}{TRACES_PATH}");
        url.set_path(&path);
    }
    Ok(url)
}

/// `0.01` → 10000.
fn per_million(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_written = is_number(whole) && is_number(decimals) && (1..=6).contains(&decimals.len());
    if !is_written || whole.len() != 1 {
        return None;
    }
    let whole: u32 = whole.parse().ok()?;
    let decimals: u32 = format!("{decimals:0<6}").parse().ok()?;
    let share = whole.checked_mul(MILLION)?.checked_add(decimals)?;
    (share <= MILLION).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_exactly() {
        for (text, share) in [
            ("0", 0),
            ("1", 1_000_000),
            ("1.0", 1_000_000),
            ("0.01", 10_000),
            ("0.000001", 1),
        ] {
            assert_eq!(per_million(text), Some(share), "{text}");
        }
        for text in [
            "",
            ".5",
            "0.",
            "-0",
            "2",
            "1.000001",
            "0.0000001",
            "1e-2",
            "01",
        ] {
            assert_eq!(per_million(text), None, "{text}");
        }
    }

    #[test]
    fn the_path_of_traces_is_added_once() {
        for (text, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://otel.example/", "https://otel.example/v1/traces"),
            (
                "https://otel.example/tenant",
                "https://otel.example/tenant/v1/traces",
            ),
            ("http://otel:4318/v1/traces", "http://otel:4318/v1/traces"),
        ] {
            assert_eq!(traces_url(text).unwrap().as_str(), url);
        }
        for text in [
            "grpc://otel:4317",
            "http://me:secret@otel:4318",
            "grpc://me:secret@otel:4317",
            "http://me:secret@otel:port",
        ] {
            let error = traces_url(text).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
