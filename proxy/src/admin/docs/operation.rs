//! One operation on the page.

use maud::{Markup, html};
use serde_json::Value;

use crate::admin::docs::shape::{kind, whole};
use crate::admin::docs::text::{line, members, prose, text_of};

/// The operation's title: a webhook's event type, an endpoint's summary.
pub(crate) fn name(path: &str, operation: &Value, is_webhook: bool) -> Markup {
    html! {
        @if is_webhook { code { (path) } } @else { (text_of(&operation["summary"])) }
    }
}

/// The operation with its parameters, request body and responses.
pub(crate) fn article(path: &str, method: &str, operation: &Value, is_webhook: bool) -> Markup {
    html! {
        article id=(text_of(&operation["operationId"])) {
            h3 { (name(path, operation, is_webhook)) }
            p.call {
                @if is_webhook {
                    b { "Webhook" } " " (text_of(&operation["summary"]))
                } @else {
                    b { (method.to_uppercase()) } " " code { (breakable(path)) }
                }
            }
            (prose(text_of(&operation["description"])))
            (keys(operation))
            (parameters(operation))
            (body(operation))
            (responses(operation))
        }
    }
}

fn keys(operation: &Value) -> Markup {
    let schemes = operation["security"].as_array().into_iter().flatten();
    html! {
        @for (name, _) in schemes.flat_map(members) {
            p { "With a " a href={ "#key-" (name) } { code { (name) } } "." }
        }
    }
}

fn parameters(operation: &Value) -> Markup {
    let parameters: &[Value] = operation["parameters"]
        .as_array()
        .map_or(&[], Vec::as_slice);
    html! {
        @if !parameters.is_empty() {
            h4 { "Parameters" }
            .wide {
                table {
                    thead {
                        tr { th scope="col" { "Name" } th scope="col" { "Kind" } th scope="col" { "About" } }
                    }
                    tbody {
                        @for parameter in parameters { (parameter_row(parameter)) }
                    }
                }
            }
        }
    }
}

fn parameter_row(parameter: &Value) -> Markup {
    let place = match text_of(&parameter["in"]) {
        "header" => "header",
        "path" => "path",
        _ => "query",
    };
    html! {
        tr {
            th scope="row" {
                code { (text_of(&parameter["name"])) } " "
                @if parameter["required"] != true { span.maybe { "optional" } }
            }
            td { (place) ", " (kind(&parameter["schema"])) }
            td { (line(text_of(&parameter["description"]))) }
        }
    }
}

fn body(operation: &Value) -> Markup {
    html! {
        @for (content_type, content) in members(&operation["requestBody"]["content"]) {
            h4 { "Body " small { (content_type) } }
            (whole(&content["schema"]))
            @if let Some(example) = content.get("example") {
                pre { code { (serde_json::to_string_pretty(example).unwrap_or_default()) } }
            }
        }
    }
}

fn responses(operation: &Value) -> Markup {
    html! {
        h4 { "Responses" }
        .wide {
            table.responses {
                thead { tr { th scope="col" { "Status" } th scope="col" { "About" } } }
                tbody {
                    @for (status, response) in members(&operation["responses"]) {
                        tr {
                            th scope="row" { (status) }
                            td {
                                (prose(text_of(&response["description"])))
                                // All errors have one shape, which the introduction describes.
                                @if !status.starts_with(['4', '5']) { (contents(response)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn contents(response: &Value) -> Markup {
    html! {
        @for (content_type, content) in members(&response["content"]) {
            p.kind { (kind(&content["schema"])) " " small { (content_type) } }
        }
    }
}

/// A path that may be broken after each slash.
fn breakable(path: &str) -> Markup {
    html! {
        @for (number, part) in path.split('/').enumerate() {
            @if number > 0 { "/" wbr; }
            (part)
        }
    }
}
