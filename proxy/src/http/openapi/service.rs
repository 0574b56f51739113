//! What the payment service calls.

use checkout_api::ErrorCode;
use serde_json::json;

use super::information::SERVICE;
use super::operation::Operation;
use super::types::Types;

pub(super) fn operations(_: &mut Types) -> Vec<Operation> {
    let shape = json!({
        "type": "object",
        "required": ["invoice_id"],
        "additionalProperties": true,
        "properties": { "invoice_id": { "type": "string", "description": "The invoice that something happened to." } },
    });
    let callback = Operation::post("/callbacks/{token}", "receive_callback")
        .does(
            "A hint that an invoice changed",
            "It is unsigned, so nothing in it is believed: the proxy asks the service. Known and unknown invoices get the \
             same answer. Any content type is read as JSON.",
        )
        .path("token", "The `callback_token` of the configuration.", &json!({ "type": "string", "minLength": 1 }))
        .takes_json(&shape, &json!({ "invoice_id": "inv_1", "status": "COMPLETED" }))
        .refuses(&[ErrorCode::NotFound, ErrorCode::Internal])
        .answers_empty(200, "Heard. The body is empty.");
    vec![callback.of(SERVICE)]
}
