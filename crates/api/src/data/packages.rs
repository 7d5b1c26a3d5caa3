//! Packages that launchers such as `npx` download and run.

use serde::Serialize;
use ts_rs::TS;

/// Package that a launcher such as `npx` would download and run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoadedPackage {
    /// Name of the launcher, as written in the command.
    pub launcher: String,
    /// Name of the package, or `None` if the command could not be parsed.
    pub name: Option<String>,
    /// Version, version range or tag in the command, or `None` if it contains none.
    pub requested_version: Option<String>,
    /// Version that would run now, or `None` if it could not be determined.
    pub version: Option<PackageVersion>,
    /// Reason why the version could not be determined, or `None` if it could.
    pub unknown: Option<UnknownPackage>,
    /// Version that the user approved last, or `None` if the user approved none, or if the same version would run now.
    pub before: Option<PackageVersion>,
    /// `true` if the registry now offers other files for the version than those that the user approved.
    pub replaced: bool,
    /// Names of further packages in the command, whose versions are not pinned.
    pub unpinned: Vec<String>,
    /// Command line as in the settings. Drawbridge inserts the version of the package before it runs the command.
    pub configured: String,
}

/// Version of a package, with the hash and origin of its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PackageVersion {
    /// Version number, or the tag of a container image.
    pub version: String,
    /// Hash of the package's files, or `None` if the registry provides none.
    pub integrity: Option<String>,
    /// URL that the package is downloaded from, or `None` if it is unknown.
    pub source: Option<String>,
}

/// Reason why the version of a package could not be determined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UnknownPackage {
    /// Kind of the reason why the version of the package is unknown.
    pub reason: UnknownPackageReason,
    /// Detail of the reason, such as the name of an option or the output of a program. May be empty.
    pub detail: String,
}

/// Reason why the version of a package could not be determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UnknownPackageReason {
    /// The launcher runs a shell command line, which Drawbridge doesn't parse.
    ShellLine,
    /// Another program, which [`UnknownPackage::detail`] names, starts the launcher.
    Wrapped,
    /// Drawbridge does not know an option of the launcher, which [`UnknownPackage::detail`] contains.
    Option,
    /// The package specifier in [`UnknownPackage::detail`] is not a name and a version in a registry, but for example a
    /// URL or a path.
    Specifier,
    /// The command loads more than one package.
    Several,
    /// The command specifies no package to load.
    NoPackage,
    /// Drawbridge can't look up packages of the launcher that [`UnknownPackage::detail`] names.
    Launcher,
    /// The environment variable that [`UnknownPackage::detail`] names affects which package is loaded.
    Variable,
    /// Files in the server's working directory may change the registry.
    ProjectSettings,
    /// A local copy of the package, at the path in [`UnknownPackage::detail`], may run instead.
    LocalCopy,
    /// The launcher is outside of the search path for programs. [`UnknownPackage::detail`] contains its path.
    OffSearchPath,
    /// The package manager that [`UnknownPackage::detail`] names is not installed.
    NoClient,
    /// The server's sandbox has no network access.
    NoNetwork,
    /// The package manager that [`UnknownPackage::detail`] names timed out.
    TimedOut,
    /// The package manager failed. [`UnknownPackage::detail`] contains its name and output.
    Failed,
}
