//! Packages that a launcher such as `npx`, `uvx` or `docker run` loads: which one a command names, which version of it
//! would run, and the command line that runs exactly this version.
//!
//! The command line is analyzed without running anything. The version is looked up by the launcher's own package
//! manager (`lookup.rs`), so that its registries, mirrors and proxies apply. A lookup uses the network before the user
//! has approved the command. Therefore it happens only after the user has requested the start, runs only a program on
//! the user's own search path, receives no secret and no variables except those that name registries, never builds or
//! runs the package, and is bounded in time and output. For a sandboxed server it runs in the same sandbox.
//!
//! The version is pinned by the command line, which names it. For images the command line names the digest, so that the
//! content is pinned as well. npm checks a package against its registry's hash on installation. Not pinned are the
//! dependencies of a package. For a start without a lookup, it isn't checked that the registry still offers the same
//! files for a version.

mod container;
mod launcher;
mod lookup;
mod npm;
mod nuget;
mod options;
mod project;
mod python;
mod reference;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use launcher::program_base_name;
pub use launcher::{LauncherPackage, launched_package};
pub use lookup::look_up_version;
pub use project::find_local_copy_of_npx_package;
pub use reference::{Launcher, PackageReference};

/// Maximum length of a package's name, version, hash or address that a package manager reports, in bytes.
const MAX_LOOKUP_TEXT_BYTES: usize = 2_000;

/// A version of a package that a registry offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageVersion {
    /// Name of the package in its registry.
    pub name: String,
    /// Version of the package. For an image, its tag.
    pub version: String,
    /// Hash of the package's files from the registry, or `None` if the registry provides none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<String>,
    /// Address from which the package is loaded, or `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Command-line argument that makes the launcher load exactly this version.
    pub argument: String,
}

impl PackageVersion {
    /// Returns `true` if `other` is the same version with different files, which means that the registry has replaced
    /// the files.
    ///
    /// A tag that refers to another image counts as another version, because the command lines differ.
    #[must_use]
    pub fn is_replaced_by(&self, other: &Self) -> bool {
        self.argument == other.argument && self.integrity != other.integrity
    }
}

/// The package that a command would load, in the form in which a consent request shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedPackage {
    /// Name of the launcher for display, such as `npx`.
    pub launcher: String,
    /// Name of the package in the settings, or `None` if it is unknown.
    pub name: Option<String>,
    /// Version, range or tag in the settings, or `None` if they contain none.
    pub requested_version: Option<String>,
    /// Other packages on the command line. Their versions are not fixed, so the launcher may load any.
    pub unpinned: Vec<String>,
    /// Version that would run, or the reason why it is unknown.
    pub found: Result<PackageVersion, UnknownPackage>,
    /// Package version that the user last approved for this server, or `None` if there was none.
    pub before: Option<PackageVersion>,
    /// Command line as the user configured it, before it was changed to name an exact version.
    pub configured: String,
}

impl LoadedPackage {
    /// Creates the description of a package that was found on a command line, with the result of looking up its
    /// version.
    pub fn new(reference: &PackageReference, found: Result<PackageVersion, UnknownPackage>) -> Self {
        Self {
            launcher: reference.launcher.name().to_owned(),
            name: Some(reference.name.clone()),
            requested_version: Some(reference.requested_version.clone()).filter(|version| !version.is_empty()),
            unpinned: reference.unpinned.clone(),
            found,
            before: None,
            configured: String::new(),
        }
    }

    /// Creates the description of a package that is unknown because of `cause`.
    pub fn unknown(launcher: String, cause: UnknownPackage) -> Self {
        Self {
            launcher,
            name: None,
            requested_version: None,
            unpinned: Vec::new(),
            found: Err(cause),
            before: None,
            configured: String::new(),
        }
    }

    /// Returns the JSON form of the package from which hashes of approvals and pins are computed.
    ///
    /// It does not include the reason why a version is unknown, because an unreachable registry fails in many ways.
    pub fn to_json(&self) -> Value {
        match &self.found {
            Ok(found) => json!({ "name": found.name, "version": found.version, "integrity": found.integrity }),
            Err(_) => json!({ "version": null }),
        }
    }
}

/// The reason why it is unknown which version of a package would run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownPackage {
    /// The launcher runs a shell command line, which is not analyzed.
    #[error("the launcher runs a line of a shell (-c)")]
    ShellLine,
    /// Another program, for instance a shell, starts the launcher. Contains the name of that program.
    #[error("the launcher is started by {0}")]
    Wrapped(String),
    /// An option is unknown, so it is uncertain which argument names the package. Contains the option.
    #[error("Drawbridge does not know the option {0} of this launcher")]
    Option(String),
    /// The package doesn't come from a registry, or is not named by name and version. Contains the text that names it.
    #[error("{0} is not a package name and version in a registry")]
    Specifier(String),
    /// The launcher's command line names several packages.
    #[error("the command line names several packages")]
    Several,
    /// The launcher's command line names no package.
    #[error("the command line names no package")]
    NoPackage,
    /// Packages that this launcher loads can't be looked up. Contains the name of the launcher.
    #[error("Drawbridge can't look up packages of {0}")]
    Launcher(String),
    /// An environment variable of the server affects what the launcher loads. Contains its name.
    #[error("the variable {0} changes what the launcher loads")]
    Variable(String),
    /// A settings file in the working directory or above decides which registry the launcher uses, and through which
    /// proxy. Contains its path.
    #[error("{0} may change which registry is used")]
    ProjectSettings(String),
    /// Packages or programs of a local project may run instead of the package in the registry. Contains their path.
    #[error("{0} may have other code run instead")]
    LocalCopy(String),
    /// The launcher is not in a folder of the search path, so the package manager next to it is not run before the user
    /// has approved the command.
    #[error("{0} is not on your search path")]
    OffSearchPath(String),
    /// The package manager that looks up versions is not installed. Contains its name.
    #[error("{0} is missing, with which it would be looked up")]
    NoClient(String),
    /// The sandbox has no network access, so no version can be looked up.
    #[error("the sandbox has no network")]
    NoNetwork,
    /// The package manager did not finish in time.
    #[error("{client} did not answer within {seconds} s")]
    TimedOut {
        /// Name of the package manager.
        client: String,
        /// Timeout of the lookup, in seconds.
        seconds: u64,
    },
    /// The package manager failed, or printed unusable output.
    #[error("{client}: {cause}")]
    Failed {
        /// Name of the package manager.
        client: String,
        /// Error message of the package manager, or a description of the unusable output.
        cause: String,
    },
}

/// Returns the text, which a package manager printed, if it is short enough and `fits` accepts each of its characters.
fn validated_lookup_output(text: &str, fits: impl Fn(char) -> bool) -> Option<String> {
    let is_fit = !text.is_empty() && text.len() <= MAX_LOOKUP_TEXT_BYTES && text.chars().all(fits);
    is_fit.then(|| text.to_owned())
}

/// Returns the text, which a package manager printed, if it is a valid version that can become part of a command line.
fn validated_version(text: &str) -> Option<String> {
    let begins = text.starts_with(|c: char| c.is_ascii_digit());
    validated_lookup_output(text, |c| c.is_ascii_alphanumeric() || ".+-_!".contains(c)).filter(|_| begins)
}

/// Returns the text, which a package manager printed, if it consists of valid hashes separated by blanks, such as
/// `sha512-…` or `sha256:…`.
fn validated_package_hash(text: &str) -> Option<String> {
    validated_lookup_output(text, |c| c.is_ascii_alphanumeric() || "+/=-: ".contains(c))
}

/// Returns the text, which a package manager printed, if it is a valid address for display.
fn validated_package_source(text: &str) -> Option<String> {
    validated_lookup_output(text, |c| c.is_ascii_graphic())
}
