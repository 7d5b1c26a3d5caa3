//! What the user has configured and approved: how a local server is started.
//!
//! [`ServerCommand`] brings together what the modules below it know by parts. What they do for a whole command is here: looking up its
//! program, planning its sandbox, reading its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::code::{CommandLine, LaunchFiles, scripts_named};
use crate::programs::{CommandNotFound, SearchPath, default_directory, same_name};
use crate::sandbox::{Plan, Sandbox, SandboxError};

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
        self.working_directory.clone().or_else(own).unwrap_or_else(default_directory)
    }
}

impl SearchPath {
    /// The program's file. A bare name is looked up here, or on the PATH configured for the
    /// command; anything with a separator is a path that starts at the working directory.
    ///
    /// # Errors
    /// [`CommandNotFound`] when there is no such file or it may not be executed.
    pub fn resolve(&self, command: &ServerCommand) -> Result<PathBuf, CommandNotFound> {
        self.of_command(command).find(&command.program, &command.directory())
    }

    /// The folders that this command itself searches: those of the PATH that is configured for it, else these. Relative ones start at its
    /// working directory.
    #[must_use]
    pub fn of_command(&self, command: &ServerCommand) -> SearchPath {
        let configured = command.environment.iter().find(|(name, _)| same_name(name, "PATH"));
        configured.map_or_else(|| self.clone(), |(_, path)| self.replaced_by(path, &command.directory()))
    }
}

impl Plan {
    /// Finds out whether and how `program`, which was found for the command, can be held. Changes nothing. None if the command
    /// has no sandbox.
    ///
    /// # Errors
    /// [`SandboxError`], if it can't be held as it was asked for.
    pub async fn make(
        command: &ServerCommand,
        program: &Path,
        path: &SearchPath,
    ) -> Result<Option<Plan>, SandboxError> {
        let Some(sandbox) = &command.sandbox else { return Ok(None) };
        let directory = command.working_directory.as_deref();
        let scripts = scripts_named(&command.arguments, &command.directory());
        Plan::of(sandbox, directory, program, &scripts, path, &path.of_command(command)).await.map(Some)
    }
}

impl LaunchFiles {
    /// The files of this command, whose program was found here. Reads from the disk.
    #[must_use]
    pub fn of(command: &ServerCommand, program: &Path, path: &SearchPath) -> LaunchFiles {
        let line = CommandLine {
            arguments: &command.arguments,
            environment: &command.environment,
            directory: command.directory(),
        };
        LaunchFiles::read(&line, program, &path.of_command(command))
    }
}
