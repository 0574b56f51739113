//! The line that long commands show: on a terminal, and nowhere else.

use std::path::Path;

use support::{Program, World, built, command};

/// What a command prints on a terminal, standard error included.
fn on_terminal(words: &str) -> String {
    // Of util-linux: runs a command with a terminal.
    let line = format!(
        "{} {words}",
        built("florin-proxy", "florin-proxy").display()
    );
    let output = command(Path::new("script"), &[("TERM", "xterm")])
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .env_remove("NO_COLOR")
        .output()
        .expect("apt-get install bsdutils");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    printed
}

#[tokio::test]
async fn a_long_command_shows_its_progress_on_a_terminal_and_nowhere_else() {
    let mut world = World::start().await;
    world.customer().open("ebook").await;
    world.wait_for_deliveries().await;
    world.stop_proxy().await;
    let config = world.config_file();
    let config = config.to_str().unwrap();
    let backup = |name: &str| {
        let file = world.file(name);
        format!("--config {config} store backup --to {}", file.display())
    };
    let verify = format!("--config {config} store verify");
    for (words, json, line) in [
        (backup("one.db"), backup("two.db"), "Copying"),
        (verify.clone(), verify.clone(), "Reading the whole database"),
    ] {
        let printed = on_terminal(&words);
        assert!(printed.contains(line), "{printed}");
        let printed = on_terminal(&format!("--json {json}"));
        assert!(!printed.contains(line), "{printed}");
    }
    let words: Vec<&str> = verify.split(' ').collect();
    let piped = Program::run(&words, &[]).printed;
    assert!(!piped.contains("Reading"), "{piped}");
    world.start_proxy().await;
    world.end().await;
}
