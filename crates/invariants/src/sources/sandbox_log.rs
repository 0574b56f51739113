//! The gateway's record: the lines of `florin-sandbox --log`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::{lines, text, time};
use crate::Millis;
use crate::amount::units;
use crate::gateway::{Gateway, Invoice, Part, Pause, Report, Request, Requested, Shown};

/// Requests that were sent before the response with the pause arrived, on a machine with other work to do.
const IN_FLIGHT: Millis = 1000;
/// The same where proxies share the pause: it is stored, and a permit that another one got before is used within two seconds.
const SHARED_WITHIN: Millis = 4500;
/// A longer `Retry-After` is not kept whole: the proxy tries one call each five minutes.
const LONGEST_PAUSE_SECONDS: i64 = 300;

/// What the lines of the log say so far.
#[derive(Debug, Default)]
pub struct SandboxLog {
    pub gateway: Gateway,
    pub(super) ended_at: Millis,
    /// Index of each request with `Retry-After`, and its seconds.
    paused: Vec<(usize, i64)>,
    /// What each invoice asks for in the asset; missing until the customer of a session chooses.
    wanted: BTreeMap<String, i128>,
    transactions: BTreeMap<String, i128>,
}

impl SandboxLog {
    pub(super) fn read(path: &Path, is_shared: bool) -> anyhow::Result<Self> {
        let mut log = Self::default();
        lines(path, |line| log.add(line))?;
        log.find_pauses(if is_shared { SHARED_WITHIN } else { IN_FLIGHT });
        Ok(log)
    }

    fn add(&mut self, line: &Value) -> anyhow::Result<()> {
        let at = time(line)?;
        self.ended_at = at;
        match line["kind"].as_str() {
            Some("request") => self.request(line, at)?,
            Some("chosen") => {
                let wanted = amount(line, "/amount")?;
                self.wanted.insert(text(line, "/invoice_id")?, wanted);
            }
            Some("payment") => {
                let amount = amount(line, "/amount")?;
                self.transactions
                    .insert(text(line, "/transaction_hash")?, amount);
                self.invoice(line)?.received += amount;
            }
            Some("replaced") => {
                let amount = self.transactions.remove(&text(line, "/transaction_hash")?);
                self.invoice(line)?.received -=
                    amount.context("a transaction that was not seen")?;
            }
            Some("status") => {
                let requested = self.wanted.get(&text(line, "/invoice_id")?).copied();
                let status = text(line, "/to")?;
                let invoice = self.invoice(line)?;
                let received = invoice.received;
                let part = requested.map(|requested| Part {
                    requested,
                    received,
                });
                let parts = part.into_iter().collect();
                invoice.reports.push(Report { at, status, parts });
            }
            _ => {}
        }
        Ok(())
    }

    fn request(&mut self, line: &Value, at: Millis) -> anyhow::Result<()> {
        let endpoint = format!("{} {}", text(line, "/method")?, text(line, "/path")?);
        let requested = match endpoint.as_str() {
            "POST /invoice" => Some(requested_invoice(&line["asked"])?),
            "POST /checkout" => Some(requested_session(&line["asked"])?),
            _ => None,
        };
        if let Some(requested) = requested {
            let response = &line["response"];
            match line["did"].as_str() {
                Some("create_invoice") => {
                    let id = text(response, "/invoice_id")?;
                    if let Requested::Invoice {
                        amounts: [Some(crypto), ..],
                        ..
                    } = requested
                    {
                        self.wanted.insert(id.clone(), crypto);
                    }
                    let invoice = created(requested.clone(), shown_invoice(response)?, at);
                    self.gateway.invoices.insert(id, invoice);
                }
                Some("checkout") => {
                    let shown = Shown {
                        page_url: Some(text(response, "/payment_process_url")?),
                        ..Shown::default()
                    };
                    let id = text(response, "/session_id")?;
                    let session = created(requested.clone(), shown, at);
                    self.gateway.invoices.insert(id, session);
                }
                _ => {}
            }
            // With a nonce of another time it was refused before anything was done; the proxy signs it anew.
            if line["status"] != 401 {
                self.gateway.requested.push(requested);
            }
        }
        let pause = line["retry_after"].as_i64();
        if let Some(seconds) = pause.filter(|seconds| *seconds <= LONGEST_PAUSE_SECONDS) {
            self.paused.push((self.gateway.requests.len(), seconds));
        }
        // A killed proxy forgets the pauses that it did not store: the campaign requests none shortly before a kill.
        self.gateway.requests.push(Request {
            at,
            process: 0,
            endpoint: endpoint.into(),
        });
        Ok(())
    }

    fn find_pauses(&mut self, known_within: Millis) {
        let requests = &self.gateway.requests;
        for (index, seconds) in &self.paused {
            let at = requests[*index].at;
            let is_in_flight = |request: &&Request| request.at <= at + known_within;
            let in_flight = requests[index + 1..]
                .iter()
                .take_while(is_in_flight)
                .count();
            self.gateway.pauses.push(Pause {
                process: 0,
                known_after: index + 1 + in_flight,
                until: at + seconds * 1000,
            });
        }
    }

    fn invoice(&mut self, line: &Value) -> anyhow::Result<&mut Invoice> {
        let id = text(line, "/invoice_id")?;
        let invoice = self.gateway.invoices.get_mut(&id);
        invoice.with_context(|| format!("{id} was never created"))
    }
}

fn requested_invoice(body: &Value) -> anyhow::Result<Requested> {
    let amount = |pointer: &str| Ok::<_, anyhow::Error>(units(&text(body, pointer)?));
    Ok(Requested::Invoice {
        conversion_id: text(body, "/conversion_id")?,
        crypto_code: text(body, "/crypto_code")?,
        amounts: [
            amount("/amount_in_crypto")?,
            amount("/amount_in_usd")?,
            amount("/amount_in_local_currency")?,
        ],
    })
}

fn requested_session(body: &Value) -> anyhow::Result<Requested> {
    Ok(Requested::Session {
        email: text(body, "/client_email_id")?,
        currency: text(body, "/client_preferred_fiat_currency")?,
        amount: units(&text(body, "/amount")?),
    })
}

fn shown_invoice(response: &Value) -> anyhow::Result<Shown> {
    Ok(Shown {
        local_currency: Some(text(response, "/local_currency_code")?),
        address: Some(text(response, "/deposit_address")?),
        qr_string: Some(text(response, "/qr_string")?),
        page_url: None,
    })
}

fn created(requested: Requested, shown: Shown, at: Millis) -> Invoice {
    Invoice {
        created_at: at,
        requested,
        shown,
        reports: Vec::new(),
        received: 0,
        is_tainted: false,
        expires_at: None,
        is_contradicted: false,
        // The log leaves out the long list of prices.
        rate: None,
    }
}

fn amount(line: &Value, pointer: &str) -> anyhow::Result<i128> {
    let text = text(line, pointer)?;
    units(&text).with_context(|| format!("{text:?} at {pointer} is no amount"))
}
