//! What was typed behind `cargo xtask`.

use anyhow::{Context as _, bail};

/// What `cargo xtask help` prints.
pub(crate) const HELP: &str = "\
cargo xtask <command>

  demo     start the sandbox, the proxy and a demo shop, and say what to try
             --port-base N       the proxy's port; the others follow (8080)
             --database-url URL  where the proxy keeps its ledger (SQLite in a temporary folder)
  test     every check: format, dependencies, lints, docs, tests, browser, budget
  build    the release: dist/ and one florin-proxy with the widget inside
  budget   the widget's sizes against the promise
  bench    the other promised numbers, measured

Each installs what it misses.";

/// One of the commands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Demo(DemoWishes),
    Test,
    Build,
    Budget,
    Bench,
    Help,
}

/// What the demo may be told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DemoWishes {
    /// The proxy's port. The shop's is the next one, the sandbox's 10 above, the admin listener's 1010 above.
    pub(crate) port_base: u16,
    /// Where the proxy keeps its ledger; `None`: SQLite in the demo's own folder.
    pub(crate) database_url: Option<String>,
}

/// The highest `--port-base` whose admin port still exists.
const MAX_PORT_BASE: u16 = u16::MAX - 1010;

/// Reads the arguments behind `cargo xtask`.
///
/// # Errors
/// A sentence that names the word that was not understood.
pub(crate) fn read(words: impl IntoIterator<Item = String>) -> anyhow::Result<Command> {
    let mut words = words.into_iter();
    let command = match words.next().as_deref() {
        Some("demo") => return demo(words),
        Some("test") => Command::Test,
        Some("build") => Command::Build,
        Some("budget") => Command::Budget,
        Some("bench") => Command::Bench,
        None | Some("help" | "--help" | "-h") => Command::Help,
        Some(other) => bail!("there is no command {other:?}; `cargo xtask help` lists them"),
    };
    match words.next() {
        Some(extra) => {
            bail!("{extra:?} is not understood here; `cargo xtask help` lists the flags")
        }
        None => Ok(command),
    }
}

fn demo(mut words: impl Iterator<Item = String>) -> anyhow::Result<Command> {
    let mut wishes = DemoWishes {
        port_base: 8080,
        database_url: None,
    };
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        let mut value = || {
            let value = value.clone().or_else(|| words.next());
            value.with_context(|| format!("{flag} wants a value behind it"))
        };
        match flag.as_str() {
            "--port-base" => wishes.port_base = port_base(&value()?)?,
            "--database-url" => wishes.database_url = Some(value()?),
            "--help" | "-h" => return Ok(Command::Help),
            other => bail!("demo knows --port-base and --database-url, not {other:?}"),
        }
    }
    Ok(Command::Demo(wishes))
}

fn port_base(text: &str) -> anyhow::Result<u16> {
    match text.parse() {
        Ok(port) if (1..=MAX_PORT_BASE).contains(&port) => Ok(port),
        _ => bail!("--port-base {text:?} is no port from 1 to {MAX_PORT_BASE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &str) -> anyhow::Result<Command> {
        read(line.split_whitespace().map(str::to_owned))
    }

    #[track_caller]
    fn refused(line: &str) -> String {
        typed(line).expect_err("must be refused").to_string()
    }

    #[test]
    fn the_demos_wishes_are_read_in_either_form() {
        let wishes = DemoWishes {
            port_base: 18080,
            database_url: Some("postgres://x".to_owned()),
        };
        let spaced = "demo --port-base 18080 --database-url postgres://x";
        assert_eq!(typed(spaced).unwrap(), Command::Demo(wishes));
        let Command::Demo(wishes) = typed("demo --port-base=9").unwrap() else {
            panic!("must be the demo");
        };
        assert_eq!(wishes.port_base, 9);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert_eq!(
            refused("demmo"),
            "there is no command \"demmo\"; `cargo xtask help` lists them"
        );
        assert_eq!(
            refused("test --fast"),
            "\"--fast\" is not understood here; `cargo xtask help` lists the flags"
        );
        assert_eq!(
            refused("demo --port 1"),
            "demo knows --port-base and --database-url, not \"--port\""
        );
        assert_eq!(
            refused("demo --port-base"),
            "--port-base wants a value behind it"
        );
    }

    #[test]
    fn a_port_base_leaves_room_for_the_admin_port() {
        let sentence = "--port-base \"64526\" is no port from 1 to 64525";
        assert_eq!(refused("demo --port-base 64526"), sentence);
        assert!(typed("demo --port-base 64525").is_ok());
    }
}
