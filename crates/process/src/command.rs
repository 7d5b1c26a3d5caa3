//! The command of a local server, with the settings that the user configured and the state that the user approved.
//!
//! [`ServerCommand`] combines types of other modules. Operations on a whole command are here: resolving its program,
//! planning its sandbox, and reading its launch files (the files that decide what it runs).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::code::{CommandLine, LaunchFiles, scripts_in_arguments};
use crate::programs::{CommandNotFound, SearchPath, default_working_directory, is_same_environment_variable_name};
use crate::sandbox::{ResolvedSandbox, SandboxError, SandboxSettings};

/// The command of a local server: a program with its arguments, which is started directly and never through a shell,
/// and the settings for its start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerCommand {
    /// Name of the program, looked up on the search path, or a path. A relative path starts at the working directory.
    pub program: String,
    /// Arguments of the program, without its name. They are neither split nor expanded.
    pub arguments: Vec<String>,
    /// Environment variables in addition to the default environment of servers. They override variables of the same
    /// name.
    pub environment: BTreeMap<String, String>,
    /// Working directory of the server. `None` stands for the home of its sandbox, or else the user's home folder.
    pub working_directory: Option<PathBuf>,
    /// Sandbox of the server, or `None` to run it with all permissions of the user.
    pub sandbox: Option<SandboxSettings>,
    /// The sandbox plan (mechanism and accessible paths) that the user approved. If a plan made again at the start
    /// differs from it, the start fails.
    pub approved: Option<ResolvedSandbox>,
    /// The files that decide what the command runs, in the state that the user approved. If one of them has changed at
    /// the start, the start fails.
    pub files: Option<LaunchFiles>,
}

impl ServerCommand {
    /// Returns the configured working directory of the server, or else the home of its sandbox, or else the user's home
    /// folder.
    pub fn directory(&self) -> PathBuf {
        let own = || self.sandbox.as_ref().map(|sandbox| sandbox.home.clone());
        self.working_directory.clone().or_else(own).unwrap_or_else(default_working_directory)
    }
}

impl SearchPath {
    /// Returns the path of the command's program. A bare name is looked up on the `PATH` configured for the command, or
    /// else on this search path. A name with a separator is a path relative to the working directory.
    ///
    /// # Errors
    /// Returns [`CommandNotFound`] if the file does not exist or is not executable.
    pub fn resolve(&self, command: &ServerCommand) -> Result<PathBuf, CommandNotFound> {
        self.for_command(command).find(&command.program, &command.directory())
    }

    /// Returns the search path on which this command's program is looked up: the `PATH` configured for the command, or
    /// else `self`. Relative folders in it are resolved against the command's working directory.
    #[must_use]
    pub fn for_command(&self, command: &ServerCommand) -> SearchPath {
        let configured = command.environment.iter().find(|(name, _)| is_same_environment_variable_name(name, "PATH"));
        configured.map_or_else(|| self.clone(), |(_, path)| self.with_path_variable(path, &command.directory()))
    }
}

impl ResolvedSandbox {
    /// Determines the mechanism and the accessible paths of the command's sandbox, without changing any file. `program`
    /// is the resolved path of the command's program. Returns `None` if the command has no sandbox.
    ///
    /// # Errors
    /// Returns [`SandboxError`] if the requested sandbox can't be enforced.
    pub async fn for_command(
        command: &ServerCommand,
        program: &Path,
        path: &SearchPath,
    ) -> Result<Option<ResolvedSandbox>, SandboxError> {
        let Some(sandbox) = &command.sandbox else { return Ok(None) };
        let directory = command.working_directory.as_deref();
        let scripts = scripts_in_arguments(&command.arguments, &command.directory());
        ResolvedSandbox::resolve(sandbox, directory, program, &scripts, path, &path.for_command(command))
            .await
            .map(Some)
    }
}

impl LaunchFiles {
    /// Reads from disk the files that decide what this command runs. `program` is the resolved path of its program.
    #[must_use]
    pub fn for_command(command: &ServerCommand, program: &Path, path: &SearchPath) -> LaunchFiles {
        let line = CommandLine {
            arguments: &command.arguments,
            environment: &command.environment,
            directory: command.directory(),
        };
        LaunchFiles::read(&line, program, &path.for_command(command))
    }
}
