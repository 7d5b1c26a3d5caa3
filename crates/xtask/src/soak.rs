//! `cargo xtask soak`: runs fifty servers with random calls and kills for some minutes. The test is
//! `tests/soak/run.mjs`.

use clap::Args;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::print_step;
use crate::{node, workspace};

#[derive(Args)]
pub(crate) struct SoakOptions {
    /// Duration of the test in minutes
    #[arg(long, default_value_t = 5)]
    minutes: u32,
    /// Seed of an earlier run, to repeat its random choices
    #[arg(long)]
    seed: Option<u32>,
}

pub(crate) fn run(options: &SoakOptions) -> Result<(), Problem> {
    if !cfg!(target_os = "linux") {
        return Err(Problem::Machine("the soak reads processes from /proc, so it runs on Linux only".into()));
    }
    node::check_node_version()?;
    print_step("building the host and the servers");
    let build = cargo().dir(workspace::root_folder()).args(["build", "-p", "dev-host", "-p", "testkit"]);
    build.args(["--bin", "dev-host", "--bin", "scripted-server"]).run()?;
    let script = workspace::tests_folder().join("soak/run.mjs");
    let program = Program::new("node").arg(script).arg(options.minutes.to_string());
    match options.seed {
        Some(seed) => program.arg(seed.to_string()).run(),
        None => program.run(),
    }
}
