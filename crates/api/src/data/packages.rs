//! Packages that launchers such as `npx` load.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Package that a launcher such as `npx` would load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoadedPackage {
    /// Launcher, as written on the command line.
    pub launcher: String,
    /// Package named in the settings, if it could be parsed.
    pub name: Option<String>,
    /// Version, range or tag in the settings, or `None` if they name none.
    pub wanted: Option<String>,
    /// Version that would run, or `None` if it is unknown.
    pub version: Option<PackageVersion>,
    /// Reason why the version is unknown.
    pub unknown: Option<UnknownPackage>,
    /// Version that was approved last, if another one would run.
    pub before: Option<PackageVersion>,
    /// `true` if the registry offers different files for the approved version.
    pub replaced: bool,
    /// Further packages of the command line, whose versions are not pinned.
    pub unpinned: Vec<String>,
    /// Command line as configured, without the resolved version.
    pub configured: String,
}

/// Version of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PackageVersion {
    /// Version, or the tag of a container image.
    pub version: String,
    /// Hash of the package's files, if the registry provides one.
    pub integrity: Option<String>,
    /// Origin of the package.
    pub source: Option<String>,
}

/// Explanation of an unknown package version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UnknownPackage {
    /// Reason why the version is unknown.
    pub reason: UnknownPackageReason,
    /// Subject of the reason, such as an option or the output of a program. May be empty.
    pub detail: String,
}

/// Reason why a package version is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UnknownPackageReason {
    /// The launcher executes a shell command line.
    ShellLine,
    /// The launcher is started by the program in the detail.
    Wrapped,
    /// The option in the detail is not known.
    Option,
    /// The detail is not a registry specifier of a name and a version.
    Specifier,
    /// The command line names several packages.
    Several,
    /// The command line names no package.
    NoPackage,
    /// Packages of this launcher can't be looked up. The detail is its name.
    Launcher,
    /// The environment variable in the detail changes which package is loaded.
    Variable,
    /// Settings in the server's folder may change which registry is used.
    ProjectSettings,
    /// A local copy at the path in the detail may run instead.
    LocalCopy,
    /// The launcher, whose path is the detail, is not on the search path.
    OffSearchPath,
    /// The package manager in the detail is missing.
    NoClient,
    /// The sandbox has no network access.
    NoNetwork,
    /// The package manager in the detail timed out.
    TimedOut,
    /// The package manager failed with the output in the detail.
    Failed,
}
