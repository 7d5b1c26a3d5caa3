//! The package in a command line. Used by the parsers of each launcher's command line, by the lookup, and by `host`.

use super::PackageVersion;

/// A program that loads a package from a registry and runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// `npx`, which npm installs.
    Npx,
    /// `npm exec`, a subcommand of npm.
    NpmExec,
    /// `uvx`, which uv installs.
    Uvx,
    /// `uv tool run`, a subcommand of uv.
    UvToolRun,
    /// `docker run`, which pulls container images.
    Docker,
    /// `podman run`, which pulls container images.
    Podman,
    /// `dnx`, which the .NET SDK installs.
    Dnx,
}

impl Launcher {
    /// Returns the program and subcommand of the launcher, as written on a command line.
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

    /// Returns the name of the program that looks up packages for this launcher. Both programs are installed in the
    /// same folder.
    pub const fn lookup_program(self) -> &'static str {
        match self {
            Self::Npx | Self::NpmExec => "npm",
            Self::Uvx | Self::UvToolRun => "uv",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Dnx => "dotnet",
        }
    }
}

/// The package that a command line names, with the position of its name in the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageReference {
    /// Launcher that loads the package.
    pub launcher: Launcher,
    /// Name of the package, without its version.
    pub name: String,
    /// Version, range or tag. Empty if the command line contains none.
    pub requested_version: String,
    /// Additional command-line arguments for the package manager when it looks up the version.
    pub options: Vec<String>,
    /// Other packages on the command line. Their versions are not fixed, so the launcher may load any.
    pub unpinned: Vec<String>,
    /// Index of the launcher's command-line argument that names the package.
    pub(super) at: usize,
    /// Text before the package name in that argument, such as an option.
    pub(super) prefix: String,
    /// Python extras of the package to install, in brackets. Empty if there are none.
    pub(super) extras: String,
    /// Set if the value of an option names the package, so that another argument names the program to run.
    pub(super) is_option: bool,
}

impl PackageReference {
    pub(super) fn new(launcher: Launcher, name: String, requested_version: String, at: usize) -> Self {
        Self {
            launcher,
            name,
            requested_version,
            options: Vec::new(),
            unpinned: Vec::new(),
            at,
            prefix: String::new(),
            extras: String::new(),
            is_option: false,
        }
    }

    /// Returns the command-line arguments, changed so that the launcher loads exactly this version of the package.
    pub fn pinned_args(&self, args: &[String], version: &PackageVersion) -> Vec<String> {
        let mut pinned = args.to_vec();
        if let Some(argument) = pinned.get_mut(self.at) {
            *argument = format!("{}{}", self.prefix, version.argument);
        }
        pinned
    }

    /// Returns the command-line arguments without the package's version. They are the same for every version of the
    /// package.
    pub fn unversioned_args(&self, args: &[String]) -> Vec<String> {
        let mut unversioned = args.to_vec();
        if let Some(argument) = unversioned.get_mut(self.at) {
            *argument = format!("{}{}", self.prefix, self.name);
        }
        unversioned
    }
}
