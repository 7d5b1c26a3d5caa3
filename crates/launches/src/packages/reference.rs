//! A package as a command line names it. Callers: the readers of each launcher's command lines, the look-up, and `host`.

use super::PackageVersion;

/// A program that loads a package and runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// `npx`.
    Npx,
    /// `npm exec`.
    NpmExec,
    /// `uvx`.
    Uvx,
    /// `uv tool run`.
    UvToolRun,
    /// `docker run`.
    Docker,
    /// `podman run`.
    Podman,
    /// `dnx`.
    Dnx,
}

impl Launcher {
    /// As it is written on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Npx => "npx",
            Self::NpmExec => "npm exec",
            Self::Uvx => "uvx",
            Self::UvToolRun => "uv tool run",
            Self::Docker => "docker run",
            Self::Podman => "podman run",
            Self::Dnx => "dnx",
        }
    }

    /// The program that is asked for versions. It lies beside the launcher.
    pub const fn client(self) -> &'static str {
        match self {
            Self::Npx | Self::NpmExec => "npm",
            Self::Uvx | Self::UvToolRun => "uv",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Dnx => "dotnet",
        }
    }
}

/// A package as a command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageReference {
    /// The launcher that loads it.
    pub launcher: Launcher,
    /// Its name, without a version.
    pub name: String,
    /// The version, range or tag; empty if there is none.
    pub wanted: String,
    /// Further arguments for the package manager.
    pub options: Vec<String>,
    /// Further packages, as they are named.
    pub unpinned: Vec<String>,
    /// The argument that names it.
    pub(super) at: usize,
    /// The text before it in that argument.
    pub(super) prefix: String,
    /// Parts of it that are to be installed; empty, or in brackets.
    pub(super) extras: String,
    /// Set if an option names it, beside the program to run.
    pub(super) is_option: bool,
}

impl PackageReference {
    pub(super) fn new(launcher: Launcher, name: String, wanted: String, at: usize) -> Self {
        Self {
            launcher,
            name,
            wanted,
            options: Vec::new(),
            unpinned: Vec::new(),
            at,
            prefix: String::new(),
            extras: String::new(),
            is_option: false,
        }
    }

    /// The arguments with which exactly this version is run.
    pub fn pinned(&self, args: &[String], version: &PackageVersion) -> Vec<String> {
        let mut pinned = args.to_vec();
        if let Some(argument) = pinned.get_mut(self.at) {
            *argument = format!("{}{}", self.prefix, version.argument);
        }
        pinned
    }

    /// The arguments without the version, so that each version of the package has the same.
    pub fn unversioned(&self, args: &[String]) -> Vec<String> {
        let mut unversioned = args.to_vec();
        if let Some(argument) = unversioned.get_mut(self.at) {
            *argument = format!("{}{}", self.prefix, self.name);
        }
        unversioned
    }
}
