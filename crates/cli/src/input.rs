//! Standard input, line by line, for whoever waits for a line first: a question, or the address of a sign-in.

use std::io::BufRead as _;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};

/// How many lines are read ahead.
const AHEAD: usize = 16;

/// Lines of standard input. Nothing is read before the first is wanted.
#[derive(Clone, Default)]
pub(crate) struct Input {
    lines: Arc<Mutex<Option<mpsc::Receiver<String>>>>,
}

impl Input {
    /// The next line; none at the end. Dropped while it waits, it loses none.
    pub(crate) async fn line(&self) -> Option<String> {
        self.lines.lock().await.get_or_insert_with(read).recv().await
    }
}

/// Reads lines on a thread of its own: a read of standard input can't be given up.
fn read() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(AHEAD);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
