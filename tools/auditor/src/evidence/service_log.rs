//! What the service wrote down: the lines of `florin-sandbox --log`.

use std::collections::BTreeMap;
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
    /// Every POST /invoice, whatever was answered.
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

/// What an invoice was asked for with.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) conversion_id: String,
    pub(crate) crypto_code: String,
    /// In the asset, US dollars and the local currency.
    pub(crate) amounts: [String; 3],
}

#[derive(Debug)]
pub(crate) struct Invoice {
    pub(crate) at: Timestamp,
    pub(crate) asked: Asked,
    pub(crate) local_currency: String,
    pub(crate) address: String,
    pub(crate) qr_string: String,
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
            Some("payment") => {
                let amount = Decimal::from_str_exact(&text(line, "/amount")?)?;
                let invoice = self.invoice(line)?;
                let received = invoice.received.checked_add(amount);
                invoice.received = received.context("more than can be counted")?;
                Ok(())
            }
            Some("status") => {
                let invoice = self.invoice(line)?;
                let asked = Decimal::from_str_exact(&invoice.asked.amounts[0])?;
                if line["to"] == "COMPLETED" && invoice.received >= asked {
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
        if what == "POST /invoice" {
            let asked = asked(&line["asked"])?;
            if line["did"] == "created_invoice" {
                let (id, invoice) = made(&line["answer"], asked.clone(), at)?;
                self.invoices.insert(id, invoice);
            }
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

fn asked(body: &Value) -> anyhow::Result<Asked> {
    Ok(Asked {
        conversion_id: text(body, "/conversion_id")?,
        crypto_code: text(body, "/crypto_code")?,
        amounts: [
            text(body, "/amount_in_crypto")?,
            text(body, "/amount_in_usd")?,
            text(body, "/amount_in_local_currency")?,
        ],
    })
}

fn made(answer: &Value, asked: Asked, at: Timestamp) -> anyhow::Result<(String, Invoice)> {
    let invoice = Invoice {
        at,
        asked,
        local_currency: text(answer, "/local_currency_code")?,
        address: text(answer, "/deposit_address")?,
        qr_string: text(answer, "/qr_string")?,
        received: Decimal::ZERO,
        covered_at: None,
    };
    Ok((text(answer, "/invoice_id")?, invoice))
}

fn text(line: &Value, pointer: &str) -> anyhow::Result<String> {
    let found = line.pointer(pointer).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .with_context(|| format!("no text at {pointer}"))
}
