//! Report of a benchmark client: time, processor time and memory.

use std::fs;
use std::io;
use std::time::Instant;

use serde::Serialize;

use crate::scenario::Scenario;

/// Report that a client prints as one line of JSON.
#[derive(Debug, Serialize)]
pub struct BenchReport {
    /// Name of the measured scenario.
    pub scenario: String,
    /// Number of operations that were measured.
    pub n: usize,
    /// Wall time of the operations, in seconds.
    pub seconds: f64,
    /// Processor time of the client process in user mode during the measurement, in seconds.
    pub user_cpu_s: f64,
    /// Processor time of the client process in the kernel during the measurement, in seconds.
    pub sys_cpu_s: f64,
    /// Peak resident memory of the client process since its start (`VmHWM`), in kilobytes.
    pub max_rss_kb: u64,
    /// Number of progress notifications that the client received during the call. Drawbridge's host reports them to its
    /// caller every 50 ms, with the number received so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<u64>,
    /// Size of the response to one request in bytes: of its lines with their line ends, or of its HTTP body. Reported
    /// only by the baseline client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_bytes: Option<usize>,
    /// Growth of the client's resident memory per open session, in kilobytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_per_session_kb: Option<f64>,
    /// Growth of the client's proportional set size (PSS) per open session, in kilobytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pss_per_session_kb: Option<f64>,
}

/// A running measurement of wall time and processor time.
#[derive(Debug)]
pub struct BenchClock {
    began: Instant,
    user: f64,
    system: f64,
}

impl BenchClock {
    /// Starts a new measurement.
    ///
    /// # Errors
    /// Returns an error if the system does not report processor times.
    pub fn start() -> io::Result<Self> {
        let (user, system) = processor_seconds()?;
        Ok(Self { began: Instant::now(), user, system })
    }

    /// Stops the measurement and returns its report.
    ///
    /// # Errors
    /// Returns an error if the system does not report processor times or memory.
    pub fn stop(self, scenario: Scenario) -> io::Result<BenchReport> {
        let seconds = self.began.elapsed().as_secs_f64();
        let (user, system) = processor_seconds()?;
        Ok(BenchReport {
            scenario: scenario.name(),
            n: scenario.operation_count(),
            seconds,
            user_cpu_s: user - self.user,
            sys_cpu_s: system - self.system,
            max_rss_kb: read_kilobytes("/proc/self/status", "VmHWM:")?,
            counted: None,
            answer_bytes: None,
            rss_per_session_kb: None,
            pss_per_session_kb: None,
        })
    }
}

/// Returns the processor time of this process in user mode and in the kernel, in seconds.
#[cfg(unix)]
fn processor_seconds() -> io::Result<(f64, f64)> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;

    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
    Ok((seconds(usage.user_time()), seconds(usage.system_time())))
}

#[cfg(not(unix))]
fn processor_seconds() -> io::Result<(f64, f64)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Memory of this process at one point in time.
#[derive(Debug, Clone, Copy)]
pub struct ProcessMemory {
    rss_kb: u64,
    pss_kb: u64,
}

impl ProcessMemory {
    /// Measures the current memory of this process.
    ///
    /// # Errors
    /// Returns an error if the system does not report it.
    pub fn measure() -> io::Result<Self> {
        let file = "/proc/self/smaps_rollup";
        Ok(Self { rss_kb: read_kilobytes(file, "Rss:")?, pss_kb: read_kilobytes(file, "Pss:")? })
    }

    /// Returns the growth of the proportional set size (PSS) since `before`, in kilobytes.
    #[must_use]
    pub fn pss_since(self, before: Self) -> f64 {
        self.pss_kb as f64 - before.pss_kb as f64
    }

    /// Adds the memory per session to the report: the growth since `before`, divided by `opened`, the number of
    /// sessions opened since then.
    pub fn add_memory_per_session(self, before: Self, opened: usize, report: &mut BenchReport) {
        let each = |after: u64, before: u64| (after as f64 - before as f64) / opened as f64;
        report.rss_per_session_kb = Some(each(self.rss_kb, before.rss_kb));
        report.pss_per_session_kb = Some(each(self.pss_kb, before.pss_kb));
    }
}

/// Returns the number of kilobytes that follows the label `word` in a file of `/proc`.
fn read_kilobytes(file: &str, word: &str) -> io::Result<u64> {
    let text = fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok())
        .ok_or_else(|| io::Error::other(format!("{file} has no value of {word}")))
}

impl BenchReport {
    /// Prints the report on standard output.
    ///
    /// # Errors
    /// Returns an error if standard output is closed.
    pub fn print(&self) -> io::Result<()> {
        use std::io::Write as _;
        writeln!(io::stdout(), "{}", serde_json::to_string(self)?)
    }
}
