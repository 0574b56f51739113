//! Shapes as tables of their members.

use serde_json::Value;

use crate::admin::docs::text::{escaped, line, members, prose, words};

/// Lists longer than this are named by their length.
const MOST_WORDS: usize = 16;

/// A shape of the document's list.
pub(crate) fn section(name: &str, shape: &Value) -> String {
    let name = escaped(name);
    let about = prose(words(&shape["description"]));
    let body = whole(shape);
    format!(
        "<section id=\"shape-{name}\" class=\"shape\"><h3>{name}</h3>\n{about}{body}</section>\n"
    )
}

/// A shape with everything in it: the table of its members, or what it is in a line.
pub(crate) fn whole(shape: &Value) -> String {
    if shape.get("properties").is_some() {
        return table(shape, "");
    }
    let bounds = bounds(shape);
    let choices = shape["oneOf"].as_array().into_iter().flatten();
    let choices: String = choices
        .map(|choice| match choice.get("const") {
            Some(word) => {
                let (word, about) = (escaped(words(word)), line(words(&choice["description"])));
                format!("<dt><code>{word}</code></dt><dd>{about}</dd>")
            }
            None => format!("<dt>or</dt><dd>{}</dd>", whole(choice)),
        })
        .collect();
    if choices.is_empty() {
        return format!("<p class=\"kind\">{}{bounds}</p>", kind(shape));
    }
    format!("<dl>{choices}</dl>")
}

/// The members of an object, and of the objects in it, each by its whole name.
fn table(shape: &Value, within: &str) -> String {
    let rows = rows(shape, within);
    format!(
        "<div class=\"wide\"><table><thead><tr><th scope=\"col\">Member</th><th scope=\"col\">Kind</th>\
         <th scope=\"col\">About</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn rows(shape: &Value, within: &str) -> String {
    let required = |name: &str| {
        let names = shape["required"].as_array().into_iter().flatten();
        names.into_iter().any(|known| known == name)
    };
    let rows = members(&shape["properties"]).map(|(name, member)| {
        let optional = if required(name) { "" } else { "<span class=\"maybe\">optional</span>" };
        let name = format!("{within}{name}");
        let inner = match member.get("properties") {
            Some(_) => rows(member, &format!("{name}.")),
            None => match member["items"].get("properties") {
                Some(_) => rows(&member["items"], &format!("{name}[].")),
                None => String::new(),
            },
        };
        let (name, kind, bounds) = (escaped(&name), kind(member), bounds(member));
        let about = line(words(&member["description"]));
        format!(
            "<tr><th scope=\"row\"><code>{name}</code> {optional}</th><td>{kind}</td><td>{about}{bounds}</td></tr>{inner}"
        )
    });
    rows.collect()
}

/// What it is, in a word or a link.
pub(crate) fn kind(shape: &Value) -> String {
    if let Some(reference) = shape["$ref"].as_str() {
        let name = escaped(reference.rsplit('/').next().unwrap_or_default());
        return format!("<a href=\"#shape-{name}\">{name}</a>");
    }
    if let Some(word) = shape.get("const") {
        return format!("<code>{}</code>", escaped(&word.to_string()));
    }
    if let Some(list) = shape["enum"].as_array() {
        return choices(list);
    }
    if let Some(choices) = shape["anyOf"].as_array() {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match &shape["type"] {
        Value::String(word) if word == "array" => format!("list of {}", kind(&shape["items"])),
        Value::String(word) => escaped(word),
        Value::Array(kinds) => kinds.iter().map(words).collect::<Vec<_>>().join(" or "),
        _ => "anything".to_owned(),
    }
}

fn choices(list: &[Value]) -> String {
    if list.len() > MOST_WORDS {
        return format!("one of {} words", list.len());
    }
    let list = list
        .iter()
        .map(|word| format!("<code>{}</code>", escaped(words(word))));
    list.collect::<Vec<_>>().join(" ")
}

/// What else it must fit.
fn bounds(shape: &Value) -> String {
    let mut out = Vec::new();
    match (shape.get("minimum"), shape.get("maximum")) {
        (Some(least), Some(most)) if *most != u64::from(u32::MAX) => {
            out.push(format!("{least} to {most}"));
        }
        (Some(least), _) => out.push(format!("{least} or more")),
        _ => {}
    }
    if let Some(most) = shape.get("maxLength") {
        out.push(format!("at most {most} characters"));
    }
    if let Some(format) = shape["format"].as_str() {
        out.push(escaped(format));
    }
    if let Some(pattern) = shape["pattern"].as_str() {
        out.push(format!("<code>{}</code>", escaped(pattern)));
    }
    if out.is_empty() {
        return String::new();
    }
    format!(" <span class=\"bounds\">{}</span>", out.join(" · "))
}
