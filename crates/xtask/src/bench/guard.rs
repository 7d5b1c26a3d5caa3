//! `cargo xtask bench guard`: counts the instructions of typical operations of Drawbridge, called steps, and compares
//! them with the committed counts in `tests/bench/instructions.tsv`. CI runs it as a part of `cargo xtask test`.
//!
//! Callgrind counts instructions instead of measuring time, but a busy machine still adds some: timers fire more often
//! during a slower step, and stopping a server examines every process of the system. Therefore each step runs in a
//! separate process namespace, and a step that seems to have grown is counted again. The lowest count is used.
//!
//! Each step runs twice with different numbers of repetitions. The start and the exit of the program occur in both runs
//! and cancel out in the difference. The programs are those of the test build: a separate build would take CI longer
//! than all measurements, and additional work appears in both builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::problem::Problem;
use crate::process::{self, Program};
use crate::progress::print_step;
use crate::system_packages::{self, SANDBOX_PACKAGES, VALGRIND_PACKAGES};
use crate::{shared_build, workspace};

#[derive(Args)]
pub(crate) struct InstructionGuardOptions {
    /// Write the counts into tests/bench/instructions.tsv, to be committed with the change that caused them
    #[arg(long)]
    write: bool,
}

/// Operation that `bench-steps` repeats, with the numbers of repetitions of its two runs.
struct RepeatedBenchStep {
    name: &'static str,
    counts: [u64; 2],
}

const MEASURED_STEPS: [RepeatedBenchStep; 5] = [
    RepeatedBenchStep { name: "call", counts: [100, 300] },
    RepeatedBenchStep { name: "list", counts: [2, 6] },
    RepeatedBenchStep { name: "start", counts: [5, 15] },
    RepeatedBenchStep { name: "decision", counts: [200, 600] },
    RepeatedBenchStep { name: "event", counts: [50, 150] },
];
/// Options of bubblewrap that create a process namespace and leave everything else unchanged.
const BUBBLEWRAP_NAMESPACE_OPTIONS: [&str; 7] =
    ["--die-with-parent", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc"];
/// Growth of the instruction count of an operation, in percent, above which the check fails until the committed count
/// is updated.
const GROWTH_TOLERANCE_PERCENT: u64 = 5;
/// Maximum number of times that the instructions of an operation are counted before it is reported as grown.
const MAX_COUNT_ATTEMPTS: usize = 3;
/// Prefix of the line in `tests/bench/instructions.tsv` that contains the compiler version.
const COMPILER_VERSION_LINE_PREFIX: &str = "# ";

/// Instruction counts of the measured operations by name, and the compiler that generated the counted instructions.
#[derive(Debug, PartialEq)]
struct InstructionCounts {
    compiler: String,
    steps: BTreeMap<String, u64>,
}

/// Result of comparing the counted instructions with the committed counts, if nothing has grown too much.
pub(crate) enum CountComparison {
    /// No operation exceeds its committed count by more than the tolerance.
    Unchanged,
    /// The committed counts are for another compiler or target, or instructions can't be counted on this system. The
    /// text is the reason.
    NotComparable(String),
}

/// Builds the measured programs, counts and prints their instructions, and compares them with the committed counts or
/// writes them.
///
/// # Errors
/// Returns a [`Problem`] if a step grew by more than the tolerance, or if a required program is missing.
pub(crate) fn run(options: &InstructionGuardOptions, yes: bool) -> Result<(), Problem> {
    system_packages::ensure_packages_are_installed(&[VALGRIND_PACKAGES, SANDBOX_PACKAGES].concat(), yes)?;
    // A selection by package would build with other features than the tests.
    let programs = ["--bin", "bench-steps", "--bin", "bench-server"];
    shared_build::cargo_with_clippy("build").args(shared_build::cargo_package_arguments()).args(programs).run()?;
    if options.write {
        fs::write(instruction_counts_file(), count_instructions(None)?.text())
            .map_err(Problem::file_error(instruction_counts_file()))?;
        println!("wrote {}", instruction_counts_file().display());
        return Ok(());
    }
    if let CountComparison::NotComparable(reason) = compare_counts(&mut |line| println!("{line}"))? {
        println!("not compared: {reason}");
    }
    Ok(())
}

/// Counts the instructions of programs that are already built, and compares them with the committed counts.
///
/// # Errors
/// Returns a [`Problem`] if a step grew by more than the tolerance, or if a required program is missing.
pub(crate) fn check_instruction_count_growth(print: &mut dyn FnMut(&str)) -> Result<CountComparison, Problem> {
    compare_counts(print)
}

fn compare_counts(print: &mut dyn FnMut(&str)) -> Result<CountComparison, Problem> {
    if !process::command_succeeds("bwrap", &[&BUBBLEWRAP_NAMESPACE_OPTIONS[..], &["true"]].concat()) {
        return Ok(CountComparison::NotComparable("this system makes no process namespace".to_owned()));
    }
    let text = fs::read_to_string(instruction_counts_file()).map_err(Problem::file_error(instruction_counts_file()))?;
    let unreadable = || Problem::Machine(format!("{} can't be read", instruction_counts_file().display()));
    let committed = InstructionCounts::parse(&text).ok_or_else(unreadable)?;
    let counted = count_instructions(Some(&committed))?;
    for line in format_table(&committed, &counted) {
        print(&line);
    }
    if committed.compiler != counted.compiler {
        let (file, here) = (&committed.compiler, &counted.compiler);
        return Ok(CountComparison::NotComparable(format!("the figures are of {file}, this is {here}")));
    }
    match describe_grown_steps(&committed, &counted).as_slice() {
        [] => Ok(CountComparison::Unchanged),
        grown => Err(Problem::Machine(format!(
            "{}; {} % are allowed. Find out why. If the step has to do more, run `cargo xtask bench guard --write` and commit \
             tests/bench/instructions.tsv with the change",
            grown.join(", "),
            GROWTH_TOLERANCE_PERCENT,
        ))),
    }
}

fn instruction_counts_file() -> PathBuf {
    workspace::tests_folder().join("bench/instructions.tsv")
}

/// Counts the instructions of each operation, and counts again if an operation exceeds its count in `committed`.
///
/// # Errors
/// Returns a [`Problem`] if a step fails.
fn count_instructions(committed: Option<&InstructionCounts>) -> Result<InstructionCounts, Problem> {
    let mut steps = BTreeMap::new();
    for RepeatedBenchStep { name, counts: [few, many] } in MEASURED_STEPS {
        let allowed = committed.and_then(|figures| figures.steps.get(name)).copied();
        let mut least = u64::MAX;
        for _ in 0..MAX_COUNT_ATTEMPTS {
            print_step(&format!("guard: {name}"));
            let difference = run_callgrind(name, many)?.saturating_sub(run_callgrind(name, few)?);
            least = least.min(difference / (many - few));
            if allowed.is_none_or(|allowed| !exceeds_tolerance(least, allowed)) {
                break;
            }
        }
        steps.insert(name.to_owned(), least);
    }
    Ok(InstructionCounts { compiler: compiler_version()?, steps })
}

/// Runs an operation under callgrind with `count` repetitions, and returns the total number of instructions of the
/// program.
fn run_callgrind(step: &str, count: u64) -> Result<u64, Problem> {
    let out = workspace::create_folder_in_target("guard")?.join(step);
    Program::new("bwrap")
        .args(BUBBLEWRAP_NAMESPACE_OPTIONS)
        .arg("valgrind")
        .args(["--quiet", "--tool=callgrind", &format!("--callgrind-out-file={}", out.display())])
        .arg(workspace::binary_path("debug", "bench-steps"))
        .args([step, &count.to_string()])
        .arg("--server")
        .arg(workspace::binary_path("debug", "bench-server"))
        .without_stderr()
        .run()?;
    let text = fs::read_to_string(&out).map_err(Problem::file_error(&out))?;
    parse_callgrind_total(&text).ok_or_else(|| Problem::Machine(format!("{} has no total", out.display())))
}

/// Returns the total in the line `summary:` or `totals:` of callgrind's output file.
fn parse_callgrind_total(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals:").or(line.strip_prefix("summary:")))?;
    line.trim().parse().ok()
}

/// Returns the version and target of the compiler, since another one generates other instructions.
fn compiler_version() -> Result<String, Problem> {
    let text = Program::new("rustc").arg("-vV").output()?;
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned();
    Ok(format!("rustc {} for {}", field("release:"), field("host:")))
}

/// Returns a description of each operation whose count grew by more than the tolerance, with its growth in percent.
fn describe_grown_steps(committed: &InstructionCounts, counted: &InstructionCounts) -> Vec<String> {
    let growth = counted.steps.iter().filter_map(|(name, now)| {
        let was = committed.steps.get(name).copied().unwrap_or(0);
        let growth = (growth_ratio(*now, was) - 1.0) * 100.0;
        exceeds_tolerance(*now, was).then(|| format!("{name} costs {now} instructions ({growth:+.1} %)"))
    });
    growth.collect()
}

fn exceeds_tolerance(now: u64, committed: u64) -> bool {
    now * 100 > committed * (100 + GROWTH_TOLERANCE_PERCENT)
}

fn format_table(committed: &InstructionCounts, counted: &InstructionCounts) -> Vec<String> {
    let line = |(name, now): (&String, &u64)| match committed.steps.get(name) {
        Some(was) => format!("{name:<10} {now:>12} instructions, {:+.1} %", (growth_ratio(*now, *was) - 1.0) * 100.0),
        None => format!("{name:<10} {now:>12} instructions, new"),
    };
    counted.steps.iter().map(line).collect()
}

#[allow(clippy::cast_precision_loss, reason = "a ratio of counts far below 2^52")]
fn growth_ratio(now: u64, was: u64) -> f64 {
    now as f64 / was as f64
}

impl InstructionCounts {
    fn parse(text: &str) -> Option<Self> {
        let compiler = text.lines().find_map(|line| line.strip_prefix(COMPILER_VERSION_LINE_PREFIX))?.to_owned();
        let steps = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let steps = steps.map(|line| {
            let (name, count) = line.split_once('\t')?;
            Some((name.to_owned(), count.parse().ok()?))
        });
        Some(Self { compiler, steps: steps.collect::<Option<_>>()? })
    }

    fn text(&self) -> String {
        let steps: String = self.steps.iter().map(|(name, count)| format!("{name}\t{count}\n")).collect();
        format!("{COMPILER_VERSION_LINE_PREFIX}{}\n{steps}", self.compiler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts_with_call_instructions(call: u64) -> InstructionCounts {
        let steps = BTreeMap::from([("call".to_owned(), call), ("list".to_owned(), 1_000)]);
        InstructionCounts { compiler: "rustc 1.95.0 for x86_64-unknown-linux-gnu".to_owned(), steps }
    }

    #[test]
    fn instruction_counts_round_trip() {
        assert_eq!(
            InstructionCounts::parse(&counts_with_call_instructions(7).text()),
            Some(counts_with_call_instructions(7)),
            "parsing the text should return the same counts"
        );
        assert_eq!(InstructionCounts::parse("call\t7\n"), None, "a file without a compiler should be rejected");
        assert_eq!(
            InstructionCounts::parse("# rustc\ncall\tmany\n"),
            None,
            "a count that is not a number should be rejected"
        );
    }

    #[test]
    fn instruction_count_may_grow_within_the_tolerance() {
        assert_eq!(
            describe_grown_steps(&counts_with_call_instructions(1_000), &counts_with_call_instructions(1_050)),
            Vec::<String>::new(),
            "growth within the tolerance should be accepted"
        );
        assert_eq!(
            describe_grown_steps(&counts_with_call_instructions(1_000), &counts_with_call_instructions(500)),
            Vec::<String>::new(),
            "a lower count should be accepted"
        );
        assert_eq!(
            describe_grown_steps(&counts_with_call_instructions(1_000), &counts_with_call_instructions(1_051)),
            ["call costs 1051 instructions (+5.1 %)"],
            "growth above the tolerance should be reported"
        );
    }

    #[test]
    fn new_step_requires_a_committed_instruction_count() {
        let committed = InstructionCounts { steps: BTreeMap::new(), ..counts_with_call_instructions(0) };
        assert_eq!(
            describe_grown_steps(&committed, &counts_with_call_instructions(9)).len(),
            2,
            "steps without a committed count should be reported"
        );
    }

    #[test]
    fn instruction_total_is_parsed_from_callgrind_output() {
        assert_eq!(
            parse_callgrind_total("events: Ir\nfn=(1) main\n1 5\n\ntotals: 1234\n"),
            Some(1234),
            "the total in the last line should be returned"
        );
        assert_eq!(parse_callgrind_total("events: Ir\n"), None, "a truncated file should have no total");
    }

    #[test]
    fn committed_counts_are_of_the_pinned_compiler() {
        let counts = InstructionCounts::parse(include_str!("../../../../tests/bench/instructions.tsv")).unwrap();
        let toolchain = include_str!("../../../../rust-toolchain.toml");
        let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = ")).unwrap().trim_matches('"');
        assert!(
            counts.compiler.starts_with(&format!("rustc {channel} ")),
            "{:?} should be counted again with {channel}, or the check is skipped",
            counts.compiler
        );
    }
}
