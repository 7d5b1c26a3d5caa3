//! The official suite and the Node.js it needs, both from npm and pinned by tests/conformance/package-lock.json.

use std::fs;
use std::path::{Path, PathBuf};

use super::scenarios::Run;
use crate::node::{self, ProgramRunner};
use crate::problem::Problem;
use crate::process::Program;
use crate::progress::step;
use crate::workspace;

/// Timeout that the suite gives a client, in milliseconds. Our client exits earlier.
const SCENARIO_TIMEOUT: &str = "30000";

/// The suite as installed below the target folder.
pub(super) struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    /// Installs it, unless that was done for this very lockfile.
    pub(super) fn install(run: ProgramRunner) -> Result<Self, Problem> {
        let folder = workspace::target_folder("conformance")?;
        let ours = workspace::tests_folder().join("conformance");
        let lockfile = ours.join("package-lock.json");
        let stamp = workspace::target_folder("stamps")?.join("conformance-package-lock.json");
        let modules = folder.join("node_modules");
        node::once_per_content(&lockfile, &stamp, modules.exists(), || {
            step("installing the conformance suite into target/conformance");
            for name in ["package.json", "package-lock.json"] {
                fs::copy(ours.join(name), folder.join(name)).map_err(Problem::file(folder.join(name)))?;
            }
            run(node::npm(&folder).args(["ci", "--no-audit", "--no-fund"]))
        })?;
        let script = modules.join("@modelcontextprotocol/conformance/dist/index.js");
        Ok(Self { node: npm_node_path(&modules).unwrap_or_else(|| "node".into()), script })
    }

    /// Returns the output of `list --client`.
    pub(super) fn list(&self) -> Result<String, Problem> {
        let listed = Program::new(&self.node).arg(&self.script).args(["list", "--client"]).output();
        listed.map_err(|problem| Problem::Machine(format!("{problem}. The suite needs Node.js 22 or newer")))
    }

    /// Returns the command that runs a single scenario against a client. Run alone, the suite also checks warnings, the
    /// client's exit status and the timeout. The client's output is stored below `output`.
    pub(super) fn scenario(&self, run: &Run, client: &Path, output: &Path) -> Program {
        // Without `exec` the suite would end only the shell, and wait for the shell's child.
        let client = format!("exec {}", client.display());
        let program = Program::new(&self.node).arg(&self.script).args(["client", "--command", &client]);
        let program =
            program.args(["--scenario", &run.scenario, "--timeout", SCENARIO_TIMEOUT, "--verbose", "-o"]).arg(output);
        match run.wire {
            Some(wire) => program.args(["--spec-version", wire, "--force"]),
            None => program,
        }
    }
}

/// The Node.js of the package for this platform. Where npm has none, the system's is used.
fn npm_node_path(modules: &Path) -> Option<PathBuf> {
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
