//! The line that a client prints: time, the process's own processor seconds, and memory.

use std::fs;
use std::io;
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde::Serialize;

use crate::scenario::Scenario;

/// What a client prints, as one line of JSON.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The scenario.
    pub scenario: String,
    /// Operations that were measured.
    pub n: usize,
    /// Wall time of them.
    pub seconds: f64,
    /// Processor time of this process in its own code, meanwhile.
    pub user_cpu_s: f64,
    /// Processor time of this process in the kernel, meanwhile.
    pub sys_cpu_s: f64,
    /// The most memory that was resident since the process began (`VmHWM`).
    pub max_rss_kb: u64,
    /// Progress notifications of the call, each counted as it came. The host passes them on in steps of 50 ms,
    /// with how many came so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<u64>,
    /// Bytes of what answers one request: its lines with their ends, or its body. Only the bare limit tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_bytes: Option<usize>,
    /// Resident memory that each session added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_per_session_kb: Option<f64>,
    /// The same, with shared pages divided among those that share them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pss_per_session_kb: Option<f64>,
}

/// A running measurement.
#[derive(Debug)]
pub struct Clock {
    began: Instant,
    user: f64,
    system: f64,
}

impl Clock {
    /// Starts the clock.
    ///
    /// # Errors
    /// If the system does not tell processor times.
    pub fn start() -> io::Result<Self> {
        let (user, system) = processor_seconds()?;
        Ok(Self { began: Instant::now(), user, system })
    }

    /// Stops the clock.
    ///
    /// # Errors
    /// If the system does not tell processor times or memory.
    pub fn stop(self, scenario: Scenario) -> io::Result<Report> {
        let seconds = self.began.elapsed().as_secs_f64();
        let (user, system) = processor_seconds()?;
        Ok(Report {
            scenario: scenario.name(),
            n: scenario.operations(),
            seconds,
            user_cpu_s: user - self.user,
            sys_cpu_s: system - self.system,
            max_rss_kb: kilobytes("/proc/self/status", "VmHWM:")?,
            counted: None,
            answer_bytes: None,
            rss_per_session_kb: None,
            pss_per_session_kb: None,
        })
    }
}

fn processor_seconds() -> io::Result<(f64, f64)> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
    Ok((seconds(usage.user_time()), seconds(usage.system_time())))
}

/// Memory of this process now.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    rss_kb: u64,
    pss_kb: u64,
}

impl Memory {
    /// Reads it.
    ///
    /// # Errors
    /// If the system does not tell it.
    pub fn now() -> io::Result<Self> {
        let file = "/proc/self/smaps_rollup";
        Ok(Self { rss_kb: kilobytes(file, "Rss:")?, pss_kb: kilobytes(file, "Pss:")? })
    }

    /// What this process has gained since then, in kilobytes of its share.
    #[must_use]
    pub fn pss_since(self, before: Self) -> f64 {
        self.pss_kb as f64 - before.pss_kb as f64
    }

    /// Says in the report how much memory each of the sessions cost that were opened since `before`.
    pub fn per_session(self, before: Self, opened: usize, report: &mut Report) {
        let each = |after: u64, before: u64| (after as f64 - before as f64) / opened as f64;
        report.rss_per_session_kb = Some(each(self.rss_kb, before.rss_kb));
        report.pss_per_session_kb = Some(each(self.pss_kb, before.pss_kb));
    }
}

/// The number behind a word in a file of /proc.
fn kilobytes(file: &str, word: &str) -> io::Result<u64> {
    let text = fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok())
        .ok_or_else(|| io::Error::other(format!("{file} does not tell {word}")))
}

impl Report {
    /// Prints it.
    ///
    /// # Errors
    /// If standard output is closed.
    pub fn print(&self) -> io::Result<()> {
        use std::io::Write as _;
        writeln!(io::stdout(), "{}", serde_json::to_string(self)?)
    }
}
