//! `florin-proxy gateway …`: one call of the gateway, signed with the configuration's key, its JSON printed as
//! it came.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use florin_gateway_client::{
    CallError, Client, Endpoint, InvoiceId, MAX_RAW_BODY_BYTES, PaymentGateway as _, RawRequest,
};
use florin_proxy::clock::{SystemClock, SystemRandom};
use florin_proxy::config::Config;
use florin_proxy::gateway_account;
use florin_storage::is_postgres;

use crate::commands::{database, runtime};

/// The calls of the gateway.
#[derive(Subcommand)]
pub(crate) enum Call {
    /// GET /currencies: what the gateway supports.
    Currencies,
    /// GET /prices: rates, limits and conversion ids.
    Prices,
    /// GET /invoice: the state of an invoice or a hosted session.
    Invoice {
        /// Its id at the gateway.
        id: String,
        /// With its transaction history.
        #[arg(long)]
        hist: bool,
    },
    /// POST /preferences: add a settlement wallet.
    AddPreferences(Change),
    /// PUT /preferences: update a settlement wallet.
    UpdatePreferences(Change),
    /// POST /aggregator/merchants: onboard a merchant of a platform.
    OnboardMerchant {
        /// The JSON to send; - reads it from standard input.
        #[arg(long, value_name = "FILE")]
        body: PathBuf,
    },
    /// GET /merchant/account: where KYC documents are stored.
    MerchantAccount {
        /// For which merchant of a platform; none is the account itself.
        #[arg(long, value_name = "ID")]
        merchant_id: Option<String>,
        /// Further parameters, percent-encoded: a=1&b=2.
        #[arg(long, default_value = "", value_name = "QUERY")]
        query: String,
    },
    /// PUT /settings: update a merchant's profile.
    UpdateSettings(Change),
}

/// The arguments of a call that changes something.
#[derive(Args)]
pub(crate) struct Change {
    /// The JSON to send; - reads it from standard input.
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
    /// For which merchant of a platform; none is the account itself.
    #[arg(long, value_name = "ID")]
    merchant_id: Option<String>,
}

pub(crate) fn run(config: &Config, call: Call) -> anyhow::Result<()> {
    let (request, changes_something) = request_of(call)?;
    match runtime()?.block_on(send(config, &request))? {
        Ok(json) => {
            println!("{json}");
            Ok(())
        }
        Err(error) => bail!(sentence(&error, changes_something)),
    }
}

/// Sends a request within the limits that the proxies on a PostgreSQL database share. With a file of SQLite the proxy keeps
/// its limits for itself, and the file is not opened.
async fn send(config: &Config, request: &RawRequest) -> anyhow::Result<Result<String, CallError>> {
    let settings = config.gateway.client.clone();
    if !is_postgres(&config.database_url) {
        let client = Client::new(settings, Arc::new(SystemClock), Arc::new(SystemRandom));
        return Ok(client.context("gateway")?.forward(request).await);
    }
    let database = database::open(config).await?;
    let client = gateway_account::client(settings, &database, Arc::new(SystemClock));
    let client = client.context("gateway")?;
    let response = client.forward(request).await;
    client.flush().await;
    database.close().await;
    Ok(response)
}

/// Returns the request, and `true` if it changes something.
fn request_of(call: Call) -> anyhow::Result<(RawRequest, bool)> {
    let request = match call {
        Call::Currencies => RawRequest::new(Endpoint::Currencies, "", None)?,
        Call::Prices => RawRequest::new(Endpoint::Prices, "", None)?,
        Call::Invoice { id, hist } => RawRequest::invoice(&InvoiceId::parse(&id)?, hist),
        Call::MerchantAccount { merchant_id, query } => {
            let request = RawRequest::new(Endpoint::MerchantAccount, &query, None)?;
            for_merchant(request, merchant_id)?
        }
        Call::AddPreferences(change) => return change.request(Endpoint::AddPreferences),
        Call::UpdatePreferences(change) => return change.request(Endpoint::UpdatePreferences),
        Call::OnboardMerchant { body } => {
            let merchant_id = None;
            return Change { body, merchant_id }.request(Endpoint::OnboardMerchant);
        }
        Call::UpdateSettings(change) => return change.request(Endpoint::UpdateSettings),
    };
    Ok((request, false))
}

impl Change {
    fn request(self, endpoint: Endpoint) -> anyhow::Result<(RawRequest, bool)> {
        let request = RawRequest::new(endpoint, "", Some(&read(&self.body)?))?;
        Ok((for_merchant(request, self.merchant_id)?, true))
    }
}

fn for_merchant(request: RawRequest, merchant: Option<String>) -> anyhow::Result<RawRequest> {
    match merchant {
        Some(id) => Ok(request.for_merchant(&id)?),
        None => Ok(request),
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    // One byte more than is passed on shows that there is more.
    let limit = u64::try_from(MAX_RAW_BODY_BYTES).unwrap_or(u64::MAX) + 1;
    let read = if file == Path::new("-") {
        std::io::stdin().take(limit).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(limit).read_to_string(&mut text))
    };
    read.with_context(|| format!("the body cannot be read from {}", file.display()))?;
    Ok(text)
}

fn sentence(error: &CallError, changes_something: bool) -> String {
    match error {
        CallError::Refused { status, error } => {
            let message = error.message.as_deref().or(error.summary.as_deref());
            let message = message.unwrap_or("it gives no reason");
            let code = error
                .code
                .as_ref()
                .map(|code| format!(" ({})", code.as_str()));
            let code = code.unwrap_or_default();
            format!("the gateway refused with status {status}: {message}{code}")
        }
        error if changes_something && !error.definitely_not_executed() => format!(
            "{error}. It may have been done all the same: look at the account before sending it again"
        ),
        error => error.to_string(),
    }
}
