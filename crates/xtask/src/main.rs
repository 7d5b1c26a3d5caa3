//! Development tasks: `cargo xtask <task>`. Each task is a module, and `cargo xtask help` lists them.
//!
//! The tasks are a Rust program instead of shell scripts because most of them parse and compare data: the rules for the
//! code (`tidy`, more than a quarter of the crate), the tables of requirements, attacks and measurements, the results
//! of test suites, and the contents of packages. These parts have unit tests and also run on macOS and Windows. Tasks
//! that only start other programs (`run`, `dev`, `check`, `soak`) are short.
//!
//! Possible replacements: cargo-about for `dist/notices.rs`, if it supports the page's npm packages; `syn` for the
//! lexer in `tidy/rust_code.rs` and `tidy/rust_paths.rs`, although it takes longer to compile than this crate; and a
//! list in the README for `system_packages`, which could not be tested.
// Printing and starting other programs are the purpose of this command-line tool.
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
mod shared_build;
mod soak;
mod system_packages;
mod test;
mod test_names;
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
    /// Install missing packages, build the app, and open its window
    Run(run::RunOptions),
    /// Run all checks and tests, or only the named parts
    Test(test::TestOptions),
    /// Run the fast checks: format, clippy, tidy, generated types
    Check,
    /// Generate the page's types from the API (ui/src/lib/api/generated.ts)
    Codegen(codegen::CodegenOptions),
    /// Check the rules for files, or for commits
    Tidy(tidy::TidyOptions),
    /// Measure the app and its MCP client, and compare the client with other SDKs
    Bench(bench::BenchOptions),
    /// Run the official conformance suite against Drawbridge's client
    Conformance(conformance::ConformanceOptions),
    /// List the requirements of the specification with the tests that cover them
    Requirements(requirements::RequirementsOptions),
    /// Attack the host and the page, and print the result of each case
    Hostile(hostile::HostileOptions),
    /// Fuzz all parsers of untrusted input
    Fuzz(fuzz::FuzzOptions),
    /// Run fifty servers with random calls and kills for some minutes
    Soak(soak::SoakOptions),
    /// Build the packages for Linux, with checksums and SBOM files
    Dist(dist::DistOptions),
    /// Start the app with live reload of the page
    Dev(dev::DevOptions),
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
        // The findings were already printed by the task.
        Err(Problem::ChecksFailed) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
