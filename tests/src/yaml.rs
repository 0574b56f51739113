//! YAML, read as JSON by a package of npm: what kubectl, compose and workflows read.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::npm::npm_file;

/// Prints the documents of its standard input as one JSON array, aliases resolved. YAML 1.1 as Go's readers have it: `0440` is
/// an octal number.
const SCRIPT: &str = "const yaml = require(process.argv[1]);
const text = require('node:fs').readFileSync(0, 'utf8');
const documents = yaml.parseAllDocuments(text, { version: '1.1', merge: true });
for (const document of documents) for (const error of document.errors) throw error;
console.log(JSON.stringify(documents.map(document => document.toJS())));";

#[must_use]
pub fn yaml_documents(text: &str) -> Vec<Value> {
    let mut node = Command::new("node");
    node.args(["-e", SCRIPT])
        .arg(npm_file("yaml/dist/index.js"));
    let mut node = node
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node can be started");
    let mut input = node.stdin.take().expect("it is piped");
    input.write_all(text.as_bytes()).expect("node reads it");
    drop(input);
    let output = node.wait_with_output().expect("it ends");
    assert!(output.status.success(), "it is not YAML:\n{text}");
    serde_json::from_slice(&output.stdout).expect("JSON was printed")
}
