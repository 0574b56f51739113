//! POST /confirm

use serde_json::{Value, json};

use super::body::Members;
use super::{Call, Refusal};
use crate::Settings;
use crate::invoices::Invoices;

/// Notes that the customer says they have paid. It moves no status.
pub(super) fn answer(
    settings: &Settings,
    invoices: &mut Invoices,
    call: &Call,
) -> Result<Value, Refusal> {
    let members = Members::of(call)?;
    if !members.flag("marked_as_paid")? {
        return Err(Refusal::request("marked_as_paid must be true"));
    }
    let id = members.text("invoice_id")?;
    let email = members.maybe_text("email_address")?;
    let invoice = invoices
        .find_mut(id)
        .ok_or_else(|| Refusal::unknown_invoice(id))?;
    invoice.marked_as_paid = true;
    if let Some(email) = email {
        invoice.email = Some(email.to_owned());
    }
    let hosted = invoice.hosted.as_ref();
    let website = hosted.map_or(&settings.merchant_website, |hosted| &hosted.website);
    Ok(json!({
        "message": "OK",
        "merchant_website_redirect_url": website,
    }))
}
