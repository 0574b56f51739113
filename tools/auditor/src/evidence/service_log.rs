//! What the service wrote down: the lines of `florin-sandbox --log`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use rust_decimal::Decimal;
use serde_json::Value;

use super::lines;

/// The service's side of what happened.
#[derive(Debug, Default)]
pub(crate) struct ServiceLog {
    /// Every request, first one first.
    pub(crate) calls: Vec<Call>,
    /// Every POST /invoice and POST /checkout, whatever was answered.
    pub(crate) asked: Vec<Asked>,
    /// By the service's id.
    pub(crate) invoices: BTreeMap<String, Invoice>,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) at: Timestamp,
    /// `GET /prices`
    pub(crate) what: String,
    /// The `Retry-After` of its answer.
    pub(crate) retry_after_seconds: Option<i64>,
}

/// What the service was asked for.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// POST /invoice
    Invoice {
        conversion_id: String,
        crypto_code: String,
        /// In the asset, US dollars and the local currency.
        amounts: [String; 3],
    },
    /// POST /checkout: a session on the service's own page.
    Session { currency: String, amount: String },
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invoice { crypto_code, .. } => f.write_str(crypto_code),
            Self::Session { currency, amount } => write!(f, "a session of {amount} {currency}"),
        }
    }
}

/// What customers are shown of an invoice, or of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) local_currency: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) qr_string: Option<String>,
    pub(crate) page_url: Option<String>,
}

/// An invoice, or a session: one of the same id comes of it when the customer chooses.
#[derive(Debug)]
pub(crate) struct Invoice {
    pub(crate) at: Timestamp,
    pub(crate) asked: Asked,
    pub(crate) shown: Shown,
    /// What is to be paid, in the asset; `None` until the customer of a session chooses.
    wanted: Option<Decimal>,
    /// What arrived so far, in the asset.
    pub(crate) received: Decimal,
    /// The first time that it was completed with all that it asks for.
    pub(crate) covered_at: Option<Timestamp>,
}

impl ServiceLog {
    /// # Errors
    /// A line is not one of the service's.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let mut log = Self::default();
        for (index, line) in lines(path)?.iter().enumerate() {
            let line = serde_json::from_str(line).map_err(anyhow::Error::from);
            line.and_then(|line| log.add(&line))
                .with_context(|| format!("{}, line {}", path.display(), index + 1))?;
        }
        Ok(log)
    }

    fn add(&mut self, line: &Value) -> anyhow::Result<()> {
        let at: Timestamp = text(line, "/at")?.parse()?;
        match line["kind"].as_str() {
            Some("request") => self.request(line, at),
            Some("chosen") => {
                self.invoice(line)?.wanted = Some(number(line, "/amount")?);
                Ok(())
            }
            Some("payment") => {
                let amount = number(line, "/amount")?;
                let invoice = self.invoice(line)?;
                let received = invoice.received.checked_add(amount);
                invoice.received = received.context("more than can be counted")?;
                Ok(())
            }
            Some("status") => {
                let invoice = self.invoice(line)?;
                let wanted = invoice.wanted;
                if line["to"] == "COMPLETED" && wanted.is_some_and(|it| invoice.received >= it) {
                    invoice.covered_at.get_or_insert(at);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn request(&mut self, line: &Value, at: Timestamp) -> anyhow::Result<()> {
        let (method, path) = (text(line, "/method")?, text(line, "/path")?);
        let what = format!("{method} {path}");
        let asked = match what.as_str() {
            "POST /invoice" => Some(for_an_invoice(&line["asked"])?),
            "POST /checkout" => Some(for_a_session(&line["asked"])?),
            _ => None,
        };
        if let Some(asked) = asked {
            let answer = &line["answer"];
            let made = match line["did"].as_str() {
                Some("created_invoice") => Some(invoice(answer, asked.clone(), at)?),
                Some("opened_checkout") => Some(session(answer, asked.clone(), at)?),
                _ => None,
            };
            self.invoices.extend(made);
            self.asked.push(asked);
        }
        self.calls.push(Call {
            at,
            what,
            retry_after_seconds: line["retry_after"].as_i64(),
        });
        Ok(())
    }

    fn invoice(&mut self, line: &Value) -> anyhow::Result<&mut Invoice> {
        let id = text(line, "/invoice_id")?;
        let invoice = self.invoices.get_mut(&id);
        invoice.with_context(|| format!("{id} was never made"))
    }
}

fn for_an_invoice(body: &Value) -> anyhow::Result<Asked> {
    Ok(Asked::Invoice {
        conversion_id: text(body, "/conversion_id")?,
        crypto_code: text(body, "/crypto_code")?,
        amounts: [
            text(body, "/amount_in_crypto")?,
            text(body, "/amount_in_usd")?,
            text(body, "/amount_in_local_currency")?,
        ],
    })
}

fn for_a_session(body: &Value) -> anyhow::Result<Asked> {
    Ok(Asked::Session {
        currency: text(body, "/client_preferred_fiat_currency")?,
        amount: text(body, "/amount")?,
    })
}

fn invoice(answer: &Value, asked: Asked, at: Timestamp) -> anyhow::Result<(String, Invoice)> {
    let wanted = match &asked {
        Asked::Invoice { amounts, .. } => Some(Decimal::from_str_exact(&amounts[0])?),
        Asked::Session { .. } => None,
    };
    let shown = Shown {
        local_currency: Some(text(answer, "/local_currency_code")?),
        address: Some(text(answer, "/deposit_address")?),
        qr_string: Some(text(answer, "/qr_string")?),
        page_url: None,
    };
    let invoice = Invoice::new(asked, shown, wanted, at);
    Ok((text(answer, "/invoice_id")?, invoice))
}

fn session(answer: &Value, asked: Asked, at: Timestamp) -> anyhow::Result<(String, Invoice)> {
    let shown = Shown {
        page_url: Some(text(answer, "/payment_process_url")?),
        ..Shown::default()
    };
    let session = Invoice::new(asked, shown, None, at);
    Ok((text(answer, "/session_id")?, session))
}

impl Invoice {
    fn new(asked: Asked, shown: Shown, wanted: Option<Decimal>, at: Timestamp) -> Self {
        Self {
            at,
            asked,
            shown,
            wanted,
            received: Decimal::ZERO,
            covered_at: None,
        }
    }
}

fn number(line: &Value, pointer: &str) -> anyhow::Result<Decimal> {
    Ok(Decimal::from_str_exact(&text(line, pointer)?)?)
}

fn text(line: &Value, pointer: &str) -> anyhow::Result<String> {
    let found = line.pointer(pointer).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .with_context(|| format!("no text at {pointer}"))
}
