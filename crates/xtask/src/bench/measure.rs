//! Runs a benchmark client, pinned to the same core as the server and with a timeout, and reports the cause if it
//! fails.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::clients::{self, BenchClient};
use super::rows::BenchmarkRow;
use crate::problem::Problem;
use crate::process::{self, Program, RunningProgram};
use crate::workspace;

/// Maximum duration of one run of a client. The slowest client needs about ten seconds for its slowest row on a quiet
/// machine.
const CLIENT_RUN_TIMEOUT: Duration = Duration::from_secs(180);
/// Maximum time for reading the remaining output of a client that has exited.
const REMAINING_OUTPUT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of output lines of a failed client that are shown, and maximum number of characters of each line.
const MAX_REPORTED_OUTPUT_LINES_AND_CHARS: (usize, usize) = (6, 300);

/// Conditions that are the same for all runs: the processor core and the Cargo profile.
#[derive(Debug, Clone)]
pub(super) struct MeasurementConditions {
    /// Number of the processor core on which client and server run.
    pub(super) core: usize,
    /// Cargo profile of the Rust clients and of the server.
    pub(super) profile: String,
}

/// Measurements that a client reports. A field is `None` if the scenario does not measure it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ClientReport {
    /// Wall time in seconds.
    pub(super) seconds: f64,
    /// Processor time of the client in user mode and in the kernel, in seconds.
    pub(super) processor: f64,
    /// Peak resident memory of the client, in MiB.
    pub(super) megabytes: f64,
    /// Number of progress notifications that the client received.
    pub(super) counted: Option<f64>,
    /// Resident memory (RSS) of each idle session, in KiB.
    pub(super) session_rss: Option<f64>,
    /// Proportional set size (PSS) of each idle session, in KiB.
    pub(super) session_pss: Option<f64>,
    /// Size of the response to a request, in bytes.
    pub(super) answer_bytes: Option<f64>,
}

impl MeasurementConditions {
    /// Returns an error with a suggested remedy if this system can't pin programs to the selected core.
    pub(super) fn check_core_pinning(&self) -> Result<(), Problem> {
        let core = self.core.to_string();
        if !process::command_succeeds("taskset", &["--version"]) {
            return Err(Problem::Machine(
                "taskset was not found on the PATH: client and server have to share one core. It is part of util-linux, \
                 and this comparison runs on Linux only"
                    .to_owned(),
            ));
        }
        if !process::command_succeeds("taskset", &["-c", &core, "true"]) {
            return Err(Problem::Machine(format!(
                "taskset cannot pin a program to core {core}. Name one that is there: --core 0"
            )));
        }
        Ok(())
    }

    /// Runs a client once with the scenario of a row, and returns its report.
    pub(super) fn measure(&self, client: BenchClient, row: BenchmarkRow) -> Result<ClientReport, Problem> {
        let (program, first) = client.command(&self.profile);
        let program = self.pinned_program().arg(program).args(first).arg(row.scenario);
        let text = if row.is_http() {
            let (_server, url) = self.start_http_server(client, row)?;
            run_and_capture(program.args(["--url", &url]))?
        } else {
            run_and_capture(program.arg("--server").arg(clients::benchmark_server_path(&self.profile)))?
        };
        let line = text.lines().last().unwrap_or_default();
        parse_report(line).ok_or_else(|| Problem::Machine(format!("it did not report what it measured, but: {line:?}")))
    }

    fn pinned_program(&self) -> Program {
        // A server that the client starts inherits the pinning to the core.
        Program::new("taskset").args(["-c", &self.core.to_string()])
    }

    /// Starts the HTTP server that a client is measured against. The server is stopped when the returned
    /// [`RunningProgram`] is dropped.
    fn start_http_server(&self, client: BenchClient, row: BenchmarkRow) -> Result<(RunningProgram, String), Problem> {
        let mode = if client == BenchClient::Bare { "http-bare" } else { "http" };
        let answers = if row.scenario == "http-seq-sse" { "sse" } else { "json" };
        let server =
            self.pinned_program().arg(clients::benchmark_server_path(&self.profile)).args([mode, "--answers", answers]);
        let mut running = server.with_piped_stdout().start()?;
        let mut url = String::new();
        if let Some(stdout) = running.take_stdout() {
            BufReader::new(stdout).read_line(&mut url).map_err(Problem::file_error("bench-server"))?;
        }
        match url.trim() {
            "" => Err(Problem::Machine("bench-server ended before it printed its URL".to_owned())),
            url => Ok((running, url.to_owned())),
        }
    }
}

/// Returns the complete standard output of a program. The error of a failed program contains its standard error.
fn run_and_capture(program: Program) -> Result<String, Problem> {
    let log = workspace::create_folder_in_target("bench")?.join("compare.log");
    let errors = File::create(&log).map_err(Problem::file_error(&log))?;
    let mut running = program.stderr_to(&errors).map_err(Problem::file_error(&log))?.with_piped_stdout().start()?;
    let (sender, words) = mpsc::channel();
    if let Some(mut stdout) = running.take_stdout() {
        thread::spawn(move || {
            let mut text = Vec::new();
            // On a read error, the output that was read before is used. Sending fails if the caller has stopped
            // waiting.
            let _ = stdout.read_to_end(&mut text);
            let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
        });
    }
    match running.finish(CLIENT_RUN_TIMEOUT) {
        Ok(()) => Ok(words.recv_timeout(REMAINING_OUTPUT_TIMEOUT).unwrap_or_default()),
        Err(Problem::Interrupted) => Err(Problem::Interrupted),
        Err(problem) => {
            let text = fs::read(&log).map_err(Problem::file_error(&log))?;
            let cause = format!("{problem}{}", last_output_lines(&String::from_utf8_lossy(&text)));
            // Paths in the table are relative to the repository, so that they do not depend on the machine.
            Err(Problem::Machine(cause.replace(&format!("{}/", workspace::root_folder().display()), "")))
        }
    }
}

/// Returns the last lines of a text that contain letters, each preceded by a line break.
fn last_output_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(char::is_alphabetic)).collect();
    let first = lines.len().saturating_sub(MAX_REPORTED_OUTPUT_LINES_AND_CHARS.0);
    lines[first..]
        .iter()
        .map(|line| format!("\n{}", line.chars().take(MAX_REPORTED_OUTPUT_LINES_AND_CHARS.1).collect::<String>()))
        .collect()
}

fn parse_report(line: &str) -> Option<ClientReport> {
    let value: Value = serde_json::from_str(line).ok()?;
    let number = |key: &str| value.get(key)?.as_f64();
    Some(ClientReport {
        seconds: number("seconds")?,
        processor: number("user_cpu_s")? + number("sys_cpu_s")?,
        megabytes: number("max_rss_kb")? / 1024.0,
        counted: number("counted"),
        session_rss: number("rss_per_session_kb"),
        session_pss: number("pss_per_session_kb"),
        answer_bytes: number("answer_bytes"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_without_one_of_its_numbers_is_rejected() {
        let whole =
            r#"{"scenario":"stdio-seq","n":1,"seconds":2.5,"user_cpu_s":1.0,"sys_cpu_s":0.5,"max_rss_kb":2048}"#;
        let expected = ClientReport { seconds: 2.5, processor: 1.5, megabytes: 2.0, ..ClientReport::default() };
        assert_eq!(parse_report(whole), Some(expected), "user and system time should be added, and kB converted to MB");
        assert_eq!(parse_report(&whole.replace("max_rss_kb", "rss")), None, "a missing number should not be zero");
        assert_eq!(parse_report("Warning: something"), None, "other output should not be a report");
    }

    #[test]
    fn cause_of_a_failure_is_the_last_output() {
        let script = "echo started; echo first >&2; echo 'Error: no such module' >&2; echo '+----' >&2; exit 3";
        let problem = run_and_capture(Program::new("sh").args(["-c", script])).expect_err("it fails").to_string();
        assert!(problem.contains("exit status: 3"), "the error should contain the exit status: {problem}");
        assert!(
            problem.ends_with("first\nError: no such module"),
            "the error should contain the output without escape sequences: {problem}"
        );
    }
}
