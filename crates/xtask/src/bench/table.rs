//! The tables of what was measured, as Markdown.

use std::fmt::Write as _;
use std::fs;

use super::clients::Client;

/// One row: a scenario, and the goal as ratios to the bare limit and to the best of rmcp, in wall time (memory for idle
/// sessions).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    pub(super) scenario: &'static str,
    meaning: &'static str,
    to_bare: f64,
    to_rmcp: f64,
}

const fn row(scenario: &'static str, meaning: &'static str, to_bare: f64, to_rmcp: f64) -> Row {
    Row { scenario, meaning, to_bare, to_rmcp }
}

pub(super) const ROWS: [Row; 9] = [
    row("stdio-seq", "stdio, 5,000 echo calls one by one", 2.25, 0.5),
    row("stdio-64", "stdio, 20,000 echo calls, 64 in flight", 7.5, 0.36),
    row("stdio-list-5000", "stdio, a list of 5,000 tools, 20 times", 10.0, 0.2),
    row("stdio-big-10MB", "stdio, an image of 10 MB, 5 times", 1.33, 0.53),
    row("stdio-progress-10000", "stdio, one call with 10,000 progress notifications", 10.0, 0.37),
    row("http-seq-json", "HTTP, 2,000 calls, JSON answers", 1.5, 0.67),
    row("http-seq-sse", "HTTP, 2,000 calls, SSE answers", 1.5, 0.65),
    row("http-64", "HTTP, 5,000 calls, 64 in flight", 1.5, 0.72),
    row("idle-200", "200 idle stdio sessions, PSS of each", 2.3, 0.62),
];

impl Row {
    pub(super) fn is_http(self) -> bool {
        self.scenario.starts_with("http")
    }

    fn is_idle(self) -> bool {
        self.scenario == "idle-200"
    }
}

/// The middle of the rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) row: Row,
    pub(super) client: Client,
    pub(super) seconds: f64,
    /// Of the client's own process.
    pub(super) processor: f64,
    pub(super) megabytes: f64,
    pub(super) counted: f64,
    pub(super) session_kb: f64,
}

impl Measured {
    /// What the row is about.
    fn value(&self) -> f64 {
        if self.row.is_idle() { self.session_kb } else { self.seconds }
    }
}

/// The whole document.
pub(super) fn document(measured: &[Measured], versions: &[String], rounds: usize) -> String {
    let mut text = String::from("# How fast the client is\n\n");
    text.push_str("Written by `cargo xtask bench compare`. ");
    text.push_str("Every client is measured against `bench-server`, on one core that both share. ");
    let _ = writeln!(text, "{rounds} interleaved rounds; the median counts.\n");
    for line in versions.iter().chain(&machine()) {
        let _ = writeln!(text, "- {line}");
    }
    text.push_str("\nA ratio in brackets is its goal. An `rmcp` ratio is to the best of its columns.\n");
    section(&mut text, "Wall time (seconds; for idle sessions kB of memory)", measured, Measured::value);
    ratios(&mut text, measured);
    section(&mut text, "The client's own processor time (seconds)", measured, |one| one.processor);
    section(&mut text, "Peak resident memory (MB)", measured, |one| one.megabytes);
    let lost = measured.iter().filter(|one| one.counted < 10_000.0);
    let lost: Vec<String> = lost.map(|one| format!("{} counted {}", one.client.title(), one.counted)).collect();
    if !lost.is_empty() {
        let _ = writeln!(text, "\nOf 10,000 progress notifications: {}.", lost.join(", "));
    }
    text
}

fn rows(measured: &[Measured]) -> Vec<Row> {
    ROWS.into_iter().filter(|row| measured.iter().any(|one| one.row == *row)).collect()
}

fn section(text: &mut String, title: &str, measured: &[Measured], value: impl Fn(&Measured) -> f64) {
    let columns: Vec<Client> =
        Client::ALL.into_iter().filter(|client| measured.iter().any(|one| one.client == *client)).collect();
    let _ = write!(text, "\n## {title}\n\n| |");
    for client in &columns {
        let _ = write!(text, " {} |", client.title());
    }
    let _ = writeln!(text, "\n|---|{}", "--:|".repeat(columns.len()));
    for row in rows(measured) {
        let _ = write!(text, "| {} |", row.meaning);
        for client in &columns {
            match measured.iter().find(|one| one.row == row && one.client == *client) {
                Some(one) => {
                    let _ = write!(text, " {} |", shown(value(one)));
                }
                None => text.push_str(" |"),
            }
        }
        text.push('\n');
    }
}

fn ratios(text: &mut String, measured: &[Measured]) {
    text.push_str("\n## Drawbridge to the others\n\n| | to bare | to rmcp |\n|---|--:|--:|\n");
    for row in rows(measured) {
        let value = |wanted: &dyn Fn(Client) -> bool| {
            let found = measured.iter().filter(|one| one.row == row && wanted(one.client)).map(Measured::value);
            found.fold(f64::NAN, f64::min)
        };
        let ours = value(&|client| client == Client::Drawbridge);
        let bare = ours / value(&|client| client == Client::Bare);
        let rmcp = ours / value(&Client::is_rmcp);
        let _ = writeln!(text, "| {} | {bare:.2} ({:.2}) | {rmcp:.2} ({:.2}) |", row.meaning, row.to_bare, row.to_rmcp);
    }
}

/// Three figures that mean something.
fn shown(value: f64) -> String {
    match value {
        value if value.is_nan() => "–".to_owned(),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.4}"),
    }
}

/// The machine, as far as it tells.
fn machine() -> Vec<String> {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = processors.lines().filter(|line| line.starts_with("processor")).count();
    let model = model.map_or("unknown processor", |(_, model)| model);
    let load = read("/proc/loadavg");
    let load = load.split(' ').nth(1).unwrap_or("unknown");
    vec![
        format!("{model}, {cores} cores, Linux {}", read("/proc/sys/kernel/osrelease").trim()),
        format!("load of the machine over the last five minutes, at the end: {load}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(row: Row, client: Client, seconds: f64) -> Measured {
        Measured { row, client, seconds, processor: 0.5, megabytes: 10.0, counted: f64::NAN, session_kb: f64::NAN }
    }

    #[test]
    fn ratios_are_to_the_bare_limit_and_to_the_best_of_rmcp() {
        let row = ROWS[0];
        let all = [
            measured(row, Client::Bare, 1.0),
            measured(row, Client::Drawbridge, 3.0),
            measured(row, Client::Rmcp, 9.0),
            measured(row, Client::RmcpOneThread, 6.0),
        ];
        let text = document(&all, &[], 3);
        assert!(text.contains("| 3.00 (2.25) | 0.50 (0.50) |"), "3 to 1, and 3 to 6: {text}");
    }

    #[test]
    fn what_was_not_measured_is_no_zero() {
        assert_eq!(shown(f64::NAN), "–", "a gap is shown as one");
        assert_eq!(shown(0.0271), "0.0271", "small times keep their digits");
    }

    #[test]
    fn lost_notifications_are_said() {
        let lost = Measured { counted: 9_906.0, ..measured(ROWS[4], Client::TypeScript, 1.0) };
        assert!(
            document(&[lost], &[], 1).contains("TypeScript counted 9906"),
            "what a client loses is in the document"
        );
    }
}
