//! The clients that are compared: how each is built, installed and started.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::step;
use crate::{node, workspace};

/// A client, which is a column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// The bare limit: transfers bytes without a client.
    Bare,
    /// The client of Drawbridge.
    Drawbridge,
    /// The Rust SDK on several threads.
    Rmcp,
    /// The Rust SDK on one thread.
    RmcpOneThread,
    /// The Rust SDK on one thread, with an HTTP client that keeps connections.
    RmcpPooled,
    /// The official TypeScript SDK.
    #[value(name = "typescript")]
    TypeScript,
    /// The official Python SDK.
    Python,
}

impl Client {
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

    /// Returns `true` if the client differs from the other ones over this transport.
    pub(super) const fn runs(self, http: bool) -> bool {
        http || !matches!(self, Self::RmcpPooled)
    }

    /// Returns the program, and the arguments before the scenario.
    pub(super) fn command(self, profile: &str) -> (PathBuf, Vec<String>) {
        let script = |path: &str| vec![peers().join(path).to_string_lossy().into_owned()];
        match self {
            Self::Bare => (binary(profile, "bench-bare"), Vec::new()),
            Self::Drawbridge => (binary(profile, "bench-client"), Vec::new()),
            Self::Rmcp => (binary(profile, "bench-peer-rmcp"), Vec::new()),
            Self::RmcpOneThread => (binary(profile, "bench-peer-rmcp"), vec!["--current-thread".to_owned()]),
            Self::RmcpPooled => {
                (binary(profile, "bench-peer-rmcp"), vec!["--current-thread".to_owned(), "--pooled".to_owned()])
            }
            // Its warnings about its own listeners, thousands of lines, are not part of the measurement.
            Self::TypeScript => {
                (PathBuf::from("node"), [vec!["--no-warnings".to_owned()], script("typescript/client.mjs")].concat())
            }
            Self::Python => (python(), script("python/client.py")),
        }
    }
}

/// The server that all are measured against.
pub(super) fn server(profile: &str) -> PathBuf {
    binary(profile, "bench-server")
}

fn binary(profile: &str, name: &str) -> PathBuf {
    // The folder of this profile has another name.
    workspace::binary(if profile == "dev" { "debug" } else { profile }, name)
}

/// The folder of the clients of other SDKs.
pub(super) fn peers() -> PathBuf {
    workspace::tests().join("bench/peers")
}

fn venv() -> PathBuf {
    workspace::target().join("venv-bench")
}

/// The Python that has the SDK.
pub(super) fn python() -> PathBuf {
    venv().join("bin/python")
}

/// Builds and installs the clients. Returns the ones that could not be installed, with the cause.
pub(super) fn prepare(clients: &[Client], profile: &str) -> Result<Vec<(Client, String)>, Problem> {
    step(&format!("building the clients and the server in profile {profile} (some minutes)"));
    let mut build = cargo().dir(workspace::root()).args(["build", "--profile", profile, "-p", "bench"]);
    build = build.args(["--bin", "bench-server", "--bin", "bench-client", "--bin", "bench-bare"]);
    if clients.iter().any(|client| client.is_rmcp()) {
        build = build.args(["-p", "bench-peer-rmcp", "--bin", "bench-peer-rmcp"]);
    }
    build.run()?;
    let mut missing = Vec::new();
    for client in clients {
        let installed = match client {
            Client::TypeScript => {
                node::check().and_then(|()| node::install(&peers().join("typescript"), &mut Program::run))
            }
            Client::Python => install_python(),
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

fn install_python() -> Result<(), Problem> {
    let requirements = peers().join("python/requirements.txt");
    let stamp = workspace::target_folder("stamps")?.join("bench-requirements.txt");
    node::once_per_content(&requirements, &stamp, python().exists(), || {
        step("installing the Python SDK into target/venv-bench");
        Program::new("python3").args(["-m", "venv", "--clear"]).arg(venv()).run()?;
        let pip = Program::new(python()).args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-r"]);
        pip.arg(&requirements).run()
    })
}
