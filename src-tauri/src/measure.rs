//! Times at which the page has drawn its content, reported for `cargo xtask bench app`.

use std::env;
use std::time::{Duration, Instant};

use tauri::State;
use tokio::sync::mpsc;

use crate::page_sandbox::PageSandbox;

/// Benchmark selected by the environment variable `DRAWBRIDGE_BENCH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BenchMeasure {
    /// `empty`: measures the time from the start of the process until an empty window is drawn.
    Empty,
    /// `empty-at-rest`: measures nothing, but opens an empty window that stays open, so that other programs can measure
    /// its processes.
    EmptyAtRest,
    /// `window`: measures the time from the start of the process until the main window has drawn its first content.
    Window,
    /// `consent-request`: measures the time from a server's message until the consent request for it is drawn.
    ConsentRequest,
}

impl BenchMeasure {
    /// Returns the benchmark that the environment variable selects, or `None` in a normal start.
    pub(crate) fn from_environment() -> Option<Self> {
        match env::var("DRAWBRIDGE_BENCH").ok()?.as_str() {
            "empty" => Some(Self::Empty),
            "empty-at-rest" => Some(Self::EmptyAtRest),
            "window" => Some(Self::Window),
            "consent-request" => Some(Self::ConsentRequest),
            _ => None,
        }
    }
}

/// Content of Drawbridge's page whose drawing is reported to a benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DrawnContent {
    /// The first content that Drawbridge's page draws.
    Page,
    /// The consent request with this identifier.
    ConsentRequest(String),
}

/// Sends the times at which content was drawn to a benchmark. Sends nothing in a normal start.
pub(crate) struct DrawingReporter(Option<mpsc::Sender<(DrawnContent, Instant)>>);

impl DrawingReporter {
    /// Creates a reporter that discards all times.
    pub(crate) const fn disabled() -> Self {
        Self(None)
    }

    /// Creates a reporter, and the receiver of the times that are reported to it.
    pub(crate) fn channel() -> (Self, mpsc::Receiver<(DrawnContent, Instant)>) {
        let (sender, receiver) = mpsc::channel(16);
        (Self(Some(sender)), receiver)
    }

    fn send_time(&self, drawn: DrawnContent) {
        if let Some(sender) = &self.0 {
            // The channel is full only if nothing reads it, and then the benchmark times out.
            let _ = sender.try_send((drawn, Instant::now()));
        }
    }
}

/// Command by which Drawbridge's page reports that its first content is drawn.
#[tauri::command]
pub(crate) fn report_first_paint(measured: State<'_, DrawingReporter>, sandbox: State<'_, PageSandbox>) {
    sandbox.record_page_drawn();
    measured.send_time(DrawnContent::Page);
}

/// Command by which Drawbridge's page reports that it has drawn the consent request with this identifier.
#[tauri::command]
pub(crate) fn report_drawn_consent_request(measured: State<'_, DrawingReporter>, id: String) {
    measured.send_time(DrawnContent::ConsentRequest(id));
}

/// Returns the time since this process was started, with a resolution of 10 ms, or `None` if the system does not report
/// it.
pub(crate) fn time_since_process_start() -> Option<Duration> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    process_age_from_proc(&uptime, &stat)
}

/// Computes the age of a process from the contents of `/proc/uptime` and `/proc/self/stat`.
///
/// Linux reports the start in hundredths of a second after the system's start: field 22 of `stat`, whose second field
/// is a name in parentheses that may contain any character (proc_pid_stat(5)).
fn process_age_from_proc(uptime: &str, stat: &str) -> Option<Duration> {
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let started: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    Duration::try_from_secs_f64(uptime - started / 100.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_age_is_parsed_whatever_the_process_name_contains() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1250 0 0";
        let expected = Duration::from_millis(500);
        assert_eq!(
            process_age_from_proc("13.00 20.00\n", stat),
            Some(expected),
            "a start at 12.5 s is half a second old at an uptime of 13 s"
        );
        assert_eq!(process_age_from_proc("13.00", "7 (a) S"), None, "a truncated line should be rejected");
    }
}
