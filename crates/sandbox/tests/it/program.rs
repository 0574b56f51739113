//! The program `florin-sandbox`: how it starts, and how it ends.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

fn program(listen: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_florin-sandbox"));
    program.args(["--listen", listen, "--api-secret", "from the command line"]);
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

/// A program that is ready, and what it said until then.
fn ready(mut program: Command) -> (Child, Vec<String>) {
    let mut child = program.spawn().unwrap();
    let mut lines = Vec::new();
    let out = BufReader::new(child.stdout.take().unwrap());
    for line in out.lines() {
        lines.push(line.unwrap());
        if lines.last().unwrap().contains("secret") {
            break;
        }
    }
    (child, lines)
}

#[test]
fn a_taken_port_is_one_sentence_and_a_failure() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = program(&address).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let expected = format!(
        "florin-sandbox: {address} is taken: stop the program that listens there, \
         or choose another address with --listen\n"
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
}

#[test]
fn the_program_says_where_it_listens_and_what_to_sign_with() {
    let (mut child, lines) = ready(program("127.0.0.1:0"));
    child.kill().unwrap();
    child.wait().unwrap();
    let said = lines.join("\n");
    assert!(
        said.contains("/sandbox\n") && said.contains("/api\n"),
        "{said}"
    );
    assert!(!said.contains(":0/"), "{said}");
    assert!(said.contains("apikey    florin_sandbox_key"), "{said}");
    assert!(said.contains("secret    from the command line"), "{said}");
}

#[test]
fn a_signal_ends_the_program_in_good_order() {
    for signal in ["-INT", "-TERM"] {
        let (mut child, _) = ready(program("127.0.0.1:0"));
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
    }
}
