//! What the payment service calls, and what is passed on to it.

use checkout_api::ErrorCode;
use serde_json::{Value, json};

use super::information::SERVICE;
use super::operation::{Caller, Operation};
use super::types::Types;
use crate::http::store_api::gateway::InvoiceQuery;

pub(super) fn operations(types: &mut Types) -> Vec<Operation> {
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
    let all = [
        callback,
        currencies(),
        invoice(types),
        add_preferences(),
        update_preferences(),
        onboard_merchant(),
        merchant_account(),
        update_settings(),
    ];
    all.map(|operation| operation.of(SERVICE)).into()
}

fn currencies() -> Operation {
    let operation = Operation::get("/v1/service/currencies", "list_currencies");
    let operation = operation.does(
        "What the service supports",
        "GET /currencies of the service. Any query is passed on.",
    );
    passed(operation).refuses(&[ErrorCode::InvalidRequest])
}

fn invoice(types: &mut Types) -> Operation {
    let operation = Operation::get("/v1/service/invoice", "show_invoice");
    let operation = operation.does(
        "What the service says of an invoice",
        "GET /invoice of the service, of an invoice of one of the store's own orders. It changes nothing here.",
    );
    passed(operation.query::<InvoiceQuery>(types)).refuses(&[ErrorCode::NotFound])
}

fn add_preferences() -> Operation {
    let operation = Operation::post("/v1/service/preferences", "add_preferences");
    let operation = operation.does(
        "Add a settlement wallet",
        "POST /preferences of the service.",
    );
    changing(operation).takes_key(1)
}

fn update_preferences() -> Operation {
    let operation = Operation::put("/v1/service/preferences", "update_preferences");
    let operation = operation.does(
        "Update a settlement wallet",
        "PUT /preferences of the service.",
    );
    changing(operation)
}

fn onboard_merchant() -> Operation {
    let operation = Operation::post("/v1/service/aggregator/merchants", "onboard_merchant");
    let operation = operation.does(
        "Onboard a merchant of a platform",
        "POST /aggregator/merchants of the service. A store with a `merchant_id` may not.",
    );
    changing(operation).takes_key(1)
}

fn merchant_account() -> Operation {
    let operation = Operation::get("/v1/service/merchant/account", "show_merchant_account");
    let operation = operation.does(
        "Where KYC documents are stored",
        "GET /merchant/account of the service. Any query is passed on.",
    );
    passed(operation).refuses(&[ErrorCode::InvalidRequest, ErrorCode::ServiceAccessDenied])
}

fn update_settings() -> Operation {
    let operation = Operation::put("/v1/service/settings", "update_settings");
    let operation = operation.does(
        "Update a merchant's profile",
        "PUT /settings of the service.",
    );
    changing(operation)
}

/// What changes the account is for stores with `service_access` alone.
fn changing(operation: Operation) -> Operation {
    let anything =
        json!({ "description": "The service's own shape.", "additionalProperties": true });
    passed(operation.takes_json(&anything, &json!({}))).refuses(&[ErrorCode::ServiceAccessDenied])
}

/// What the service answers is passed on as it came.
fn passed(operation: Operation) -> Operation {
    let anything: Value = json!({ "description": "As the service wrote it." });
    operation
        .by(Caller::Store)
        .refuses(&[
            ErrorCode::ServiceRefused,
            ErrorCode::ServiceFailed,
            ErrorCode::ServiceUnavailable,
        ])
        .answers_as(
            200,
            "What the service answered.",
            "application/json",
            &anything,
        )
}
