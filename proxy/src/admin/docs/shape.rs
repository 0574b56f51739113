//! Shapes as tables of their members.

use maud::{Markup, html};
use serde_json::Value;

use crate::admin::docs::text::{joined, line, members, prose, text_of};

/// Lists longer than this are named by their length.
const MAX_LISTED: usize = 16;

/// A shape of the document's list.
pub(crate) fn section(name: &str, shape: &Value) -> Markup {
    html! {
        section.shape id={ "shape-" (name) } {
            h3 { (name) }
            (prose(text_of(&shape["description"])))
            (whole(shape))
        }
    }
}

/// A shape with all its parts: the table of its members, the list of its values, or its kind.
pub(crate) fn whole(shape: &Value) -> Markup {
    if shape.get("properties").is_some() {
        return table(shape);
    }
    let Some(choices) = shape["oneOf"].as_array().filter(|list| !list.is_empty()) else {
        return html! { p.kind { (kind(shape)) (bounds(shape)) } };
    };
    html! {
        dl {
            @for choice in choices {
                @if let Some(value) = choice.get("const") {
                    dt { code { (text_of(value)) } }
                    dd { (line(text_of(&choice["description"]))) }
                } @else {
                    dt { "or" }
                    dd { (whole(choice)) }
                }
            }
        }
    }
}

fn table(shape: &Value) -> Markup {
    html! {
        .wide {
            table {
                thead {
                    tr { th scope="col" { "Member" } th scope="col" { "Kind" } th scope="col" { "About" } }
                }
                tbody { (rows(shape, "")) }
            }
        }
    }
}

/// The members of an object and of the objects in it, each by its full name.
fn rows(shape: &Value, prefix: &str) -> Markup {
    let is_required = |name: &str| {
        let names = shape["required"].as_array();
        names.is_some_and(|names| names.iter().any(|known| known == name))
    };
    html! {
        @for (name, member) in members(&shape["properties"]) {
            tr {
                th scope="row" {
                    code { (prefix) (name) } " "
                    @if !is_required(name) { span.maybe { "optional" } }
                }
                td { (kind(member)) }
                td { (line(text_of(&member["description"]))) (bounds(member)) }
            }
            @if member.get("properties").is_some() {
                (rows(member, &format!("{prefix}{name}.")))
            } @else if member["items"].get("properties").is_some() {
                (rows(&member["items"], &format!("{prefix}{name}[].")))
            }
        }
    }
}

/// The kind of a value: its type, its values, or a link to its shape.
pub(crate) fn kind(shape: &Value) -> Markup {
    if let Some(reference) = shape["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        return html! { a href={ "#shape-" (name) } { (name) } };
    }
    if let Some(value) = shape.get("const") {
        return html! { code { (value.to_string()) } };
    }
    if let Some(list) = shape["enum"].as_array() {
        return values(list);
    }
    if let Some(choices) = shape["anyOf"].as_array() {
        return joined(choices.iter().map(kind), " or ");
    }
    match &shape["type"] {
        Value::String(name) if name == "array" => html! { "list of " (kind(&shape["items"])) },
        Value::String(name) => html! { (name) },
        Value::Array(kinds) => joined(kinds.iter().map(|kind| html! { (text_of(kind)) }), " or "),
        _ => html! { "anything" },
    }
}

fn values(list: &[Value]) -> Markup {
    if list.len() > MAX_LISTED {
        return html! { "one of " (list.len()) " words" };
    }
    joined(
        list.iter().map(|value| html! { code { (text_of(value)) } }),
        " ",
    )
}

/// The limits of a value.
fn bounds(shape: &Value) -> Markup {
    let mut limits = Vec::new();
    match (shape.get("minimum"), shape.get("maximum")) {
        (Some(min), Some(max)) if *max != u64::from(u32::MAX) => {
            limits.push(html! { (min.to_string()) " to " (max.to_string()) });
        }
        (Some(min), _) => limits.push(html! { (min.to_string()) " or more" }),
        _ => {}
    }
    if let Some(max) = shape.get("maxLength") {
        limits.push(html! { "at most " (max.to_string()) " characters" });
    }
    if let Some(format) = shape["format"].as_str() {
        limits.push(html! { (format) });
    }
    if let Some(pattern) = shape["pattern"].as_str() {
        limits.push(html! { code { (pattern) } });
    }
    html! {
        @if !limits.is_empty() { " " span.bounds { (joined(limits, " · ")) } }
    }
}
