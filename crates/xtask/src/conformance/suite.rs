//! Installation of the official suite and of the Node.js that it requires. Both are npm packages, pinned by
//! `tests/conformance/package-lock.json`.

use std::fs;
use std::path::{Path, PathBuf};

use super::scenarios::ScenarioRun;
use crate::node::{self, ProgramRunner};
use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::workspace;

/// Time after which the suite stops a client, in milliseconds. Drawbridge's client exits earlier.
const SCENARIO_TIMEOUT_MILLIS: &str = "30000";

/// Conformance suite that is installed in the target folder.
pub(super) struct ConformanceSuite {
    node: PathBuf,
    script: PathBuf,
}

impl ConformanceSuite {
    /// Installs the suite from its lockfile, unless it is already installed from an identical one.
    pub(super) fn install(run: ProgramRunner) -> Result<Self, Problem> {
        let folder = workspace::create_folder_in_target("conformance")?;
        let ours = workspace::tests_folder().join("conformance");
        let lockfile = ours.join("package-lock.json");
        let stamp = workspace::create_folder_in_target("stamps")?.join("conformance-package-lock.json");
        let modules = folder.join("node_modules");
        node::run_unless_file_is_unchanged(&lockfile, &stamp, modules.exists(), || {
            print_step("installing the conformance suite into target/conformance");
            for name in ["package.json", "package-lock.json"] {
                fs::copy(ours.join(name), folder.join(name)).map_err(Problem::file_error(folder.join(name)))?;
            }
            run(node::npm(&folder).args(["ci", "--no-audit", "--no-fund"]))
        })?;
        let script = modules.join("@modelcontextprotocol/conformance/dist/index.js");
        Ok(Self { node: node_path_in_npm_package(&modules).unwrap_or_else(|| "node".into()), script })
    }

    /// Returns the output of the suite's command `list --client`, which lists the scenarios.
    pub(super) fn list_scenarios(&self) -> Result<String, Problem> {
        let listed = Program::new(&self.node).arg(&self.script).args(["list", "--client"]).output();
        listed.map_err(|problem| Problem::Machine(format!("{problem}. The suite needs Node.js 22 or newer")))
    }

    /// Returns the command that runs a single scenario against a client and stores the client's output in `output`. In
    /// such a run, the suite also reports warnings, the client's exit status and timeouts.
    pub(super) fn scenario_program(&self, run: &ScenarioRun, client: &Path, output: &Path) -> Program {
        // Without `exec`, the suite would stop only the shell and wait for the client.
        let client = format!("exec {}", client.display());
        let program = Program::new(&self.node).arg(&self.script).args(["client", "--command", &client]);
        let program = program
            .args(["--scenario", &run.scenario, "--timeout", SCENARIO_TIMEOUT_MILLIS, "--verbose", "-o"])
            .arg(output);
        match run.wire {
            Some(wire) => program.args(["--spec-version", wire, "--force"]),
            None => program,
        }
    }
}

/// Returns the path of the Node.js executable in the npm package for this platform, or `None` if there is no such
/// package and the system's Node.js has to be used.
fn node_path_in_npm_package(modules: &Path) -> Option<PathBuf> {
    let system = if cfg!(windows) {
        "win"
    } else if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let folder = modules.join(format!("node-{system}-{processor}")).join("bin");
    let node = folder.join(if cfg!(windows) { "node.exe" } else { "node" });
    node.is_file().then_some(node)
}
