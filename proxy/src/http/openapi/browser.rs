//! What browsers call.

use checkout_api::{Door, ErrorCode, MarkPaid, OpenAttempt, Opened, OrderView, Quote};
use serde_json::json;

use super::information::CHECKOUT;
use super::operation::{Caller, Operation};
use super::types::Types;

pub(super) fn operations(types: &mut Types) -> Vec<Operation> {
    let open = Operation::post("/v1/checkout", "open_checkout")
        .does(
            "Open an order",
            "The page names what is bought; the price is the store's. Every call opens an order of its own.",
        )
        .by(Caller::Anyone)
        .refuses(&[ErrorCode::OriginNotAllowed, ErrorCode::Internal])
        .takes::<Door>(types, &json!({ "store": "demo", "product": "ebook", "quantity": 1 }))
        .refuses(&[
            ErrorCode::UnknownStore,
            ErrorCode::UnknownProduct,
            ErrorCode::QuantityOutOfRange,
        ])
        .answers::<Opened>(201, "The order, and the token that opens it.", types);
    let show = Operation::get("/v1/checkout", "show_checkout")
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
        .with_header(304, "ETag", "ETag");
    let quotes = Operation::get("/v1/checkout/quotes", "list_quotes")
        .does(
            "What the order costs in each asset",
            "One quote for each asset that the service offers and the order accepts; those that cannot be chosen say why.",
        )
        .by(Caller::Customer)
        .refuses(&[ErrorCode::OrderClosed, ErrorCode::ServiceUnavailable])
        .answers::<Vec<Quote>>(200, "The quotes.", types);
    let attempt = Operation::post("/v1/checkout/attempt", "open_attempt")
        .does(
            "Pay in this asset",
            "Opens an attempt at the price that was shown. The answer holds the invoice, or is `blocked` when the invoice \
             did not pass our checks.",
        )
        .by(Caller::Customer)
        .takes::<OpenAttempt>(
            types,
            &json!({ "crypto_code": "BTC", "quote_id": "conv_0123456789abcdef" }),
        )
        .refuses(&[
            ErrorCode::OrderClosed,
            ErrorCode::QuoteExpired,
            ErrorCode::AttemptInProgress,
            ErrorCode::AmountOutOfRange,
            ErrorCode::AssetUnavailable,
            ErrorCode::RateLimited,
            ErrorCode::ServiceUnavailable,
        ])
        .answers::<OrderView>(200, "The order with its invoice.", types);
    let paid = Operation::post("/v1/checkout/paid", "mark_paid")
        .does(
            "\"I have paid\"",
            "It proves nothing, and makes the proxy look at once. The service is told too, with the address for a receipt.",
        )
        .by(Caller::Customer)
        .takes::<MarkPaid>(types, &json!({ "email": "buyer@shop.example" }))
        .refuses(&[ErrorCode::NothingToPay])
        .answers::<OrderView>(200, "The order as it stands.", types);
    let watch = Operation::get("/v1/checkout/events", "watch_checkout")
        .does(
            "Watch the order",
            "Server-sent events, each named `order` with an OrderView as its data: one at once, and one at every change. \
             A comment every 15 seconds says that the stream is alive. It ends when the order is paid.",
        )
        .by(Caller::Customer)
        .refuses(&[ErrorCode::RateLimited])
        .answers_as(
            200,
            "The stream, until the order is settled.",
            "text/event-stream",
            &json!({
                "type": "string",
                "description": "Lines `event: order` and `data:` with an OrderView as JSON.",
                "x-event-data": { "order": types.written::<OrderView>() },
            }),
        );
    let all = [open, show, quotes, attempt, paid, watch];
    all.map(|operation| operation.of(CHECKOUT)).into()
}
