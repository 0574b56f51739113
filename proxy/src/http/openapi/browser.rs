//! What browsers call.

use checkout_api::{
    DonationView, Door, ErrorCode, KeepEmail, MarkPaid, OpenAttempt, Opened, OrderView, Quote,
    SignedReceipt,
};
use serde_json::json;

use super::information::CHECKOUT;
use super::operation::{Caller, Operation};
use super::types::Types;
use crate::http::checkout::orders::DonationQuery;

pub(super) fn operations(types: &mut Types) -> Vec<Operation> {
    let all = [
        open(types),
        donation(types),
        show(types),
        quotes(types),
        attempt(types),
        session(types),
        email(types),
        paid(types),
        watch(types),
        receipt(types),
    ];
    all.map(|operation| operation.of(CHECKOUT)).into()
}

fn open(types: &mut Types) -> Operation {
    Operation::post("/v1/checkout", "open_checkout")
        .does(
            "Open an order",
            "By exactly one door: a product of the catalogue, a declared donation, or a token that the store's server \
             signed. Only a donation's amount is the customer's, within its bounds. A product or a donation is an order \
             of its own at every call; a token is the order of its reference, however often it is used.",
        )
        .by(Caller::Anyone)
        .refuses(&[ErrorCode::OriginNotAllowed, ErrorCode::Internal])
        .takes_key(16)
        .takes::<Door>(types, &json!({ "store": "demo", "product": "ebook", "quantity": 1 }))
        .refuses(&[
            ErrorCode::InvalidOrderToken,
            ErrorCode::UnknownStore,
            ErrorCode::UnknownProduct,
            ErrorCode::UnknownDonation,
            ErrorCode::OrderConflict,
            ErrorCode::QuantityOutOfRange,
            ErrorCode::DonationOutOfRange,
            ErrorCode::RateLimited,
        ])
        .answers::<Opened>(201, "The order, and the token that opens it.", types)
        .answers::<Opened>(
            200,
            "The order that the token's reference already names, or one that a crash kept from being answered, with a \
             fresh client token.",
            types,
        )
}

fn donation(types: &mut Types) -> Operation {
    Operation::get("/v1/checkout/donation", "show_donation")
        .does(
            "Describe a donation",
            "What a page needs to ask its customer for an amount: what it is for, its bounds, and amounts to offer.",
        )
        .by(Caller::Anyone)
        .query::<DonationQuery>(types)
        .refuses(&[
            ErrorCode::OriginNotAllowed,
            ErrorCode::UnknownStore,
            ErrorCode::UnknownDonation,
        ])
        .answers::<DonationView>(200, "The donation.", types)
}

fn show(types: &mut Types) -> Operation {
    Operation::get("/v1/checkout", "show_checkout")
        .does("See the order", "All that a checkout shows of it.")
        .by(Caller::Customer)
        .header(
            "If-None-Match",
            "The `ETag` of the answer that the page holds.",
            &json!({ "type": "string" }),
        )
        .answers::<OrderView>(200, "The order as it stands.", types)
        .with_header(200, "ETag", "ETag")
        .answers_empty(304, "Nothing changed since that answer.")
        .with_header(304, "ETag", "ETag")
}

fn quotes(types: &mut Types) -> Operation {
    Operation::get("/v1/checkout/quotes", "list_quotes")
        .does(
            "What the order costs in each asset",
            "One quote for each asset that the service offers and the order accepts; those that cannot be chosen say why.",
        )
        .by(Caller::Customer)
        .refuses(&[ErrorCode::OrderClosed, ErrorCode::ServiceUnavailable])
        .answers::<Vec<Quote>>(200, "The quotes.", types)
        .leads_to_sending(
            200,
            "open_attempt",
            &json!({
                "crypto_code": "$response.body#/0/crypto_code",
                "quote_id": "$response.body#/0/quote_id",
            }),
        )
}

fn attempt(types: &mut Types) -> Operation {
    Operation::post("/v1/checkout/attempt", "open_attempt")
        .does(
            "Pay in this asset",
            "Opens an attempt at the price that was shown. The answer holds the invoice, or is `blocked` when the invoice \
             did not pass our checks.",
        )
        .by(Caller::Customer)
        .takes_key(1)
        .takes::<OpenAttempt>(
            types,
            &json!({ "crypto_code": "BTC", "quote_id": "conv_0123456789abcdef" }),
        )
        .refuses(&[
            ErrorCode::OtherFlow,
            ErrorCode::OrderClosed,
            ErrorCode::QuoteExpired,
            ErrorCode::AttemptInProgress,
            ErrorCode::AmountOutOfRange,
            ErrorCode::AssetUnavailable,
            ErrorCode::RateLimited,
            ErrorCode::ServiceUnavailable,
        ])
        .answers::<OrderView>(200, "The order with its invoice.", types)
}

fn session(types: &mut Types) -> Operation {
    Operation::post("/v1/checkout/session", "open_session")
        .does(
            "Go to the service's page",
            "For a hosted order: the page of the live session, or of a new one after the last ended.",
        )
        .by(Caller::Customer)
        .takes_key(1)
        .refuses(&[
            ErrorCode::InvalidRequest,
            ErrorCode::OtherFlow,
            ErrorCode::OrderClosed,
            ErrorCode::AttemptInProgress,
            ErrorCode::AmountOutOfRange,
            ErrorCode::ServiceRefused,
            ErrorCode::RateLimited,
            ErrorCode::ServiceUnavailable,
        ])
        .answers::<OrderView>(200, "The order with the address of its page.", types)
}

fn email(types: &mut Types) -> Operation {
    Operation::post("/v1/checkout/email", "keep_email")
        .does(
            "Keep the address for the receipt",
            "It replaces one that was kept before, and an empty one removes it. It goes to the service with \"I have paid\", or when \
             the payment is found. A paid order takes one address. The order shows only that there is one.",
        )
        .by(Caller::Customer)
        .takes_key(1)
        .takes::<KeepEmail>(types, &json!({ "email": "buyer@shop.example" }))
        .refuses(&[ErrorCode::OtherFlow, ErrorCode::OrderClosed])
        .answers::<OrderView>(200, "The order as it stands.", types)
}

fn paid(types: &mut Types) -> Operation {
    Operation::post("/v1/checkout/paid", "mark_paid")
        .does(
            "\"I have paid\"",
            "It proves nothing, and makes the proxy look at once. The service is told too, with the address for a receipt: \
             the one that is given, else the one that is kept.",
        )
        .by(Caller::Customer)
        .takes_key(1)
        .takes::<MarkPaid>(types, &json!({ "email": "buyer@shop.example" }))
        .refuses(&[ErrorCode::NothingToPay, ErrorCode::OtherFlow])
        .answers::<OrderView>(200, "The order as it stands.", types)
}

fn watch(types: &mut Types) -> Operation {
    Operation::get("/v1/checkout/events", "watch_checkout")
        .does(
            "Watch the order",
            "Server-sent events, each named `order` with an OrderView as its data: one at once, and one at every change. \
             A comment every 15 seconds says that the stream is alive. It ends an hour after the order was paid.",
        )
        .by(Caller::Customer)
        .refuses(&[ErrorCode::RateLimited])
        .answers_as(
            200,
            "The stream, until an hour after the order was paid.",
            "text/event-stream",
            &json!({
                "type": "object",
                "description": "One event.",
                "required": ["event", "data"],
                "properties": {
                    "event": { "const": "order" },
                    "data": {
                        "type": "string",
                        "description": "An OrderView.",
                        "contentMediaType": "application/json",
                        "contentSchema": types.written::<OrderView>(),
                    },
                    "retry": {
                        "type": "integer",
                        "description": "Milliseconds to wait before coming back to a stream that ended.",
                    },
                },
            }),
        )
}

fn receipt(types: &mut Types) -> Operation {
    Operation::get("/v1/checkout/receipt", "show_receipt")
        .does(
            "The receipt",
            "What was paid, in two forms that the store can tell from forged ones: a JSON Web Token, and a code for print.",
        )
        .by(Caller::Customer)
        .refuses(&[ErrorCode::NotPaid])
        .answers::<SignedReceipt>(200, "The receipt.", types)
}
