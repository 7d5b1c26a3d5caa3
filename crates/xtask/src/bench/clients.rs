//! MCP clients that `cargo xtask bench compare` measures: how each is built, installed and started.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::print_step;
use crate::{node, workspace};

/// MCP client that `bench compare` measures, shown as a column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum BenchClient {
    /// Lower bound: a program that transfers the same bytes without an MCP client.
    Bare,
    /// Drawbridge's own client, `mcp-transport`.
    Drawbridge,
    /// The Rust SDK (rmcp) on several threads.
    Rmcp,
    /// The Rust SDK (rmcp) on one thread.
    RmcpOneThread,
    /// The Rust SDK (rmcp) on one thread, with an HTTP client that reuses connections.
    RmcpPooled,
    /// The official TypeScript SDK.
    #[value(name = "typescript")]
    TypeScript,
    /// The official Python SDK.
    Python,
}

impl BenchClient {
    pub(super) const ALL: [Self; 7] = [
        Self::Bare,
        Self::Drawbridge,
        Self::Rmcp,
        Self::RmcpOneThread,
        Self::RmcpPooled,
        Self::TypeScript,
        Self::Python,
    ];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Drawbridge => "Drawbridge",
            Self::Rmcp => "rmcp",
            Self::RmcpOneThread => "rmcp, one thread",
            Self::RmcpPooled => "rmcp, one thread, pooled",
            Self::TypeScript => "TypeScript",
            Self::Python => "Python",
        }
    }

    pub(super) const fn is_rmcp(self) -> bool {
        matches!(self, Self::Rmcp | Self::RmcpOneThread | Self::RmcpPooled)
    }

    /// Returns `true` if this client is measured over HTTP (if `http` is set) or over stdio. A client is skipped if it
    /// differs from another one only in the other transport.
    pub(super) const fn is_measured_over(self, http: bool) -> bool {
        http || !matches!(self, Self::RmcpPooled)
    }

    /// Returns the path of the client's program, and the arguments that precede the name of the scenario.
    pub(super) fn command(self, profile: &str) -> (PathBuf, Vec<String>) {
        let script = |path: &str| vec![benchmark_clients_folder().join(path).to_string_lossy().into_owned()];
        match self {
            Self::Bare => (benchmark_binary_path(profile, "bench-bare"), Vec::new()),
            Self::Drawbridge => (benchmark_binary_path(profile, "bench-client"), Vec::new()),
            Self::Rmcp => (benchmark_binary_path(profile, "bench-peer-rmcp"), Vec::new()),
            Self::RmcpOneThread => {
                (benchmark_binary_path(profile, "bench-peer-rmcp"), vec!["--current-thread".to_owned()])
            }
            Self::RmcpPooled => (
                benchmark_binary_path(profile, "bench-peer-rmcp"),
                vec!["--current-thread".to_owned(), "--pooled".to_owned()],
            ),
            // Node.js prints thousands of warnings about event listeners of the SDK, which would affect the
            // measurement.
            Self::TypeScript => {
                (PathBuf::from("node"), [vec!["--no-warnings".to_owned()], script("typescript/client.mjs")].concat())
            }
            Self::Python => (venv_python_path(), script("python/client.py")),
        }
    }
}

/// Returns the path of the MCP server that all clients are measured against.
pub(super) fn benchmark_server_path(profile: &str) -> PathBuf {
    benchmark_binary_path(profile, "bench-server")
}

fn benchmark_binary_path(profile: &str, name: &str) -> PathBuf {
    // Cargo writes the output of the profile `dev` to the folder `debug`.
    workspace::binary_path(if profile == "dev" { "debug" } else { profile }, name)
}

/// Returns the folder with the benchmark clients that use other SDKs.
pub(super) fn benchmark_clients_folder() -> PathBuf {
    workspace::tests_folder().join("bench/peers")
}

fn python_venv_folder() -> PathBuf {
    workspace::target_directory().join("venv-bench")
}

/// Returns the path of the Python interpreter whose environment contains the Python SDK.
pub(super) fn venv_python_path() -> PathBuf {
    python_venv_folder().join("bin/python")
}

/// Builds and installs the clients. Returns the clients whose installation failed, each with the cause.
pub(super) fn install_benchmark_clients(
    clients: &[BenchClient],
    profile: &str,
) -> Result<Vec<(BenchClient, String)>, Problem> {
    print_step(&format!("building the clients and the server in profile {profile} (some minutes)"));
    let mut build = cargo().dir(workspace::root_folder()).args(["build", "--profile", profile, "-p", "bench"]);
    build = build.args(["--bin", "bench-server", "--bin", "bench-client", "--bin", "bench-bare"]);
    if clients.iter().any(|client| client.is_rmcp()) {
        build = build.args(["-p", "bench-peer-rmcp", "--bin", "bench-peer-rmcp"]);
    }
    build.run()?;
    let mut missing = Vec::new();
    for client in clients {
        let installed = match client {
            BenchClient::TypeScript => node::check_node_version().and_then(|()| {
                node::install_packages(&benchmark_clients_folder().join("typescript"), &mut Program::run)
            }),
            BenchClient::Python => install_python_sdk(),
            _ => Ok(()),
        };
        match installed {
            Ok(()) => {}
            Err(Problem::Interrupted) => return Err(Problem::Interrupted),
            Err(problem) => missing.push((*client, format!("it could not be installed: {problem}"))),
        }
    }
    Ok(missing)
}

fn install_python_sdk() -> Result<(), Problem> {
    let requirements = benchmark_clients_folder().join("python/requirements.txt");
    let stamp = workspace::create_folder_in_target("stamps")?.join("bench-requirements.txt");
    node::run_unless_file_is_unchanged(&requirements, &stamp, venv_python_path().exists(), || {
        print_step("installing the Python SDK into target/venv-bench");
        Program::new("python3").args(["-m", "venv", "--clear"]).arg(python_venv_folder()).run()?;
        let pip = Program::new(venv_python_path()).args([
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            "--quiet",
            "-r",
        ]);
        pip.arg(&requirements).run()
    })
}
