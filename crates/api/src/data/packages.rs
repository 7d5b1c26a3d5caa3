//! Packages that launchers load.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The package that a launcher such as `npx` would load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LoadedPackage {
    /// The launcher, as it is written on a command line.
    pub launcher: String,
    /// The package that the settings name, if it could be read.
    pub name: Option<String>,
    /// The version, range or tag that the settings name; none if they name none.
    pub wanted: Option<String>,
    /// The version that would run; none if it is not known.
    pub version: Option<PackageVersion>,
    /// Why the version is not known.
    pub unknown: Option<UnknownPackage>,
    /// The version that was approved last, if another one would run.
    pub before: Option<PackageVersion>,
    /// The registry offers other files for the version that was approved.
    pub replaced: bool,
    /// Further packages of the command line, whose versions are not pinned.
    pub unpinned: Vec<String>,
    /// The command line as the settings have it, without the version that was looked up.
    pub configured: String,
}

/// A version of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PackageVersion {
    /// The version; of an image its tag.
    pub version: String,
    /// The hash of its files, if the registry tells one.
    pub integrity: Option<String>,
    /// Where it comes from.
    pub source: Option<String>,
}

/// Why it is not known which version of a package would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UnknownPackage {
    /// The reason.
    pub reason: UnknownReason,
    /// Its subject, such as an option or a program's own words; may be empty.
    pub detail: String,
}

/// Why a version is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// The launcher runs a line of a shell.
    ShellLine,
    /// The launcher is started by the program in the detail.
    Wrapped,
    /// The option in the detail is not known.
    Option,
    /// The detail is no name and version in a registry.
    Specifier,
    /// Several packages are named.
    Several,
    /// No package is named.
    NoPackage,
    /// Packages of the launcher in the detail can't be looked up.
    Launcher,
    /// The variable in the detail changes what is loaded.
    Variable,
    /// Settings in the server's folder may change which registry is asked.
    ProjectSettings,
    /// A copy at the path in the detail may run instead.
    LocalCopy,
    /// The launcher, whose path is the detail, is not on the search path.
    OffSearchPath,
    /// The package manager in the detail is missing.
    NoClient,
    /// The sandbox has no network.
    NoNetwork,
    /// The package manager in the detail took too long.
    TimedOut,
    /// The package manager failed, with the words in the detail.
    Failed,
}
