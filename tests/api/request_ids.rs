//! The request id leads from a customer's request to the calls of the gateway that it caused.

use serde_json::{Value, json};
use support::{HttpResponse, Program, World, eventually};

use crate::program::{end, start_program_with};

/// The calls of the gateway that a program logged, by path, each with the id of the request that caused it.
fn calls(program: &Program) -> Vec<(String, Option<String>)> {
    let printed = program.printed();
    let lines = printed.lines();
    let lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let calls = lines.filter(|line| line["message"] == "gateway called");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let call = |line: Value| {
        (
            text(&line["path"]).unwrap(),
            text(&line["span"]["request_id"]),
        )
    };
    calls.map(call).collect()
}

#[tokio::test]
async fn each_call_of_the_gateway_is_logged_with_the_request_that_caused_it() {
    let mut world = World::start().await;
    let variables = [("FLORIN_LOG", "info,florin_gateway=debug")];
    let program = start_program_with(&mut world, &variables).await;
    let checkout = world.customer().open("ebook").await;
    let id = |response: &HttpResponse| response.header("x-request-id").unwrap().to_owned();

    let quotes = checkout.get("/quotes").await.with(200);
    let attempt = checkout.request_attempt("BTC").await.with(200);
    let paid = checkout.post("/paid", &json!({})).await.with(200);
    for (path, request) in [
        ("/prices", Some(id(&quotes))),
        ("/invoice", Some(id(&attempt))),
        ("/confirm", Some(id(&paid))),
        // A poll, which no request caused.
        ("/invoice", None),
    ] {
        let expected = (path.to_owned(), request);
        eventually(&format!("{expected:?} is logged"), async || {
            calls(&program).contains(&expected).then_some(())
        })
        .await;
    }
    end(world, program).await;
}
