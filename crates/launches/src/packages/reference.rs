//! The package in a command line. Used by the parsers of each launcher's command line, by the lookup, and by `host`.

use super::PackageVersion;

/// A program that loads a package and runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// The command `npx` of npm.
    Npx,
    /// The command `npm exec`.
    NpmExec,
    /// The command `uvx` of uv.
    Uvx,
    /// The command `uv tool run`.
    UvToolRun,
    /// The command `docker run`.
    Docker,
    /// The command `podman run`.
    Podman,
    /// The command `dnx` of .NET.
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

    /// Returns the name of the program that looks up packages. It is installed next to the launcher.
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

/// The package in a command line, and the position of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageReference {
    /// Launcher that loads the package.
    pub launcher: Launcher,
    /// Name of the package, without version.
    pub name: String,
    /// Version, range or tag. Empty if the command line contains none.
    pub wanted: String,
    /// Additional arguments for the package manager's lookup.
    pub options: Vec<String>,
    /// Other packages on the command line.
    pub unpinned: Vec<String>,
    /// Index of the argument that names the package.
    pub(super) at: usize,
    /// Text before the name in that argument.
    pub(super) prefix: String,
    /// Extras to install, in brackets. Empty if there are none.
    pub(super) extras: String,
    /// Set if an option names the package, so that the program to run is named separately.
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

    /// Returns the arguments that run exactly this version.
    pub fn pinned_args(&self, args: &[String], version: &PackageVersion) -> Vec<String> {
        let mut pinned = args.to_vec();
        if let Some(argument) = pinned.get_mut(self.at) {
            *argument = format!("{}{}", self.prefix, version.argument);
        }
        pinned
    }

    /// Returns the arguments without the version. They are the same for every version of the package.
    pub fn unversioned_args(&self, args: &[String]) -> Vec<String> {
        let mut unversioned = args.to_vec();
        if let Some(argument) = unversioned.get_mut(self.at) {
            *argument = format!("{}{}", self.prefix, self.name);
        }
        unversioned
    }
}
