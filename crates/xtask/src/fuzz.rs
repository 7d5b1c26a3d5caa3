//! `cargo xtask fuzz`: the readers of foreign bytes under libFuzzer, or on stable Rust over their corpora and mutations of them.
//!
//! libFuzzer needs a nightly toolchain and cargo-fuzz (`cargo install cargo-fuzz`). Where either is missing the replay in
//! `tests/fuzz/targets/tests/replay.rs` runs the same functions. `cargo xtask test` calls [`drive`].

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::node::RunWith;
use crate::problem::Problem;
use crate::process::{Program, Running, answers, cargo};
use crate::progress::step;
use crate::workspace;

/// Targets that run at the same time: one for each processor of a small machine.
const AT_ONCE: usize = 2;
/// The time for each target under libFuzzer where nobody says otherwise. Longer runs belong to a night, not to each change.
const SECONDS: u64 = 30;
/// The time of the replay where nobody says otherwise.
const REPLAY_SECONDS: u64 = 2;
/// Beside the time for the target: the corpus is read, and the last input ends.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// The longest input, in bytes; the readers' own limits are larger and have tests of their own.
const LONGEST: &str = "-max_len=8192";
/// No reader takes so much memory at once for such an input, nor so much in all.
const MEMORY: [&str; 2] = ["-malloc_limit_mb=64", "-rss_limit_mb=1024"];
/// An input that takes longer, in seconds, is a finding.
const SLOW: &str = "-timeout=10";

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Only these targets, as sse
    targets: Vec<String>,
    /// For how long each target runs
    #[arg(long)]
    seconds: Option<u64>,
    /// Replays the corpora and mutations of them, also where libFuzzer is there
    #[arg(long)]
    stable: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Problem> {
    if options.stable || !has_libfuzzer() {
        step("fuzz: replaying on stable Rust (libFuzzer needs a nightly toolchain and cargo-fuzz)");
        let seconds = options.seconds.unwrap_or(REPLAY_SECONDS).to_string();
        let tests = cargo().dir(workspace::root()).args(["test", "-p", "fuzz-targets", "--test", "replay", "--"]);
        let tests = tests.args(["--test-threads=1", "--nocapture"]).args(&options.targets);
        return tests.env("FUZZ_SECONDS", seconds).run();
    }
    drive(options, &mut Program::run, &mut |line| {
        println!("{line}");
        Ok(())
    })
}

/// Whether libFuzzer can be used here.
pub(crate) fn has_libfuzzer() -> bool {
    cfg!(unix) && answers("rustup", &["run", "nightly", "cargo", "fuzz", "--version"])
}

/// Builds the programs and runs them; `say` gets one line for each and the numbers at the end.
pub(crate) fn drive(
    options: &Options,
    run: RunWith,
    say: &mut dyn FnMut(&str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let folder = workspace::target_folder("fuzz")?;
    let known = targets()?;
    if let Some(unknown) = options.targets.iter().find(|name| !known.contains(name)) {
        return Err(Problem::Machine(format!("there is no target {unknown}; there are {}", known.join(", "))));
    }
    let chosen = |name: &String| options.targets.is_empty() || options.targets.contains(name);
    let mut waiting: Vec<String> = known.into_iter().filter(chosen).collect();
    let (count, seconds) = (waiting.len(), options.seconds.unwrap_or(SECONDS));
    step("fuzz: building the targets for libFuzzer");
    run(cargo_fuzz("build", &folder))?;
    step(&format!("fuzz: {count} targets, {seconds} s each, {AT_ONCE} at once"));
    let limit = Duration::from_secs(seconds) + PATIENCE;
    let (mut under_way, mut passed) = (Vec::new(), 0);
    waiting.reverse();
    loop {
        while under_way.len() < AT_ONCE
            && let Some(name) = waiting.pop()
        {
            under_way.push((start(&name, &folder, seconds)?, name));
        }
        if under_way.is_empty() {
            break;
        }
        let (running, name) = under_way.remove(0);
        match running.finish(limit) {
            Ok(()) => {
                passed += 1;
                say(&format!("{name}: nothing found"))?;
            }
            Err(Problem::Interrupted) => return Err(Problem::Interrupted),
            Err(problem) => {
                say(&format!("{name}: {problem}; {} says more", log(&folder, &name).display()))?;
            }
        }
    }
    say(&format!("{passed} passed, {} failed", count - passed))?;
    if passed == count { Ok(()) } else { Err(Problem::ChecksFailed) }
}

/// The names of all targets, which are those of the programs.
fn targets() -> Result<Vec<String>, Problem> {
    let folder = workspace::tests().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Problem::file(&folder))? {
        let path = entry.map_err(Problem::file(&folder))?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

fn cargo_fuzz(task: &str, folder: &Path) -> Program {
    let program = Program::new("rustup").args(["run", "nightly", "cargo", "fuzz", task, "--fuzz-dir", "tests/fuzz"]);
    // The readers have no unsafe code, so a sanitizer of memory would only make each run slower.
    program.dir(workspace::root()).args(["--sanitizer", "none", "--target-dir"]).arg(folder)
}

/// Starts one target. New inputs go to a folder of their own, so that the committed corpus stays small.
fn start(name: &str, folder: &Path, seconds: u64) -> Result<Running, Problem> {
    let found = folder.join("corpus").join(name);
    fs::create_dir_all(&found).map_err(Problem::file(&found))?;
    let path = log(folder, name);
    let file = File::create(&path).map_err(Problem::file(&path))?;
    let committed = workspace::tests().join("fuzz/corpus").join(name);
    let run = cargo_fuzz("run", folder).arg(name).args([&found, &committed]).arg("--").arg(LONGEST).args(MEMORY);
    let run = run.args([SLOW, "-print_final_stats=1"]).arg(format!("-max_total_time={seconds}"));
    run.output_to(&file).map_err(Problem::file(&path))?.start()
}

fn log(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_a_corpus() {
        let names = targets().unwrap();
        assert!(names.len() > 10, "the targets: {names:?}");
        for name in names {
            let corpus = workspace::tests().join("fuzz/corpus").join(&name);
            assert!(fs::read_dir(corpus).unwrap().count() > 3, "{name} begins with seeds");
        }
    }

    #[test]
    fn an_unknown_target_is_named_before_anything_is_built() {
        let options = Options { targets: vec!["moon".to_owned()], ..Options::default() };
        let ended = drive(&options, &mut |_| panic!("nothing is built"), &mut |_| Ok(()));
        assert!(ended.unwrap_err().to_string().contains("there is no target moon"), "the name is told");
    }
}
