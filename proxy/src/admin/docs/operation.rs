//! One operation on the page.

use serde_json::Value;

use crate::admin::docs::shape::{kind, whole};
use crate::admin::docs::text::{escaped, line, members, prose, words};

/// What people call it: a webhook by its type of event, anything else by what it does.
pub(crate) fn name(path: &str, operation: &Value, is_webhook: bool) -> String {
    if is_webhook {
        return format!("<code>{}</code>", escaped(path));
    }
    escaped(words(&operation["summary"]))
}

/// What is sent, and what comes back.
pub(crate) fn article(path: &str, method: &str, operation: &Value, is_webhook: bool) -> String {
    let id = escaped(words(&operation["operationId"]));
    let name = name(path, operation, is_webhook);
    let about = prose(words(&operation["description"]));
    let line = if is_webhook {
        let summary = escaped(words(&operation["summary"]));
        format!("<p class=\"call\"><b>Webhook</b> {summary}</p>")
    } else {
        let (method, path) = (method.to_uppercase(), breakable(path));
        format!("<p class=\"call\"><b>{method}</b> <code>{path}</code></p>")
    };
    let (keys, parameters) = (keys(operation), parameters(operation));
    let (body, answers) = (body(operation), answers(operation));
    format!(
        "<article id=\"{id}\">\n<h3>{name}</h3>\n{line}\n{about}{keys}{parameters}{body}{answers}</article>\n"
    )
}

fn keys(operation: &Value) -> String {
    let keys = operation["security"].as_array().into_iter().flatten();
    let keys = keys.flat_map(members).map(|(name, _)| {
        let name = escaped(name);
        format!("<p>With a <a href=\"#key-{name}\"><code>{name}</code></a>.</p>")
    });
    keys.collect()
}

fn parameters(operation: &Value) -> String {
    let rows = operation["parameters"].as_array().into_iter().flatten();
    let rows: String = rows.map(parameter).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<h4>Parameters</h4><div class=\"wide\"><table><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Kind</th>\
         <th scope=\"col\">About</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn parameter(parameter: &Value) -> String {
    let place = match words(&parameter["in"]) {
        "header" => "header",
        "path" => "path",
        _ => "query",
    };
    let optional = match parameter["required"] {
        Value::Bool(true) => "",
        _ => "<span class=\"maybe\">optional</span>",
    };
    let name = escaped(words(&parameter["name"]));
    let kind = kind(&parameter["schema"]);
    let about = line(words(&parameter["description"]));
    format!(
        "<tr><th scope=\"row\"><code>{name}</code> {optional}</th><td>{place}, {kind}</td><td>{about}</td></tr>"
    )
}

fn body(operation: &Value) -> String {
    let content = members(&operation["requestBody"]["content"]);
    let bodies = content.map(|(content_type, content)| {
        let (content_type, shape) = (escaped(content_type), whole(&content["schema"]));
        let example = content.get("example").map(|example| {
            let text = serde_json::to_string_pretty(example).unwrap_or_default();
            format!("<pre><code>{}</code></pre>", escaped(&text))
        });
        let example = example.unwrap_or_default();
        format!("<h4>Body <small>{content_type}</small></h4>{shape}{example}")
    });
    bodies.collect()
}

fn answers(operation: &Value) -> String {
    let rows = members(&operation["responses"]).map(|(status, answer)| {
        let status = escaped(status);
        let about = prose(words(&answer["description"]));
        let content = members(&answer["content"]).map(|(content_type, content)| {
            let (content_type, kind) = (escaped(content_type), kind(&content["schema"]));
            format!("<p class=\"kind\">{kind} <small>{content_type}</small></p>")
        });
        // Every refusal has the one shape, which the introduction describes.
        let content = if status.starts_with(['4', '5']) {
            String::new()
        } else {
            content.collect()
        };
        format!("<tr><th scope=\"row\">{status}</th><td>{about}{content}</td></tr>")
    });
    let rows: String = rows.collect();
    format!(
        "<h4>Answers</h4><div class=\"wide\"><table class=\"answers\"><thead><tr><th scope=\"col\">Status</th>\
         <th scope=\"col\">About</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

/// A path may be broken behind each slash.
fn breakable(path: &str) -> String {
    escaped(path).replace('/', "/<wbr>")
}
