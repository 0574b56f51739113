//! Single keys of the terminal, without Enter. Of another standard input, its bytes.

use std::io::{Read as _, stdin};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

/// Reads keys. The terminal is as before once this is dropped.
pub(crate) struct Keys {
    before: Option<Termios>,
    pressed: mpsc::UnboundedReceiver<u8>,
}

impl Keys {
    /// Begins to read.
    pub(crate) fn begin() -> Self {
        let before = tcgetattr(stdin()).ok();
        if let Some(before) = &before {
            let mut single = before.clone();
            single
                .local_modes
                .remove(LocalModes::ICANON | LocalModes::ECHO);
            // Without it, a key needs Enter.
            let _ = tcsetattr(stdin(), OptionalActions::Now, &single);
        }
        let (sender, pressed) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            for byte in stdin().lock().bytes().map_while(Result::ok) {
                if sender.send(byte).is_err() {
                    return;
                }
            }
        });
        Self { before, pressed }
    }

    /// Waits for the next key.
    pub(crate) async fn next(&mut self) -> u8 {
        match self.pressed.recv().await {
            Some(key) => key,
            // Standard input has ended.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
    }
}
