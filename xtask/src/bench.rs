//! `cargo xtask bench`: promised numbers, measured on this machine.

mod first_view;
mod idle;
pub(crate) mod kills;
pub(crate) mod lives;
mod peers;
mod start;

use std::process::ExitCode;

use crate::demo::Folder;
use crate::screen::{self, bold};
use crate::workspace::Workspace;
use crate::{budget, build, bundle, tools};

/// Kibibytes that the idle proxy may occupy.
const RESIDENT_KIB: u64 = 20 * 1024;
/// Milliseconds from its start until it answers.
const LISTENING_MS: u128 = 100;

/// Measures, prints, and fails when a promise is broken.
///
/// # Errors
/// Something cannot be built or started.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<ExitCode> {
    tools::set_up(workspace)?;
    bundle::make(workspace, bundle::Variant::Release)?;
    build::proxy(workspace, bundle::Variant::Release)?;
    let folder = Folder::create()?;
    let starts = start::measure(workspace, &folder)?;
    let resident = idle::measure(workspace, &folder)?;
    folder.remove();

    let line = |what: &str, measured: &str, promised: &str| {
        format!("  {what:<46}{measured:>14}{promised:>14}")
    };
    println!(
        "\n{}",
        bold(&line("the proxy's release", "measured", "promised"))
    );
    let (fastest, slowest) = (starts[0].as_millis(), starts[starts.len() - 1].as_millis());
    let median = starts[starts.len() / 2].as_millis();
    let range = format!(
        "start to first answer, median of {} ({fastest}–{slowest})",
        starts.len()
    );
    let promised = format!("≤ {LISTENING_MS} ms");
    println!("{}", line(&range, &format!("{median} ms"), &promised));
    let promised = format!("≤ {RESIDENT_KIB} KiB");
    println!(
        "{}\n",
        line("resident when idle", &format!("{resident} KiB"), &promised)
    );
    let widget_kept = budget::print(workspace, bundle::Variant::Release)?;
    let in_time = first_view::is_in_time(workspace)?;
    let proxy_kept = median <= LISTENING_MS && resident <= RESIDENT_KIB;
    if !proxy_kept {
        screen::bad("the proxy is slower to start or larger than promised");
    }
    if !in_time {
        screen::bad("the checkout comes later than promised, by itself or beside its peers");
    }
    Ok(if widget_kept && proxy_kept && in_time {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
