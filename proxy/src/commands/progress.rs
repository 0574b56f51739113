//! What a long command is doing: one line on standard error, where that is a terminal, and never with `--json`.

use std::path::Path;
use std::time::Duration;

use florin_gateway::Clock as _;
use florin_proxy::clock::SystemClock;
use florin_storage::CopyStep;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the line is drawn, and a growing file is read.
const REDRAW: Duration = Duration::from_millis(200);

/// The line. It is gone when this is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(what: &'static str, json: bool) -> Self {
        // The library draws nothing where standard error is no terminal.
        let target = if json {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let style = ProgressStyle::with_template("{spinner} {prefix} {msg} {elapsed}");
        let style = style.expect("the template is valid");
        let bar = ProgressBar::with_draw_target(None, target).with_style(style);
        let bar = bar.with_prefix(what);
        // Of a short command too, the line is drawn once.
        bar.tick();
        bar.enable_steady_tick(REDRAW);
        Self(bar)
    }

    pub(crate) fn rows(&self, step: &CopyStep) {
        let CopyStep {
            table,
            number,
            count,
            rows,
        } = step;
        let message = format!("{number}/{count} {table}: {rows} rows");
        self.0.set_message(message);
    }

    /// Carries out `work`, which writes the file `part`; a bar shows its size beside that of `whole`, if it is known.
    pub(crate) async fn while_growing<T>(
        &self,
        part: &Path,
        whole: Option<&Path>,
        work: impl Future<Output = T>,
    ) -> T {
        let Some(whole) = whole else {
            return work.await;
        };
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
        let style = "{spinner} {prefix} {wide_bar} {bytes}/{total_bytes} {elapsed}";
        let style = ProgressStyle::with_template(style).expect("the template is valid");
        self.0.set_style(style);
        self.0.set_length(size(whole));
        let watch = async {
            loop {
                self.0.set_position(size(part));
                SystemClock.sleep(REDRAW).await;
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            () = watch => unreachable!("it watches without an end"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
