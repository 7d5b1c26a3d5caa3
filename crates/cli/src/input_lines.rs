//! Lines of standard input. Each line is delivered to the first waiting reader: a prompt, or a sign-in that waits for a
//! pasted URL.

use std::io::BufRead as _;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

/// Maximum number of lines of standard input that are read before they are requested.
const MAX_READ_AHEAD_LINES: usize = 16;

/// Shared reader of the lines of standard input, which starts to read when the first line is requested.
#[derive(Clone, Default)]
pub(crate) struct InputLines {
    lines: Arc<Mutex<Option<mpsc::Receiver<String>>>>,
}

impl InputLines {
    /// Returns the next line, or `None` at the end of the input. Cancel safe: if the future is dropped, no line is
    /// lost.
    pub(crate) async fn next_line(&self) -> Option<String> {
        self.lines.lock().await.get_or_insert_with(spawn_reader).recv().await
    }
}

/// Spawns a thread that reads lines from standard input, because such a read can't be cancelled.
fn spawn_reader() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(MAX_READ_AHEAD_LINES);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
