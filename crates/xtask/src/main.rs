//! The build tool: `cargo xtask <task>`. Each task is a module. `cargo xtask help` lists them.
//!
//! It is a program instead of a set of shell scripts because most of it parses and compares data: the rules about the
//! code (`tidy`, more than a quarter), the tables of requirements, attacks and measurements, the result of each suite,
//! and the contents of packages. These parts have unit tests, and they run on macOS and Windows as well. Tasks that
//! only start other programs (`run`, `dev`, `check`, `soak`) are short. Possible replacements: cargo-about for
//! `dist/notices.rs`, if it supports the page's packages too; `syn` for the lexer in `tidy/rust_code.rs` and
//! `tidy/rust_paths.rs`, although it takes longer to compile than this whole crate; and a list in the README for
//! `system_packages`, which no test would check.
// A command-line tool prints, and starting other programs is all it does.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod bench;
mod check;
mod codegen;
mod conformance;
mod desktop_app;
mod dev;
mod dist;
mod fuzz;
mod hostile;
mod node;
mod problem;
mod process;
mod progress;
mod requirements;
mod run;
mod screen;
mod soak;
mod system_packages;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use problem::Problem;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Builds, runs and checks Drawbridge", version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install missing packages, build, and open the window
    Run(run::Options),
    /// Run every check and test, or only the parts named
    Test(test::Options),
    /// The fast checks: format, clippy, tidy, types of the page
    Check,
    /// Write the page's copy of the contract (ui/src/lib/api/generated.ts)
    Codegen(codegen::Options),
    /// Check the rules about files, or about commits
    Tidy(tidy::Options),
    /// Measure the app (start-up, a consent request, memory), then our client and those of other SDKs
    Bench(bench::Options),
    /// Run the official conformance suite against our client
    Conformance(conformance::Options),
    /// Each requirement of the specification with the tests that name it
    Requirements(requirements::Options),
    /// Attack the host and the page, and print how each case ended
    Hostile(hostile::Options),
    /// Feed random bytes to all parsers of untrusted input
    Fuzz(fuzz::Options),
    /// Fifty servers, random calls, and kills, for some minutes
    Soak(soak::Options),
    /// Build the packages for Linux, with checksums and the bill of materials
    Dist(dist::Options),
    /// The app with live reload of the page
    Dev(dev::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Err(problem) = process::stop_children_on_interrupt() {
        eprintln!("error: {problem}");
        return ExitCode::FAILURE;
    }
    let outcome = match arguments.task {
        Task::Run(options) => run::run(&options),
        Task::Test(options) => test::run(&options),
        Task::Check => check::run(),
        Task::Codegen(options) => codegen::run(&options),
        Task::Tidy(options) => tidy::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Conformance(options) => conformance::run(&options),
        Task::Requirements(options) => requirements::run(&options),
        Task::Hostile(options) => hostile::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Soak(options) => soak::run(&options),
        Task::Dist(options) => dist::run(&options),
        Task::Dev(options) => dev::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Problem::Interrupted) => ExitCode::from(130),
        // The part that found the problem has printed it.
        Err(Problem::ChecksFailed) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
