//! Standard input, read line by line. Lines are delivered to the first waiting reader: a prompt, or a sign-in that
//! expects an address.

use std::io::BufRead as _;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

/// Number of lines that are read ahead.
const READ_AHEAD_LINES: usize = 16;

/// Lines of standard input. Reading starts with the first request for a line.
#[derive(Clone, Default)]
pub(crate) struct InputLines {
    lines: Arc<Mutex<Option<mpsc::Receiver<String>>>>,
}

impl InputLines {
    /// Returns the next line, or `None` at the end. Cancellation doesn't lose a line.
    pub(crate) async fn next_line(&self) -> Option<String> {
        self.lines.lock().await.get_or_insert_with(spawn_reader).recv().await
    }
}

/// Reads lines on a separate thread, because a read of standard input can't be cancelled.
fn spawn_reader() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(READ_AHEAD_LINES);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
