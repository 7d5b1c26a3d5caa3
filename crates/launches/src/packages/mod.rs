//! Packages that a launcher such as `npx`, `uvx` or `docker run` loads: which one a command names, which version of it would
//! run, and the command line that runs this version and no other.
//!
//! The command line is read here without running anything. The version is looked up by the package manager that the launcher
//! belongs to (`lookup.rs`), so that its registries, mirrors and proxies apply. A look-up uses the network before its user has
//! approved the command, therefore it happens only after the user asked for the start, runs only a program that lies on the
//! user's own search path, gets no secret and no variable but those that name registries and proxies, never builds or runs what
//! it looks up, and is bounded in time and output. In a sandbox it runs in the same sandbox.
//!
//! What is enforced: the version, since the command line names it, and for images the content, since it names the digest. npm
//! checks a package against its registry's hash when it installs it. What is not: packages that a package depends on, and, for
//! a start without a look-up, that the registry still offers the same files for a version.

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

pub use launcher::{Launched, launched};
pub use lookup::look_up;
pub use project::local_copy;
pub use reference::{Launcher, PackageReference};

/// The longest name, version, hash or address that is taken over from a package manager, in bytes.
const MAX_TEXT: usize = 2_000;

/// A version of a package, as its registry offers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageVersion {
    /// The package.
    pub name: String,
    /// The version; of an image its tag.
    pub version: String,
    /// The hash of its files; none where the registry tells none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<String>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How the command line names exactly this version.
    pub argument: String,
}

impl PackageVersion {
    /// Tells if the registry offers other files for the same version. A tag that names another image is another version: the
    /// command line tells them apart.
    #[must_use]
    pub fn is_replaced_by(&self, other: &Self) -> bool {
        self.argument == other.argument && self.integrity != other.integrity
    }
}

/// The package that a command would load, for a consent request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedPackage {
    /// The launcher, as people know it.
    pub launcher: String,
    /// The package that the settings name.
    pub name: Option<String>,
    /// The version, range or tag that the settings name; none if they name none.
    pub wanted: Option<String>,
    /// Further packages of the command line, which are not pinned.
    pub unpinned: Vec<String>,
    /// The version that would run, or why it is not known.
    pub found: Result<PackageVersion, UnknownPackage>,
    /// The version that was approved last.
    pub before: Option<PackageVersion>,
    /// The command line as the settings have it.
    pub configured: String,
}

impl LoadedPackage {
    /// A package with the result of its look-up.
    pub fn of(reference: &PackageReference, found: Result<PackageVersion, UnknownPackage>) -> Self {
        Self {
            launcher: reference.launcher.name().to_owned(),
            name: Some(reference.name.clone()),
            wanted: Some(reference.wanted.clone()).filter(|wanted| !wanted.is_empty()),
            unpinned: reference.unpinned.clone(),
            found,
            before: None,
            configured: String::new(),
        }
    }

    /// A command of a launcher whose package is not known.
    pub fn unknown(launcher: String, cause: UnknownPackage) -> Self {
        Self {
            launcher,
            name: None,
            wanted: None,
            unpinned: Vec::new(),
            found: Err(cause),
            before: None,
            configured: String::new(),
        }
    }

    /// For the hash of an approval, and for what is pinned. Why a version is not known is no part of it: a registry that does
    /// not answer fails in many ways.
    pub fn in_json(&self) -> Value {
        match &self.found {
            Ok(found) => json!({ "name": found.name, "version": found.version, "integrity": found.integrity }),
            Err(_) => json!({ "version": null }),
        }
    }
}

/// Why it is not known which version would run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownPackage {
    /// The launcher runs a line of a shell.
    #[error("the launcher runs a line of a shell (-c)")]
    ShellLine,
    /// The launcher is started by another program.
    #[error("the launcher is started by {0}")]
    Wrapped(String),
    /// An option is not known here, so it is not certain which argument names the package.
    #[error("Drawbridge does not know the option {0} of this launcher")]
    Option(String),
    /// The package does not come from a registry, or is named in another way than by name and version.
    #[error("{0} is no name and version in a registry")]
    Specifier(String),
    /// The command line names several packages.
    #[error("the command line names several packages")]
    Several,
    /// The command line names no package.
    #[error("the command line names no package")]
    NoPackage,
    /// Drawbridge can't look up what this launcher loads.
    #[error("Drawbridge can't look up packages of {0}")]
    Launcher(String),
    /// A variable of the server changes what its launcher loads.
    #[error("the variable {0} changes what the launcher loads")]
    Variable(String),
    /// A file of the folder's decides which registry is asked, and through whom.
    #[error("{0} may change which registry is asked")]
    ProjectSettings(String),
    /// A project's packages or programs may run in place of the registry's.
    #[error("{0} may have other code run instead")]
    LocalCopy(String),
    /// The launcher lies outside of the search path, so nothing beside it is run before it is approved.
    #[error("{0} is not on your search path")]
    OffSearchPath(String),
    /// The package manager is missing.
    #[error("{0} is missing, with which it would be looked up")]
    NoClient(String),
    /// The sandbox has no network.
    #[error("the sandbox has no network")]
    NoNetwork,
    /// The package manager took too long.
    #[error("{client} did not answer within {seconds} s")]
    TimedOut {
        /// The package manager.
        client: String,
        /// The bound.
        seconds: u64,
    },
    /// The package manager failed, or printed what can't be used.
    #[error("{client}: {cause}")]
    Failed {
        /// The package manager.
        client: String,
        /// Its words, or what is wrong with them.
        cause: String,
    },
}

/// A text from a package manager, if it is short enough and of these characters.
fn checked(text: &str, fits: impl Fn(char) -> bool) -> Option<String> {
    let is_fit = !text.is_empty() && text.len() <= MAX_TEXT && text.chars().all(fits);
    is_fit.then(|| text.to_owned())
}

/// A version from a package manager. It becomes a part of the command line.
fn checked_version(text: &str) -> Option<String> {
    let begins = text.starts_with(|c: char| c.is_ascii_digit());
    checked(text, |c| c.is_ascii_alphanumeric() || ".+-_!".contains(c)).filter(|_| begins)
}

/// Hashes, such as `sha512-…` or `sha256:…`, with blanks between them.
fn checked_hash(text: &str) -> Option<String> {
    checked(text, |c| c.is_ascii_alphanumeric() || "+/=-: ".contains(c))
}

/// An address, to show.
fn checked_source(text: &str) -> Option<String> {
    checked(text, |c| c.is_ascii_graphic())
}
