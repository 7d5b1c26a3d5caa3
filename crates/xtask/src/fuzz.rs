//! `cargo xtask fuzz`: runs the parsers of untrusted input with libFuzzer, or replays their corpora with mutations on
//! stable Rust.
//!
//! libFuzzer requires a nightly toolchain and cargo-fuzz (`cargo install cargo-fuzz`). If either is missing, the replay
//! in `tests/fuzz/targets/tests/replay.rs` runs the same functions. `cargo xtask test` always uses the replay, since
//! its result is deterministic. The workflow `checks` runs libFuzzer.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::problem::Problem;
use crate::process::{Program, RunningProgram, cargo, command_succeeds};
use crate::progress::print_step;
use crate::workspace;

/// Maximum number of fuzz targets that run at the same time.
const MAX_PARALLEL_TARGETS: usize = 2;
/// Default time for which libFuzzer runs each fuzz target, in seconds.
const DEFAULT_FUZZ_TARGET_SECONDS: u64 = 30;
/// Default time for which the corpus of each fuzz target is replayed, in seconds.
const DEFAULT_CORPUS_REPLAY_SECONDS: u64 = 2;
/// Time that a fuzz target has, beyond its requested duration, to read the corpus and finish its last input. A target
/// that takes longer is stopped and fails.
const FUZZ_TARGET_EXTRA_TIME: Duration = Duration::from_secs(5 * 60);
/// libFuzzer option that limits the size of an input, in bytes. The parsers' own limits are larger, and separate tests
/// cover them.
const MAX_INPUT_SIZE_OPTION: &str = "-max_len=8192";
/// libFuzzer options that limit the memory of a single allocation and of the whole process, in MB. A target that
/// exceeds one of them fails.
const MEMORY_LIMIT_OPTIONS: [&str; 2] = ["-malloc_limit_mb=64", "-rss_limit_mb=1024"];
/// libFuzzer option that limits the time for one input, in seconds. A target that exceeds it fails.
const INPUT_TIMEOUT_OPTION: &str = "-timeout=10";

/// Maximum number of lines of a failed fuzz target's panic message that are printed.
const MAX_PANIC_MESSAGE_LINES: usize = 20;

#[derive(Args, Default)]
pub(crate) struct FuzzOptions {
    /// Run only these targets, such as sse
    targets: Vec<String>,
    /// Duration for each target in seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Replay the corpora with mutations, even if libFuzzer is installed
    #[arg(long)]
    stable: bool,
    /// Fail if libFuzzer is not installed, instead of replaying
    #[arg(long, conflicts_with = "stable")]
    libfuzzer: bool,
}

pub(crate) fn run(options: &FuzzOptions) -> Result<(), Problem> {
    if options.stable || !(options.libfuzzer || has_libfuzzer()) {
        print_step("fuzz: replaying on stable Rust (libFuzzer needs a nightly toolchain and cargo-fuzz)");
        let seconds = options.seconds.unwrap_or(DEFAULT_CORPUS_REPLAY_SECONDS).to_string();
        let tests =
            cargo().dir(workspace::root_folder()).args(["test", "-p", "fuzz-targets", "--test", "replay", "--"]);
        let tests = tests.args(["--test-threads=1", "--nocapture"]).args(&options.targets);
        return tests.env("FUZZ_SECONDS", seconds).run();
    }
    run_fuzz_targets(options)
}

/// Returns `true` if libFuzzer is installed and supported on this system.
fn has_libfuzzer() -> bool {
    cfg!(unix) && command_succeeds("rustup", &["run", "nightly", "cargo", "fuzz", "--version"])
}

/// Builds the fuzz targets, runs them, and prints one line for each and the totals.
fn run_fuzz_targets(options: &FuzzOptions) -> Result<(), Problem> {
    let known = fuzz_target_names()?;
    if let Some(unknown) = options.targets.iter().find(|name| !known.contains(name)) {
        return Err(Problem::Machine(format!("there is no target {unknown}; there are {}", known.join(", "))));
    }
    let folder = workspace::create_folder_in_target("fuzz")?;
    let chosen = |name: &String| options.targets.is_empty() || options.targets.contains(name);
    let mut waiting: Vec<String> = known.into_iter().filter(chosen).collect();
    let (count, seconds) = (waiting.len(), options.seconds.unwrap_or(DEFAULT_FUZZ_TARGET_SECONDS));
    print_step("fuzz: building the targets for libFuzzer");
    cargo_fuzz_command("build", &folder).run()?;
    print_step(&format!("fuzz: {count} targets, {seconds} s each, {MAX_PARALLEL_TARGETS} at once"));
    let limit = Duration::from_secs(seconds) + FUZZ_TARGET_EXTRA_TIME;
    let (mut under_way, mut passed) = (Vec::new(), 0);
    waiting.reverse();
    loop {
        while under_way.len() < MAX_PARALLEL_TARGETS
            && let Some(name) = waiting.pop()
        {
            under_way.push((start_fuzz_target(&name, &folder, seconds)?, name));
        }
        if under_way.is_empty() {
            break;
        }
        let (running, name) = under_way.remove(0);
        match running.finish(limit) {
            Ok(()) => {
                passed += 1;
                println!("{name}: nothing found");
            }
            Err(Problem::Interrupted) => return Err(Problem::Interrupted),
            Err(problem) => {
                let path = fuzz_target_log_path(&folder, &name);
                println!("{name}: {problem}; {} says more", path.display());
                println!("{}", failure_in_fuzz_log(&fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    println!("{passed} passed, {} failed", count - passed);
    if passed == count { Ok(()) } else { Err(Problem::ChecksFailed) }
}

/// Returns the panic message and the path of the failing input from libFuzzer's log.
fn failure_in_fuzz_log(log: &str) -> String {
    let mut lines = log.lines();
    let panicked = lines.by_ref().find(|line| line.contains("panicked at"));
    let message = lines.by_ref().take_while(|line| !line.starts_with("stack backtrace")).take(MAX_PANIC_MESSAGE_LINES);
    let message: Vec<&str> = panicked.into_iter().chain(message).collect();
    let input = log.lines().filter(|line| line.contains("Test unit written to") || line.starts_with("SUMMARY"));
    message.into_iter().chain(input).collect::<Vec<_>>().join("\n")
}

/// Returns the names of all fuzz targets, which are those of the files in `tests/fuzz/fuzz_targets`.
fn fuzz_target_names() -> Result<Vec<String>, Problem> {
    let folder = workspace::tests_folder().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Problem::file_error(&folder))? {
        let path = entry.map_err(Problem::file_error(&folder))?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

fn cargo_fuzz_command(task: &str, folder: &Path) -> Program {
    let program = Program::new("rustup").args(["run", "nightly", "cargo", "fuzz", task, "--fuzz-dir", "tests/fuzz"]);
    // The parsers contain no unsafe code, so a memory sanitizer would only slow down the runs.
    program.dir(workspace::root_folder()).args(["--sanitizer", "none", "--target-dir"]).arg(folder)
}

/// Starts a fuzz target. New inputs are written to a temporary folder, so that the committed corpus stays small.
fn start_fuzz_target(name: &str, folder: &Path, seconds: u64) -> Result<RunningProgram, Problem> {
    let found = folder.join("corpus").join(name);
    fs::create_dir_all(&found).map_err(Problem::file_error(&found))?;
    let path = fuzz_target_log_path(folder, name);
    let file = File::create(&path).map_err(Problem::file_error(&path))?;
    let committed = workspace::tests_folder().join("fuzz/corpus").join(name);
    let run = cargo_fuzz_command("run", folder)
        .arg(name)
        .args([&found, &committed])
        .arg("--")
        .arg(MAX_INPUT_SIZE_OPTION)
        .args(MEMORY_LIMIT_OPTIONS);
    let run = run.args([INPUT_TIMEOUT_OPTION, "-print_final_stats=1"]).arg(format!("-max_total_time={seconds}"));
    run.output_to(&file).map_err(Problem::file_error(&path))?.start()
}

fn fuzz_target_log_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fuzz_target_has_a_corpus() {
        let names = fuzz_target_names().unwrap();
        assert!(names.len() > 10, "all targets should be listed: {names:?}");
        for name in names {
            let corpus = workspace::tests_folder().join("fuzz/corpus").join(&name);
            assert!(fs::read_dir(corpus).unwrap().count() > 3, "{name} should have a seed corpus");
        }
    }

    #[test]
    fn unknown_fuzz_target_is_reported_before_anything_is_built() {
        let options = FuzzOptions { targets: vec!["moon".to_owned()], ..FuzzOptions::default() };
        assert!(
            run_fuzz_targets(&options).unwrap_err().to_string().contains("there is no target moon"),
            "the error should name the unknown target"
        );
    }

    #[test]
    fn fuzz_failure_is_reported_with_its_location_and_input() {
        let log = "#1\tINITED\nthread '<unnamed>' panicked at form.rs:3:5:\n2 fields\nstack backtrace:\n   0: begin\n\
            ==7== ERROR: libFuzzer: deadly signal\nSUMMARY: libFuzzer: deadly signal\nartifact_prefix='a/'; Test unit written to a/crash-1";
        let expected = "thread '<unnamed>' panicked at form.rs:3:5:\n2 fields\nSUMMARY: libFuzzer: deadly signal\nartifact_prefix='a/'; Test unit written to a/crash-1";
        assert_eq!(failure_in_fuzz_log(log), expected);
    }
}
