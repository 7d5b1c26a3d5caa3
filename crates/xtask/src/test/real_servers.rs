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
    for folder in [tests.clone(), tests.join("interop/bundle")] {
        node::install(&folder, &mut |program| log.run(program))?;
    }
    let venv = workspace::target().join("venv");
    install_python_servers(log, "requirements.txt", &venv)?;
    let old = workspace::target().join("venv-old");
    install_python_servers(log, "requirements-old.txt", &old)?;
    rust::build_all(log)?;
    step("interop: talking to the real servers, and writing what they can into tests/interop/MATRIX.md");
    let modules = tests.join("node_modules").to_string_lossy().into_owned();
    let (venv, old) = (venv.to_string_lossy(), old.to_string_lossy());
    let places = [("INTEROP_NODE_MODULES", &*modules), ("INTEROP_VENV", &*venv), ("INTEROP_VENV_OLD", &*old)];
    rust::suite(log, "interop", &[&places[..], &[("INTEROP_WRITE_MATRIX", "yes")]].concat())?;
    Ok(Done::Ran)
}

/// Installs what a list of requirements names into an environment of its own.
fn install_python_servers(log: &mut Log, requirements: &str, venv: &Path) -> Result<(), Problem> {
    let stamp = workspace::target_folder("stamps")?.join(requirements);
    let requirements = workspace::tests().join("interop").join(requirements);
    let binaries = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    node::once_per_content(&requirements, &stamp, binaries.exists(), || {
        step(&format!("installing the servers from PyPI into {}", venv.display()));
        let python = if cfg!(windows) { "python" } else { "python3" };
        log.run(Program::new(python).args(["-m", "venv", "--clear"]).arg(venv))?;
        let pip = Program::new(binaries.join("python")).args(["-m", "pip", "install", "--disable-pip-version-check"]);
        log.run(pip.args(["--quiet", "-r"]).arg(&requirements))
    })
}
