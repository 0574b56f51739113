//! `florin-proxy service …`: one call of the payment service, signed with the configuration's key, its JSON printed as
//! it came.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use florin_gateway::{
    CallError, Client, Endpoint, InvoiceId, MAX_RAW_BODY_BYTES, PaymentGateway as _, RawRequest,
};
use florin_proxy::clock::{SystemClock, SystemRandom};
use florin_proxy::config::Config;

/// What to ask.
#[derive(Subcommand)]
pub(crate) enum Ask {
    /// GET /currencies: what the service supports.
    Currencies,
    /// GET /prices: rates, limits and conversion ids.
    Prices,
    /// GET /invoice: the state of an invoice or a hosted session.
    Invoice {
        /// Its id at the service.
        id: String,
        /// With its transaction history.
        #[arg(long)]
        hist: bool,
    },
    /// POST /preferences: add a settlement wallet.
    AddPreferences(Tell),
    /// PUT /preferences: update a settlement wallet.
    UpdatePreferences(Tell),
    /// POST /aggregator/merchants: onboard a merchant of a platform.
    OnboardMerchant {
        #[command(flatten)]
        body: Body,
    },
    /// GET /merchant/account: where KYC documents are stored.
    MerchantAccount {
        #[command(flatten)]
        merchant: AuthenticatedStore,
        /// Further parameters, percent-encoded: a=1&b=2.
        #[arg(long, default_value = "", value_name = "QUERY")]
        query: String,
    },
    /// PUT /settings: update a merchant's profile.
    UpdateSettings(Tell),
}

/// What changes something.
#[derive(Args)]
pub(crate) struct Tell {
    #[command(flatten)]
    body: Body,
    #[command(flatten)]
    merchant: AuthenticatedStore,
}

#[derive(Args)]
pub(crate) struct Body {
    /// The JSON to send; - reads it from standard input.
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
}

#[derive(Args)]
pub(crate) struct AuthenticatedStore {
    /// For which merchant of a platform; none is the account itself.
    #[arg(long, value_name = "ID")]
    merchant_id: Option<String>,
}

/// Asks, and prints the answer.
///
/// # Errors
/// A sentence for the operator.
pub(crate) fn ask(config: &Config, ask: Ask) -> anyhow::Result<()> {
    let (passage, changes_something) = passage(ask)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let settings = config.service.client_settings();
    let client = Client::new(settings, Arc::new(SystemClock), Arc::new(SystemRandom));
    let client = client.context("service")?;
    match runtime.block_on(client.forward(&passage)) {
        Ok(json) => {
            println!("{json}");
            Ok(())
        }
        Err(error) => bail!(sentence(&error, changes_something)),
    }
}

/// The call, and whether it changes something.
fn passage(ask: Ask) -> anyhow::Result<(RawRequest, bool)> {
    let tell =
        |endpoint, Tell { body, merchant }: Tell| tell(endpoint, &body, merchant.merchant_id);
    let passage = match ask {
        Ask::Currencies => RawRequest::new(Endpoint::Currencies, "", None)?,
        Ask::Prices => RawRequest::new(Endpoint::Prices, "", None)?,
        Ask::Invoice { id, hist } => RawRequest::invoice(&InvoiceId::parse(&id)?, hist),
        Ask::MerchantAccount { merchant, query } => {
            let passage = RawRequest::new(Endpoint::MerchantAccount, &query, None)?;
            for_merchant(passage, merchant.merchant_id)?
        }
        Ask::AddPreferences(told) => return tell(Endpoint::AddPreferences, told),
        Ask::UpdatePreferences(told) => return tell(Endpoint::UpdatePreferences, told),
        Ask::OnboardMerchant { body } => {
            return self::tell(Endpoint::OnboardMerchant, &body, None);
        }
        Ask::UpdateSettings(told) => return tell(Endpoint::UpdateSettings, told),
    };
    Ok((passage, false))
}

fn tell(
    endpoint: Endpoint,
    body: &Body,
    merchant: Option<String>,
) -> anyhow::Result<(RawRequest, bool)> {
    let passage = RawRequest::new(endpoint, "", Some(&read(&body.body)?))?;
    Ok((for_merchant(passage, merchant)?, true))
}

fn for_merchant(passage: RawRequest, merchant: Option<String>) -> anyhow::Result<RawRequest> {
    match merchant {
        Some(id) => Ok(passage.for_merchant(&id)?),
        None => Ok(passage),
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
            let said = error.message.as_deref().or(error.summary.as_deref());
            let said = said.unwrap_or("it gives no reason");
            let code = error
                .code
                .as_ref()
                .map(|code| format!(" ({})", code.as_str()));
            let code = code.unwrap_or_default();
            format!("the payment service refused with status {status}: {said}{code}")
        }
        error if changes_something && !error.definitely_not_executed() => format!(
            "{error}. It may have been done all the same: look at the account before sending it again"
        ),
        error => error.to_string(),
    }
}
