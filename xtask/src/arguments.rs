//! What was typed behind `cargo xtask`.

use anyhow::{Context as _, bail};

use crate::bundle::Variant;

/// What `cargo xtask help` prints.
pub(crate) const HELP: &str = "\
cargo xtask <command>

  demo     start the sandbox, the proxy and a demo shop, and say what to try
             --port-base N       the proxy's port; the others follow (8080)
             --database-url URL  where the proxy keeps its ledger (SQLite in a temporary folder)
  test     every check: format, dependencies, lints, docs, tests, browsers, budget, HTTP, simulated lives
             --only TEXT         the checks alone whose claim has this text, such as HTTP
  pictures every state of the checkout as a picture in target/pictures, in four widths and five looks
             --only TEXT         the states alone whose name has this text, such as paid
             --look LOOK         this look alone: light, dark, forced (colours), de or ar
  tools    install what the tests use: three browsers, their drivers, packages of npm, Schemathesis
  build    the release: dist/ and one florin-proxy with the widget inside
             --stable            the widget by stable compiler flags alone, 18 kB larger
  budget   the widget's sizes against the promise
             --stable            those of the widget by stable compiler flags alone
  bench    the other promised numbers, measured, and two other makers' payment pages beside them
             --kills N           instead: kill the proxy N times while customers buy, and have it judged
             --lives N           instead: play N lives of orders in simulated worlds, with everything failing
             --seed N            what those customers, kills and faults follow from (kills: 1, lives: any)

Each installs what it misses.";

/// One of the commands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Demo(DemoWishes),
    Test(TestWishes),
    Tools,
    Pictures(PictureWishes),
    Build(Variant),
    Budget(Variant),
    Package,
    Bench,
    Kills(KillWishes),
    Lives(LifeWishes),
    Help,
}

/// What the kill campaign may be told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KillWishes {
    /// How often the proxy is killed.
    pub(crate) kills: u64,
    /// What chance follows from.
    pub(crate) seed: u64,
}

/// What the simulation may be told.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LifeWishes {
    /// How many orders live.
    pub(crate) lives: u64,
    /// What chance follows from; `None`: another one every time.
    pub(crate) seed: Option<u64>,
}

/// What the test may be told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestWishes {
    /// Part of the claims that are checked, in any case; `None`: all of them.
    pub(crate) only: Option<String>,
}

/// What the pictures may be told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PictureWishes {
    /// Part of the names of the states that are pictured; `None`: all of them.
    pub(crate) only: Option<String>,
    /// The one look that is pictured; `None`: all of them.
    pub(crate) look: Option<String>,
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
        Some("test") => return test(words),
        Some("pictures") => return pictures(words),
        Some("tools") => Command::Tools,
        Some("build") => return Ok(Command::Build(variant(words, "build")?)),
        Some("budget") => return Ok(Command::Budget(variant(words, "budget")?)),
        Some("package") => Command::Package,
        Some("bench") => return bench(words),
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

/// Which variant of the widget `command` is about.
fn variant(words: impl Iterator<Item = String>, command: &str) -> anyhow::Result<Variant> {
    let mut variant = Variant::Release;
    for word in words {
        match word.as_str() {
            "--stable" => variant = Variant::Stable,
            other => bail!("{command} knows --stable, not {other:?}"),
        }
    }
    Ok(variant)
}

fn test(mut words: impl Iterator<Item = String>) -> anyhow::Result<Command> {
    let mut wishes = TestWishes::default();
    while let Some(word) = words.next() {
        let flag = Flag::read(word);
        match flag.name.as_str() {
            "--only" => wishes.only = Some(flag.value(&mut words)?),
            "--help" | "-h" => return Ok(Command::Help),
            other => bail!("test knows --only, not {other:?}"),
        }
    }
    Ok(Command::Test(wishes))
}

fn pictures(mut words: impl Iterator<Item = String>) -> anyhow::Result<Command> {
    let mut wishes = PictureWishes::default();
    while let Some(word) = words.next() {
        let flag = Flag::read(word);
        match flag.name.as_str() {
            "--only" => wishes.only = Some(flag.value(&mut words)?),
            "--look" => wishes.look = Some(flag.value(&mut words)?),
            "--help" | "-h" => return Ok(Command::Help),
            other => bail!("pictures knows --only and --look, not {other:?}"),
        }
    }
    Ok(Command::Pictures(wishes))
}

fn demo(mut words: impl Iterator<Item = String>) -> anyhow::Result<Command> {
    let mut wishes = DemoWishes {
        port_base: 8080,
        database_url: None,
    };
    while let Some(word) = words.next() {
        let flag = Flag::read(word);
        match flag.name.as_str() {
            "--port-base" => wishes.port_base = port_base(&flag.value(&mut words)?)?,
            "--database-url" => wishes.database_url = Some(flag.value(&mut words)?),
            "--help" | "-h" => return Ok(Command::Help),
            other => bail!("demo knows --port-base and --database-url, not {other:?}"),
        }
    }
    Ok(Command::Demo(wishes))
}

fn bench(mut words: impl Iterator<Item = String>) -> anyhow::Result<Command> {
    let (mut kills, mut lives, mut seed) = (None, None, None);
    while let Some(word) = words.next() {
        let flag = Flag::read(word);
        match flag.name.as_str() {
            "--kills" => kills = Some(number(&flag.name, &flag.value(&mut words)?, 1)?),
            "--lives" => lives = Some(number(&flag.name, &flag.value(&mut words)?, 1)?),
            "--seed" => seed = Some(number(&flag.name, &flag.value(&mut words)?, 0)?),
            "--help" | "-h" => return Ok(Command::Help),
            other => bail!("bench knows --kills, --lives and --seed, not {other:?}"),
        }
    }
    match (kills, lives, seed) {
        (Some(_), Some(_), _) => bail!("--kills and --lives are two benches: one at a time"),
        (Some(kills), None, seed) => {
            let seed = seed.unwrap_or(1);
            Ok(Command::Kills(KillWishes { kills, seed }))
        }
        (None, Some(lives), seed) => Ok(Command::Lives(LifeWishes { lives, seed })),
        (None, None, Some(_)) => bail!("--seed is of --kills or --lives, which say how many"),
        (None, None, None) => Ok(Command::Bench),
    }
}

/// `--name`, or `--name=value`.
struct Flag {
    name: String,
    value: Option<String>,
}

impl Flag {
    fn read(word: String) -> Self {
        match word.split_once('=') {
            Some((name, value)) => Self {
                name: name.to_owned(),
                value: Some(value.to_owned()),
            },
            None => Self {
                name: word,
                value: None,
            },
        }
    }

    /// What stands behind it: after `=`, or as the next word.
    fn value(&self, words: &mut impl Iterator<Item = String>) -> anyhow::Result<String> {
        let value = self.value.clone().or_else(|| words.next());
        value.with_context(|| format!("{} wants a value behind it", self.name))
    }
}

fn number(flag: &str, text: &str, least: u64) -> anyhow::Result<u64> {
    match text.parse() {
        Ok(number) if number >= least => Ok(number),
        _ => bail!("{flag} {text:?} is no number from {least}"),
    }
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
    fn a_test_may_be_told_which_checks() {
        assert_eq!(typed("test").unwrap(), Command::Test(TestWishes::default()));
        let only = Some("http".to_owned());
        let wishes = TestWishes { only };
        assert_eq!(typed("test --only=http").unwrap(), Command::Test(wishes));
    }

    #[test]
    fn pictures_may_be_told_which_states_in_which_look() {
        let all = Command::Pictures(PictureWishes::default());
        assert_eq!(typed("pictures").unwrap(), all);
        let wishes = PictureWishes {
            only: Some("paid".to_owned()),
            look: Some("ar".to_owned()),
        };
        assert_eq!(
            typed("pictures --only paid --look ar").unwrap(),
            Command::Pictures(wishes)
        );
        let sentence = "pictures knows --only and --look, not \"--dark\"";
        assert_eq!(refused("pictures --dark"), sentence);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert_eq!(
            refused("demmo"),
            "there is no command \"demmo\"; `cargo xtask help` lists them"
        );
        assert_eq!(refused("test --fast"), "test knows --only, not \"--fast\"");
        assert_eq!(refused("test --only"), "--only wants a value behind it");
        assert_eq!(
            refused("budget --fast"),
            "budget knows --stable, not \"--fast\""
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
    fn kills_and_lives_have_a_seed_and_a_seed_is_of_theirs() {
        let wishes = |kills, seed| Command::Kills(KillWishes { kills, seed });
        assert_eq!(typed("bench").unwrap(), Command::Bench);
        assert_eq!(typed("bench --kills 2000").unwrap(), wishes(2000, 1));
        assert_eq!(typed("bench --seed=0 --kills=9").unwrap(), wishes(9, 0));
        let sentence = "--kills \"0\" is no number from 1";
        assert_eq!(refused("bench --kills 0"), sentence);
        let sentence = "--seed is of --kills or --lives, which say how many";
        assert_eq!(refused("bench --seed 7"), sentence);
        let sentence = "bench knows --kills, --lives and --seed, not \"--kill\"";
        assert_eq!(refused("bench --kill 7"), sentence);
        let wishes = |lives, seed| Command::Lives(LifeWishes { lives, seed });
        assert_eq!(typed("bench --lives 2000").unwrap(), wishes(2000, None));
        assert_eq!(
            typed("bench --seed 0 --lives=9").unwrap(),
            wishes(9, Some(0))
        );
        let sentence = "--kills and --lives are two benches: one at a time";
        assert_eq!(refused("bench --lives 7 --kills 7"), sentence);
    }

    #[test]
    fn a_port_base_leaves_room_for_the_admin_port() {
        let sentence = "--port-base \"64526\" is no port from 1 to 64525";
        assert_eq!(refused("demo --port-base 64526"), sentence);
        assert!(typed("demo --port-base 64525").is_ok());
    }
}
