//! Process that serves models while a test runs.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// Running process of a model server, which is stopped on drop.
pub(crate) struct RunningProgram {
    child: Child,
    pub(crate) url: String,
}

impl RunningProgram {
    /// Starts a program that prints its URL as JSON in the first line, and that exits when its standard input is
    /// closed.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a started program");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).expect("a line with the URL");
        let announcement: serde_json::Value = serde_json::from_str(&line).expect("a JSON object with the URL");
        Self { child, url: announcement["url"].as_str().unwrap().to_owned() }
    }

    /// Kills the process without a chance to shut down, as in a crash.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // The program ends when its input is closed. A program that hangs is killed.
        drop(self.child.stdin.take());
        self.kill();
    }
}
