//! Conditions of a measurement: versions, machine, and the load caused by other programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::clients;
use crate::process::Program;
use crate::workspace;

/// Maximum load by other programs for reliable results, as the average number of cores that they use.
const MAX_LOAD_OF_OTHER_PROGRAMS_CORES: f64 = 0.1;
/// Clock ticks per second in `/proc/stat`. The kernel uses this unit on every supported machine.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor time used by the whole machine and by the finished child processes of xtask, at one point in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessorUseSnapshot {
    at: Instant,
    machine: f64,
    ours: f64,
}

impl ProcessorUseSnapshot {
    pub(super) fn now() -> Self {
        let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
        Self {
            at: Instant::now(),
            machine: machine_busy_seconds(&read("/proc/stat")),
            ours: process_cpu_seconds(&read("/proc/self/stat")),
        }
    }

    /// Returns the average number of cores that other programs have used since `self` was recorded.
    pub(super) fn load_of_other_programs(self) -> f64 {
        let now = Self::now();
        let passed = (now.at - self.at).as_secs_f64();
        ((now.machine - self.machine) - (now.ours - self.ours)).max(0.0) / passed
    }
}

/// Returns the processor time that all cores together have spent since boot, in seconds.
fn machine_busy_seconds(stat: &str) -> f64 {
    let first = stat.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = first.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
    // The fields are user, nice, system, idle, iowait, irq, softirq and steal. Idle and iowait are not counted, and
    // guest time is already part of user.
    let counted = ticks.iter().take(8).enumerate().filter(|(place, _)| !matches!(place, 3 | 4));
    counted.map(|(_, ticks)| ticks).sum::<f64>() / TICKS_PER_SECOND
}

/// Returns the processor time of a process and of its children that have exited, in seconds.
fn process_cpu_seconds(stat: &str) -> f64 {
    // The second field is the program's name in parentheses, which may contain any character.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // utime, stime, cutime and cstime are the fields 14 to 17.
    after_name.split_whitespace().skip(11).take(4).filter_map(|word| word.parse::<f64>().ok()).sum::<f64>()
        / TICKS_PER_SECOND
}

/// Returns the versions, the machine, the Cargo profile and the load caused by other programs (`others`, in cores), one
/// text per line.
pub(super) fn measurement_condition_lines(profile: &str, core: usize, others: f64) -> Vec<String> {
    let mut facts = tool_versions();
    facts.push(format!("{} (used: core {core})", machine_description()));
    facts.push(format!(
        "cargo profile of the Rust clients and of the server: `{profile}`{}",
        cargo_profile_note(profile)
    ));
    let warning = if others > MAX_LOAD_OF_OTHER_PROGRAMS_CORES {
        ": **the machine was not quiet, times are too long**"
    } else {
        ""
    };
    facts.push(format!("all other programs used {:.0} % of one core meanwhile{warning}", others * 100.0));
    facts
}

fn cargo_profile_note(profile: &str) -> &'static str {
    match profile {
        "release" => ", as the app is released",
        "profiling" => ": **without link-time optimisation, slower than what is released**",
        _ => ": **not what is released**",
    }
}

fn tool_versions() -> Vec<String> {
    let version_of = |program: &Path| {
        Program::new(program)
            .arg("--version")
            .output()
            .map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
    };
    let locked = |file: PathBuf, before: &str, after: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
        found.map_or_else(|| "unknown".to_owned(), |(version, _)| version.to_owned())
    };
    let lockfile = workspace::root_folder().join("Cargo.lock");
    let package = |name: &str| locked(lockfile.clone(), &format!("name = \"{name}\"\nversion = \""), "\"");
    let npm = locked(
        clients::benchmark_clients_folder().join("typescript/package.json"),
        "\"@modelcontextprotocol/client\": \"",
        "\"",
    );
    let pip = locked(clients::benchmark_clients_folder().join("python/requirements.txt"), "mcp==", "\n");
    vec![
        format!("Drawbridge {}, {}", package("host"), version_of(Path::new("rustc"))),
        format!("rmcp {} and reqwest {}", package("rmcp"), package("reqwest")),
        format!("@modelcontextprotocol/client {npm} on Node.js {}", version_of(Path::new("node"))),
        format!("mcp {pip} on {}", version_of(&clients::venv_python_path())),
    ]
}

/// Returns the processor model, the number of cores and the kernel version of the machine as text.
pub(super) fn machine_description() -> String {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = processors.lines().filter(|line| line.starts_with("processor")).count();
    let model = model.map_or("unknown processor", |(_, model)| model);
    format!("{model}, {cores} cores, Linux {}", read("/proc/sys/kernel/osrelease").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_not_counted_as_busy() {
        let stat = "cpu  100 20 30 99999 88888 4 5 6 70 80\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let busy = machine_busy_seconds(stat);
        assert!(
            (busy - 1.65).abs() < 1e-9,
            "user, nice, system, interrupts and steal of all cores should be added: {busy}"
        );
    }

    #[test]
    fn time_of_child_processes_is_counted() {
        let stat = "42 (a) b) S 1 42 42 0 -1 4194304 100 200 0 0 10 20 300 400 20 0 1 0 5000";
        let ours = process_cpu_seconds(stat);
        assert!((ours - 7.3).abs() < 1e-9, "utime, stime, cutime and cstime should be added: {ours}");
    }

    #[test]
    fn busy_machine_and_other_profile_are_noted() {
        let text = measurement_condition_lines("profiling", 1, 0.5).join("\n");
        assert!(
            text.contains("50 % of one core meanwhile: **the machine was not quiet"),
            "the load should be reported: {text}"
        );
        assert!(text.contains("`profiling`: **without link-time"), "the profile should be reported: {text}");
        let text = measurement_condition_lines("release", 1, 0.02).join("\n");
        assert!(!text.contains("**"), "there should be no warning: {text}");
    }
}
