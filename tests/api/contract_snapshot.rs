//! The HTTP contract as a snapshot: a change of it is seen in the review of the change that causes it.

use serde_json::Value;

/// Accept a change with `INSTA_UPDATE=always cargo test -p florin-tests --test api -- contract_snapshot`.
#[test]
fn the_contract_changes_only_together_with_its_snapshot() {
    let document = florin_proxy::openapi("https://pay.shop.example");
    insta::assert_snapshot!("contract", outline(&document));
}

/// Lists every operation with what is sent and returned, every webhook, and every schema with its members.
fn outline(document: &Value) -> String {
    let mut lines = Vec::new();
    for section in ["paths", "webhooks"] {
        for (path, item) in members(&document[section]) {
            for (method, operation) in members(item) {
                lines.push(format!("{} {path}", method.to_uppercase()));
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let (place, name) = (text(&parameter["in"]), text(&parameter["name"]));
                    let optional = optional(parameter["required"] == true);
                    let kind = kind(&parameter["schema"]);
                    lines.push(format!("  {place} {name}{optional}: {kind}"));
                }
                for (_, content) in members(&operation["requestBody"]["content"]) {
                    lines.push(format!("  body: {}", kind(&content["schema"])));
                }
                for (status, response) in members(&operation["responses"]) {
                    let content = members(&response["content"]).map(|(content_type, content)| {
                        let schema = &content["schema"];
                        let code = &schema["properties"]["error"]["properties"]["code"];
                        if code.is_null() {
                            format!("{content_type} {}", kind(schema))
                        } else {
                            kind(code)
                        }
                    });
                    let content: Vec<_> = content.collect();
                    lines.push(format!("  {status}: {}", content.join(", ")));
                }
            }
        }
    }
    for (name, schema) in members(&document["components"]["schemas"]) {
        lines.push(name.to_owned());
        list_members("  ", schema, &mut lines);
    }
    lines.join("\n")
}

fn list_members(indent: &str, schema: &Value, lines: &mut Vec<String>) {
    if schema.get("properties").is_none() {
        lines.push(format!("{indent}{}", kind(schema)));
    }
    for (name, member) in members(&schema["properties"]) {
        let required = schema["required"].as_array().into_iter().flatten();
        let optional = optional(required.into_iter().any(|known| known == name));
        if member.get("properties").is_some() {
            lines.push(format!("{indent}{name}{optional}:"));
            list_members(&format!("{indent}  "), member, lines);
        } else {
            lines.push(format!("{indent}{name}{optional}: {}", kind(member)));
        }
    }
}

fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let mut keys = ["enum", "oneOf", "anyOf"].into_iter();
    let alternatives = keys.find_map(|key| schema[key].as_array());
    if let Some(alternatives) = alternatives {
        let alternatives = alternatives.iter().map(|value| match value {
            Value::Object(_) => kind(value),
            value => value.to_string(),
        });
        return alternatives.collect::<Vec<_>>().join(" | ");
    }
    let detail = ["format", "pattern", "minimum", "maximum", "maxLength"];
    let detail = detail
        .iter()
        .filter_map(|key| Some(format!(" {key}={}", schema.get(*key)?)));
    let detail: String = detail.collect();
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) => format!("{name}{detail}"),
        Value::Array(names) => {
            let names: Vec<_> = names.iter().map(text).collect();
            format!("{}{detail}", names.join(" | "))
        }
        _ => "any".to_owned(),
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn optional(is_required: bool) -> &'static str {
    if is_required { "" } else { "?" }
}
