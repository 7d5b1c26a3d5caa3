//! `cargo xtask hostile`: the attacks on the host and on the page, and a table of how they ended.

mod cases;
mod peers;
mod table;

use std::env;
use std::fs;
use std::path::Path;

use clap::Args;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::step;
use crate::{node, workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// Only these cases, as X41
    cases: Vec<String>,
    /// The same attacks on a client of the Rust SDK with its defaults, where they apply
    #[arg(long)]
    compare: bool,
    /// Varies the constants as in an earlier run
    #[arg(long)]
    seed: Option<u64>,
    /// Leaves the page out, which needs Chromium
    #[arg(long)]
    no_page: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Problem> {
    let known = cases::read()?;
    if let Some(unknown) = options.cases.iter().find(|id| known.iter().all(|case| case.id != **id)) {
        return Err(Problem::Machine(format!("there is no case {unknown}; they are in tests/hostile/cases.tsv")));
    }
    let folder = workspace::target_folder("hostile")?;
    let rows = folder.join("rows.jsonl");
    fs::write(&rows, "").map_err(Problem::file(&rows))?;
    let seed = options.seed.unwrap_or_else(any_seed);
    step(&format!("what varies, varies by --seed {seed}"));
    let host = on_the_host(options, &rows, seed);
    ends_the_run(&host)?;
    let page = if options.no_page { Ok(()) } else { on_the_page(options, &rows, seed) };
    ends_the_run(&page)?;
    let others = if options.compare { peers::attack(&options.cases)? } else { Vec::new() };
    let text = table::text(&known, &table::read(&rows)?, &others, &options.cases);
    println!("{text}");
    let file = folder.join("table.md");
    fs::write(&file, &text).map_err(Problem::file(&file))?;
    println!("The table is in {}", file.display());
    host.and(page).map_err(|_| Problem::ChecksFailed)
}

/// A test that fails is told by the table; what stops everything is not.
fn ends_the_run(outcome: &Result<(), Problem>) -> Result<(), Problem> {
    match outcome {
        Err(Problem::Interrupted) => Err(Problem::Interrupted),
        Err(Problem::Start { program, .. }) => Err(Problem::Machine(format!("{program} could not be started"))),
        _ => Ok(()),
    }
}

fn on_the_host(options: &Options, rows: &Path, seed: u64) -> Result<(), Problem> {
    step("attacks on the host: real processes and sockets (some minutes)");
    let has_nextest = cargo().args(["nextest", "--version"]).output().is_ok();
    let runner: &[&str] =
        if has_nextest { &["nextest", "run", "--profile", "ci"] } else { &["test", "--no-fail-fast"] };
    let mut tests = varied(cargo().dir(workspace::root()).args(runner).args(["-p", "hostile"]), rows, seed);
    if !has_nextest {
        tests = tests.arg("--");
    }
    // A test's name begins with the case that it tries.
    tests.args(options.cases.iter().map(|id| id.to_lowercase())).run()
}

fn on_the_page(options: &Options, rows: &Path, seed: u64) -> Result<(), Problem> {
    step("attacks on the page in Chromium");
    let tests = workspace::tests();
    node::check()?;
    node::install(&tests, &mut Program::run)?;
    node::install(&workspace::ui(), &mut Program::run)?;
    node::build_page(&mut Program::run)?;
    cargo().dir(workspace::root()).args(["build", "-p", "dev-host", "-p", "demo-server", "-p", "testkit"]).run()?;
    let mut call = node::npx(&tests).args(["playwright", "test", "-c", "page/playwright.config.ts", "hostile"]);
    if !options.cases.is_empty() {
        call = call.args(["--pass-with-no-tests", "--grep", &options.cases.join("|")]);
    }
    varied(call, rows, seed).run()
}

fn varied(program: Program, rows: &Path, seed: u64) -> Program {
    program
        .env("HOSTILE_TABLE", rows)
        .env("HOSTILE_SEED", seed.to_string())
        .env("HOSTILE_CANARY", format!("canary-{:016x}", seed.rotate_left(17)))
}

/// From the clock: it need only be another one each time.
fn any_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| u64::from(now.subsec_nanos()) ^ now.as_secs() << 20) ^ u64::from(env::args().count() as u32)
}
