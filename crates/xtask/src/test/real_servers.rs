//! The part with real servers: from npm and PyPI, pinned, as they are.

use std::path::Path;

use super::log::Log;
use super::parts::Done;
use super::rust;
use crate::problem::Problem;
use crate::process::Program;
use crate::progress::step;
use crate::{node, workspace};

pub(super) fn run(log: &mut Log) -> Result<Done, Problem> {
    let tests = workspace::tests();
    node::install(&tests, &mut |program| log.run(program))?;
    let venv = workspace::target().join("venv");
    install_python_servers(log, &venv)?;
    rust::build_all(log)?;
    step("interop: talking to the real servers");
    let modules = tests.join("node_modules").to_string_lossy().into_owned();
    let venv = venv.to_string_lossy().into_owned();
    rust::package(log, "interop", &[("INTEROP_NODE_MODULES", &modules), ("INTEROP_VENV", &venv)])?;
    Ok(Done::Ran)
}

fn install_python_servers(log: &mut Log, venv: &Path) -> Result<(), Problem> {
    let requirements = workspace::tests().join("interop/requirements.txt");
    let stamp = workspace::target_folder("stamps")?.join("requirements.txt");
    let binaries = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    node::once_per_content(&requirements, &stamp, binaries.exists(), || {
        step("installing the servers from PyPI into target/venv");
        let python = if cfg!(windows) { "python" } else { "python3" };
        log.run(Program::new(python).args(["-m", "venv", "--clear"]).arg(venv))?;
        let pip = Program::new(binaries.join("python")).args(["-m", "pip", "install", "--disable-pip-version-check"]);
        log.run(pip.args(["--quiet", "-r"]).arg(&requirements))
    })
}
