//! The shapes of amounts, currencies and codes as JSON Schema, for documents about HTTP.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Amount, AmountText, CryptoCode, Currency};

/// The grammar of [`AmountText`]; its limit of 28 digits is the schema's greatest length.
const AMOUNT: &str = r"^(0|[1-9][0-9]{0,11})(\.[0-9]{1,18})?$";

impl JsonSchema for AmountText {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Money: a decimal number as a string, never a JSON number. No sign, exponent, blank or \
                            grouping; at most 28 digits.",
            "pattern": AMOUNT,
            "maxLength": 29,
            "examples": ["19.90"],
        })
    }
}

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        AmountText::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        AmountText::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        AmountText::json_schema(generator)
    }
}

impl JsonSchema for Currency {
    fn schema_name() -> Cow<'static, str> {
        "Currency".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<&str> = Self::codes().collect();
        json_schema!({
            "type": "string",
            "description": "An ISO 4217 code in capitals.",
            "enum": codes,
            "examples": ["EUR"],
        })
    }
}

impl JsonSchema for CryptoCode {
    fn schema_name() -> Cow<'static, str> {
        "CryptoCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "The gateway's name for an asset on a network.",
            "pattern": "^[A-Za-z0-9_-]{1,24}$",
            "examples": ["USDTTRC20"],
        })
    }
}
