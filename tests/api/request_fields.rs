//! A wrong member of a request is refused by its name, with what to write there: for each member that the description has.

use reqwest::Method;
use serde_json::{Map, Value, json};
use support::{CONTRACT, Checkout, HttpResponse, World, secrets};

/// A member of a request's body: its name as a refusal has it, its schema, and a body that is right but for it.
struct Member {
    name: String,
    schema: Value,
    /// Where it is in the body.
    pointer: String,
    body: Value,
}

/// The shape behind a reference, without the alternative `null`.
fn resolved(schema: &Value) -> &Value {
    let reference = schema["$ref"].as_str();
    if let Some(reference) = reference {
        return resolved(CONTRACT.document().pointer(&reference[1..]).unwrap());
    }
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    let mut choices = choices.filter(|choice| choice["type"] != "null");
    match (choices.next(), choices.next()) {
        (Some(only), None) => resolved(only),
        _ => schema,
    }
}

fn kind(schema: &Value) -> &str {
    let kind = &schema["type"];
    kind.as_str().or(kind[0].as_str()).unwrap_or("object")
}

/// Texts of which one must be written.
fn words(schema: &Value) -> Vec<&Value> {
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    choices.map(|choice| &choice["const"]).collect()
}

/// A right value.
fn example(schema: &Value) -> Value {
    let schema = resolved(schema);
    let found = schema["examples"].get(0).or(words(schema).first().copied());
    found.cloned().unwrap_or_else(|| match kind(schema) {
        "string" => panic!("a member without an example: {schema}"),
        "integer" => json!(1),
        "array" => json!([example(&schema["items"])]),
        _ => required(schema),
    })
}

/// An object with the members that it needs.
fn required(schema: &Value) -> Value {
    let names = schema["required"].as_array().into_iter().flatten();
    let members = names.map(|name| {
        let name = name.as_str().unwrap();
        (name.to_owned(), example(&schema["properties"][name]))
    });
    Value::Object(members.collect::<Map<_, _>>())
}

/// Every member of a body, those in its lists of objects included.
fn members(schema: &Value) -> Vec<Member> {
    let schema = resolved(schema);
    if let Some(choices) = schema["anyOf"].as_array() {
        return choices.iter().flat_map(members).collect();
    }
    let body = required(schema);
    let mut found = Vec::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let member = resolved(member);
        for inner in members(member.get("items").unwrap_or(&Value::Null)) {
            let mut body = body.clone();
            body[name] = json!([inner.body]);
            found.push(Member {
                name: format!("{name}[0].{}", inner.name),
                pointer: format!("/{name}/0{}", inner.pointer),
                body,
                ..inner
            });
        }
        found.push(Member {
            name: name.clone(),
            schema: member.clone(),
            pointer: format!("/{name}"),
            body: body.clone(),
        });
    }
    found
}

/// Sends a request as the caller that the operation names.
async fn send(
    world: &World,
    checkout: &Checkout,
    operation: &Value,
    (method, path): (&Method, &str),
    body: Option<&Value>,
) -> HttpResponse {
    let path = path.replace("{id}", &checkout.order);
    let key = match operation["security"][0].as_object() {
        Some(security) if security.contains_key("secret_key") => Some(secrets::STORE_KEY),
        Some(_) => Some(checkout.token()),
        None => None,
    };
    let customer = world.customer();
    customer.send(method.clone(), &path, key, body).await
}

#[track_caller]
fn refused(response: HttpResponse, field: &str, schema: Option<&Value>) {
    let refused = response.refused(400, "invalid_request").naming(field);
    let Some(schema) = schema else { return };
    let message = refused.text_at("/error/message");
    let expected = words(schema).first().map_or_else(
        || match kind(schema) {
            "boolean" => "true or false".to_owned(),
            _ => example(schema).to_string(),
        },
        ToString::to_string,
    );
    let expected = expected.trim_matches('"');
    assert!(message.contains(expected), "{field}: {message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_member_of_a_wrong_kind_is_named_with_an_example() {
    let world = World::start().await;
    let checkout = world.customer().open("ebook").await;
    let mut count = 0;
    for (path, item) in CONTRACT.document()["paths"].as_object().unwrap() {
        // The gateway is answered 200 whatever it says.
        if path.starts_with("/callbacks/") {
            continue;
        }
        for (method, operation) in item.as_object().unwrap() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let address = (&method, path.as_str());
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            for member in members(body) {
                let mut wrong = vec![match kind(&member.schema) {
                    "boolean" => json!("x"),
                    _ => json!(true),
                }];
                let shapes = ["pattern", "format", "enum", "oneOf"];
                if shapes
                    .iter()
                    .any(|shape| member.schema.get(shape).is_some())
                    && kind(&member.schema) == "string"
                {
                    wrong.push(json!(" "));
                }
                for (number, value) in wrong.into_iter().enumerate() {
                    let mut body = member.body.clone();
                    let (parent, name) = member.pointer.rsplit_once('/').unwrap();
                    body.pointer_mut(parent).unwrap()[name] = value;
                    let response = send(&world, &checkout, operation, address, Some(&body)).await;
                    // Of a wrong shape, the message has the words of its check.
                    let schema = Some(&member.schema).filter(|_| number == 0);
                    refused(response, &member.name, schema);
                    count += 1;
                }
            }
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
                let schema = resolved(&parameter["schema"]);
                if kind(schema) != "string" {
                    let name = parameter["name"].as_str().unwrap();
                    let required = operation["parameters"].as_array().unwrap().iter();
                    let required =
                        required.filter(|it| it["in"] == "query" && it["required"] == true);
                    let required =
                        required.map(|it| format!("&{}=x", it["name"].as_str().unwrap()));
                    let rest: String = required.collect();
                    let path = format!("{path}?{name}=x{rest}");
                    let response = send(&world, &checkout, operation, (&method, &path), None).await;
                    refused(response, name, Some(schema));
                    count += 1;
                }
            }
        }
    }
    assert!(count > 40, "{count} members");
    world.end().await;
}
