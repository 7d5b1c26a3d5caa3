//! `cargo xtask hostile`: runs attacks on the host, the page and the window, and prints a table of the results.

mod cases;
mod outside;
mod peers;
mod table;
mod units;

use std::env;
use std::fs;
use std::path::Path;

use clap::Args;

use self::cases::{AttackTarget, HostileCase};
use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::print_step;
use crate::screen::VirtualScreen;
use crate::{desktop_app, node, workspace};

#[derive(Args)]
pub(crate) struct HostileOptions {
    /// Run only these cases, such as X41
    cases: Vec<String>,
    /// Also run the attacks on a client of the Rust SDK with default settings, where applicable
    #[arg(long)]
    compare: bool,
    /// Seed of an earlier run, to repeat its random values
    #[arg(long)]
    seed: Option<u64>,
    /// Skip the attacks on the page (tests/page, in Chromium) and on the real window (tests/desktop, under Xvfb)
    #[arg(long)]
    no_page: bool,
    /// Attack an optimized build of the host, with the time limits of a release
    #[arg(long)]
    optimized: bool,
}

pub(crate) fn run(options: &HostileOptions) -> Result<(), Problem> {
    let known = cases::read_hostile_cases()?;
    if let Some(unknown) = options.cases.iter().find(|id| known.iter().all(|case| case.id != **id)) {
        return Err(Problem::Machine(format!("there is no case {unknown}; they are in tests/hostile/cases.tsv")));
    }
    let cases: Vec<&HostileCase> =
        known.iter().filter(|case| options.cases.is_empty() || options.cases.contains(&case.id)).collect();
    let folder = workspace::create_folder_in_target("hostile")?;
    let seed = options.seed.unwrap_or_else(seed_from_clock);
    print_step(&format!("what varies, varies by --seed {seed}"));
    let omitted: &[AttackTarget] = match options.no_page {
        true => &[AttackTarget::Page, AttackTarget::Window],
        false if cfg!(target_os = "linux") => &[],
        false => &[AttackTarget::Window],
    };
    let (mut rows, mut ended) = (Vec::new(), Ok(()));
    // Results are written if all scenarios run. Otherwise they are compared with the committed table.
    let lines = outside::covers_all_cases(&known, &options.cases).then(|| folder.join("results.lines"));
    if let Some(lines) = &lines {
        fs::write(lines, "").map_err(Problem::file_error(lines))?;
    }
    for target in AttackTarget::ALL.into_iter().filter(|target| !omitted.contains(target)) {
        let ids: Vec<&str> =
            cases.iter().filter(|case| case.targets.contains(&target)).map(|case| case.id.as_str()).collect();
        if ids.is_empty() {
            continue;
        }
        let file = folder.join(format!("{}.jsonl", target.name()));
        fs::write(&file, "").map_err(Problem::file_error(&file))?;
        // If no cases are named, all tests run, including those without a case.
        let only = if options.cases.is_empty() { Vec::new() } else { ids };
        let outcome = match target {
            AttackTarget::Host => run_cases_on_host(&only, options.optimized, &file, (seed, lines.as_deref())),
            AttackTarget::Page => run_cases_on_page(&only, &file, seed),
            AttackTarget::Unit => units::run_cases_in_unit_tests(&only, &file),
            AttackTarget::Window => run_all_cases_on_window(&file),
        };
        fail_unless_tests_ran(&outcome)?;
        rows.extend(table::read_attack_results(&file, target)?);
        ended = ended.and(outcome);
    }
    let others = if options.compare { peers::attack_other_client(&options.cases)? } else { Vec::new() };
    let mut text = table::attack_result_table(&cases, &rows, &others);
    for case in cases.iter().filter(|case| case.targets.iter().any(|target| omitted.contains(target))) {
        text.push_str(&format!("{} was partly skipped: the page or the window.\n", case.id));
    }
    text.push_str(if options.optimized { OPTIMIZED_BUILD_NOTE } else { DEBUG_BUILD_NOTE });
    println!("{text}");
    let file = folder.join("table.md");
    fs::write(&file, &text).map_err(Problem::file_error(&file))?;
    println!("The table is in {}", file.display());
    if let Some(lines) = &lines {
        outside::write_results(lines, &known)?;
    }
    let lacks = table::failed_and_untried_attacks(&cases, &rows, omitted);
    if !lacks.is_empty() {
        return Err(Problem::Machine(format!("not all was withstood:\n{}", lacks.join("\n"))));
    }
    ended.map_err(|_| Problem::ChecksFailed)
}

/// Note below the table of results that states the time limits for an optimized build of the host.
const OPTIMIZED_BUILD_NOTE: &str =
    "The host was built for speed: X31 had 200 ms, X37 had 2 s, X24 asked 50,000 times.\n";
const DEBUG_BUILD_NOTE: &str = "The host was built for tests: what has to fail at once had more time (X31 2 s, X37 15 s), and X24 asked \
                     5,000 times; --optimized holds to what a release must.\n";

/// Returns an error if the run was interrupted or a program could not be started. Failed tests are not an error, since
/// the table reports them.
fn fail_unless_tests_ran(outcome: &Result<(), Problem>) -> Result<(), Problem> {
    match outcome {
        Err(Problem::Interrupted) => Err(Problem::Interrupted),
        Err(Problem::Start { program, .. }) => Err(Problem::Machine(format!("{program} could not be started"))),
        _ => Ok(()),
    }
}

/// Runs the attacks on the host: the cases in `only`, or all cases if `only` is empty.
fn run_cases_on_host(
    only: &[&str],
    optimized: bool,
    result_file: &Path,
    (seed, lines): (u64, Option<&Path>),
) -> Result<(), Problem> {
    print_step("attacks on the host: real processes and sockets (some minutes)");
    let has_nextest = cargo().args(["nextest", "--version"]).output().is_ok();
    let runner: &[&str] =
        if has_nextest { &["nextest", "run", "--profile", "ci"] } else { &["test", "--no-fail-fast"] };
    let mut tests = program_with_attack_seed(
        cargo().dir(workspace::root_folder()).args(runner).args(["-p", "hostile"]),
        result_file,
        seed,
    );
    if let Some(lines) = lines {
        tests = tests.env(outside::RESULTS_FILE_VARIABLE, lines);
    }
    if optimized {
        // The tests look for these programs in the output folder of their own profile.
        let servers = ["build", "--profile", "profiling", "-p", "testkit", "-p", "demo-server"];
        cargo().dir(workspace::root_folder()).args(servers).run()?;
        tests = tests.args([if has_nextest { "--cargo-profile" } else { "--profile" }, "profiling"]);
    }
    if !has_nextest {
        tests = tests.arg("--");
    }
    // The name of a test begins with the identifier of its case.
    tests.args(only.iter().map(|id| id.to_lowercase())).run()
}

/// Runs the attacks on the page in Chromium: the cases in `only`, or all cases if `only` is empty.
fn run_cases_on_page(only: &[&str], result_file: &Path, seed: u64) -> Result<(), Problem> {
    print_step("attacks on the page in Chromium");
    let tests = workspace::tests_folder();
    node::check_node_version()?;
    node::install_packages(&tests, &mut Program::run)?;
    node::install_packages(&workspace::ui_folder(), &mut Program::run)?;
    node::build_ui(&mut Program::run)?;
    cargo()
        .dir(workspace::root_folder())
        .args(["build", "-p", "dev-host", "-p", "demo-server", "-p", "testkit"])
        .run()?;
    let mut call = node::npx(&tests).args(["playwright", "test", "-c", "page/playwright.config.ts", "hostile"]);
    if !only.is_empty() {
        call = call.args(["--grep", &only.join("|")]);
    }
    program_with_attack_seed(call, result_file, seed).run()
}

/// Groups of the tests of the real desktop window that contain attacks.
const WINDOW_TEST_PARTS_WITH_ATTACKS: [&str; 3] = ["sandbox", "apps", "stalled"];

/// Runs all attacks on the real desktop window.
fn run_all_cases_on_window(result_file: &Path) -> Result<(), Problem> {
    print_step("attacks on the real window");
    node::install_packages(&workspace::tests_folder(), &mut Program::run)?;
    node::install_packages(&workspace::ui_folder(), &mut Program::run)?;
    node::build_ui(&mut Program::run)?;
    desktop_app::desktop_app_build_command(desktop_app::DEBUG_PROFILE).run()?;
    let screen = VirtualScreen::start()?;
    let script = workspace::tests_folder().join("desktop/run.mjs");
    for part in WINDOW_TEST_PARTS_WITH_ATTACKS {
        let walk = screen.program(Path::new("node")).arg(&script).arg(part).dir(workspace::root_folder());
        walk.env("HOSTILE_TABLE", result_file).run()?;
    }
    Ok(())
}

fn program_with_attack_seed(program: Program, result_file: &Path, seed: u64) -> Program {
    program
        .env("HOSTILE_TABLE", result_file)
        .env("HOSTILE_SEED", seed.to_string())
        .env("HOSTILE_CANARY", format!("canary-{:016x}", seed.rotate_left(17)))
}

/// Returns a seed from the current time, which only has to differ between runs.
fn seed_from_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| u64::from(now.subsec_nanos()) ^ now.as_secs() << 20) ^ u64::from(env::args().count() as u32)
}
