//! Runs the code of docs/reference/order-tokens.md that signs order tokens.

use std::process::{Command, Stdio};

use serde_json::json;
use support::{World, secrets};

const PAGE: &str = include_str!("../../docs/reference/order-tokens.md");

/// How each language is run, and the line that prints a token for three arguments.
const LANGUAGES: [(&str, &[&str], &str); 3] = [
    (
        "python",
        &["python3", "-c"],
        "import sys; print(order_token(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))",
    ),
    (
        "js",
        &["node", "--input-type=module", "-e"],
        "console.log(orderToken(process.argv[1], process.argv[2], JSON.parse(process.argv[3])));",
    ),
    (
        "php",
        &["php", "-r"],
        "echo order_token($argv[1], $argv[2], json_decode($argv[3], true));",
    ),
];

/// Returns the section's code in a language.
fn code(language: &str) -> &'static str {
    let (_, section) = PAGE.split_once("\n## Sign a token\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let (_, code) = section.split_once(&format!("```{language}\n")).unwrap();
    code.split_once("```").unwrap().0
}

/// Returns the output of a program; `None` if the machine does not have it.
fn run_program(program: &[&str], text: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).arg(text);
    // Otherwise PHP and Node would parse the arguments themselves.
    command.args((program[0] != "python3").then_some("--"));
    let output = command.args(arguments).stdin(Stdio::null()).output().ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", program[0]);
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[tokio::test]
async fn tokens_signed_by_the_documented_code_open_orders() {
    let world = World::start().await;
    let mut signed = 0;
    for (language, program, print_line) in LANGUAGES {
        let code = code(language);
        let body = code.lines().filter(|line| line.starts_with("  "));
        assert!(body.count() <= 5, "five lines are enough: {code}");
        let claims = json!({
            "aud": world.proxy_url(), "store": "demo", "reference": format!("cart-{language}"), "amount": "19.90",
            "currency": "EUR", "title": "Ein Büchlein / 書", "return_url": format!("{}/thanks", world.shop_url()),
        });
        let text = format!("{code}\n{print_line}");
        let Some(token) = run_program(
            program,
            &text,
            &["k1", secrets::TOKEN_KEY, &claims.to_string()],
        ) else {
            println!("{} is not installed: its code was not run", program[0]);
            continue;
        };
        let opened = world
            .shopper()
            .request_order(&json!({ "order_token": token }))
            .await
            .with(201);
        assert_eq!(opened.text_at("/order/title"), "Ein Büchlein / 書");
        assert_eq!(opened.text_at("/order/amount"), "19.90");
        assert_eq!(opened.text_at("/order/currency"), "EUR");
        signed += 1;
    }
    assert!(
        signed > 0,
        "none of the languages is installed: install python3"
    );
    world.end().await;
}
