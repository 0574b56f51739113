//! The words of an order's record as JSON Schema, for documents about HTTP.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::{Flow, OrderStatus, PriceSource, Standing};

/// Where an order stands.
pub(crate) fn status(_: &mut SchemaGenerator) -> Schema {
    words(&OrderStatus::ALL)
}

/// Who named the price.
pub(crate) fn price_source(_: &mut SchemaGenerator) -> Schema {
    words(&PriceSource::ALL)
}

/// Who shows the customer how to pay.
pub(crate) fn flow(_: &mut SchemaGenerator) -> Schema {
    words(&Flow::ALL)
}

/// What the service says of an invoice.
pub(crate) fn says(_: &mut SchemaGenerator) -> Schema {
    words(&Standing::ALL)
}

fn words<T>(table: &[(T, &'static str)]) -> Schema {
    let words: Vec<&str> = table.iter().map(|(_, word)| *word).collect();
    json_schema!({ "type": "string", "enum": words })
}
