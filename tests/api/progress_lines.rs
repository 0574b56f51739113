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
    let config = world.config_file().display().to_string();
    let copy = world.file("copy.db").display().to_string();
    for (words, line) in [
        (format!("store backup --to {copy}"), "Copying"),
        ("store verify".to_owned(), "Reading the whole database"),
    ] {
        let words = format!("--config {config} {words}");
        let printed = on_terminal(&words);
        assert!(printed.contains(line), "{printed}");
        let _ = std::fs::remove_file(&copy);
        let printed = on_terminal(&format!("--json {words}"));
        assert!(!printed.contains(line), "{printed}");
        let _ = std::fs::remove_file(&copy);
        let piped = Program::run(&words.split(' ').collect::<Vec<_>>(), &[]);
        assert!(!piped.printed.contains(line), "{}", piped.printed);
    }
    world.end().await;
}
