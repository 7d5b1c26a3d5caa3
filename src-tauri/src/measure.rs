//! What the page tells of its drawing, for `cargo xtask bench`.

use std::env;
use std::time::{Duration, Instant};

use tauri::State;
use tokio::sync::mpsc;

use crate::page_sandbox::PageSandbox;

/// What to measure, as `DRAWBRIDGE_BENCH` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// `empty`: an empty window, from the start of the process until it is drawn.
    Empty,
    /// `empty-at-rest`: an empty window that stays open, for whoever measures its processes from outside.
    EmptyAtRest,
    /// `window`: our window, from the start of the process until its first content is drawn.
    Window,
    /// `question`: a question, from the server's message until it is drawn.
    Question,
}

impl Measure {
    /// What the environment asks for; nothing is the rule.
    pub(crate) fn from_environment() -> Option<Self> {
        match env::var("DRAWBRIDGE_BENCH").ok()?.as_str() {
            "empty" => Some(Self::Empty),
            "empty-at-rest" => Some(Self::EmptyAtRest),
            "window" => Some(Self::Window),
            "question" => Some(Self::Question),
            _ => None,
        }
    }
}

/// What was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// The page's first content.
    Page,
    /// The question with this id.
    Question(String),
}

/// Who waits for what is drawn: nobody, unless something is measured.
pub(crate) struct Measured(Option<mpsc::Sender<(Drawn, Instant)>>);

impl Measured {
    /// Nothing is measured.
    pub(crate) const fn nothing() -> Self {
        Self(None)
    }

    /// Something is, and the receiver is told.
    pub(crate) fn channel() -> (Self, mpsc::Receiver<(Drawn, Instant)>) {
        let (sender, receiver) = mpsc::channel(16);
        (Self(Some(sender)), receiver)
    }

    fn tell(&self, drawn: Drawn) {
        if let Some(sender) = &self.0 {
            // When it is full nobody reads, and the measurement runs out of time.
            let _ = sender.try_send((drawn, Instant::now()));
        }
    }
}

/// The page's first content is drawn.
#[tauri::command]
pub(crate) fn painted(measured: State<'_, Measured>, sandbox: State<'_, PageSandbox>) {
    sandbox.page_came();
    measured.tell(Drawn::Page);
}

/// A question is drawn.
#[tauri::command]
pub(crate) fn question_drawn(measured: State<'_, Measured>, id: String) {
    measured.tell(Drawn::Question(id));
}

/// How long ago this process was started, to a hundredth of a second; none where the system does not say.
pub(crate) fn since_process_start() -> Option<Duration> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    age(&uptime, &stat)
}

/// Linux counts the start in hundredths of a second since the system's: field 22 of `stat`, whose second field is a name in
/// brackets that may hold anything (proc_pid_stat(5)).
fn age(uptime: &str, stat: &str) -> Option<Duration> {
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let started: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    Duration::try_from_secs_f64(uptime - started / 100.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_is_read_past_any_name() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1250 0 0";
        let expected = Duration::from_millis(500);
        assert_eq!(
            age("13.00 20.00\n", stat),
            Some(expected),
            "13 s after the system's start, 12.5 s is half a second old"
        );
        assert_eq!(age("13.00", "7 (a) S"), None, "what is too short says nothing");
    }
}
