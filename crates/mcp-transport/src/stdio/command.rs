//! What the user has configured and approved: how a local server is started.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::launch_files::LaunchFiles;
use crate::sandbox::{Plan, Sandbox};

/// A program with its arguments. It is started as it stands here, never through a shell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerCommand {
    /// A bare name that is looked up on the search path, or a path. A relative path starts at
    /// the working directory.
    pub program: String,
    /// Arguments, one by one, not split or expanded any further.
    pub arguments: Vec<String>,
    /// Variables added to the small environment that every server gets. They win over it.
    pub environment: BTreeMap<String, String>,
    /// Where the server runs; its home folder when not given.
    pub working_directory: Option<PathBuf>,
    /// What it may reach; none if all that its user may.
    pub sandbox: Option<Sandbox>,
    /// The sandbox as it was approved. One that has become another by the start is not carried out.
    pub approved: Option<Plan>,
    /// The files that it runs as they were approved. One that has changed by the start is not run.
    pub files: Option<LaunchFiles>,
}

impl ServerCommand {
    /// The folder the server will run in.
    pub fn directory(&self) -> PathBuf {
        let own = || self.sandbox.as_ref().map(|sandbox| sandbox.home.clone());
        self.working_directory.clone().or_else(own).or_else(std::env::home_dir).unwrap_or_else(std::env::temp_dir)
    }
}
