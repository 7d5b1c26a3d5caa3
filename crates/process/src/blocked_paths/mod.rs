//! Paths that a failed server may have needed but could not access in its sandbox: paths that exist, that the sandbox
//! hides, and that the command or the server's standard error names. For each path the module proposes a folder to add
//! to the sandbox, or reports why it proposes none. The host calls [`blocked_paths`] after a failed start
//! (`host/src/connection/failures.rs`).
//!
//! Standard error is untrusted: a server can name any path. Naming a path grants no access. The user sees the content
//! of a proposed folder before adding it, and the start with the new folder requires a new approval.

mod output_paths;

use std::path::{Path, PathBuf};

use foreign::escape_invisible;
use serde::{Deserialize, Serialize};

use crate::command::ServerCommand;
use crate::missing_dependencies::{MissingDependency, missing_dependencies};
use crate::programs::SearchPath;
use crate::sandbox::ResolvedSandbox;
use crate::sandbox::folder_proposals::{self, PROJECT_MARKERS};
use crate::sandbox::installed_files::package_root;

pub use folder_proposals::ProposalRefusal;

/// Maximum number of blocked paths that are reported for one server.
const MAX_BLOCKED_PATHS: usize = 4;
/// Maximum number of entries of a proposed folder whose names are shown.
const MAX_SHOWN_FOLDER_ENTRY_NAMES: usize = 6;
/// Maximum number of entries of a proposed folder that are counted.
const MAX_COUNTED_FOLDER_ENTRIES: usize = 1000;
/// Maximum length of a shown entry name, in characters.
const MAX_ENTRY_NAME_CHARS: usize = 80;
/// Maximum number of ancestors of a file that are searched for the root of its project.
const MAX_PROJECT_ANCESTORS: usize = 6;

/// An existing path that the sandbox hides from the server and that the server seems to need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct BlockedPath {
    /// The path as the command or the server named it.
    pub path: String,
    /// Origin of the path: the command or the server.
    pub named_by: PathMention,
    /// The folder to add to the sandbox so that the path becomes accessible, or the reason why none is proposed.
    pub proposal: FolderProposal,
}

/// The text in which the path of a [`BlockedPath`] was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PathMention {
    /// The command of the server, which the user has approved.
    Command,
    /// The server's standard error before it ended. Untrusted.
    Server,
}

/// A proposal to add a folder to a sandbox, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FolderProposal {
    /// Proposes to add this folder with read access.
    Folder {
        /// Path of the folder, with symbolic links resolved.
        folder: String,
        /// Names of the first entries of the folder, at most six.
        names: Vec<String>,
        /// Number of entries of the folder. Counted up to 1000.
        count: u32,
    },
    /// Proposes no folder for the path.
    None {
        /// The reason why no folder is proposed.
        reason: ProposalRefusal,
    },
}

/// Returns the paths that the server may have needed but could not access in its resolved sandbox `plan`, at most
/// [`MAX_BLOCKED_PATHS`], the most likely ones first. `stderr` contains the lines that the server wrote to standard
/// error. Reads the disk.
#[must_use]
pub fn blocked_paths(
    stderr: &[String],
    command: &ServerCommand,
    program: &Path,
    search_path: &SearchPath,
    plan: &ResolvedSandbox,
) -> Vec<BlockedPath> {
    let own_folders = command.sandbox.as_ref().map(|sandbox| sandbox.hidden.as_slice()).unwrap_or_default();
    let home = std::env::home_dir();
    let reporter = BlockedPathReporter { plan, own_folders, home: home.as_deref() };
    let of_command =
        missing_dependencies(command, program, search_path, plan).into_iter().filter_map(|missing| match missing {
            MissingDependency::VersionManagerShim { folder, .. } => Some(folder),
            MissingDependency::File { file, .. } => Some(file),
            MissingDependency::Relative { .. } => None,
        });
    let named = of_command.map(|path| (path, PathMention::Command));
    let named = named.chain(output_paths::paths_in_output(stderr).into_iter().map(|path| (path, PathMention::Server)));
    let mut found: Vec<BlockedPath> = Vec::new();
    for (path, named_by) in named {
        let Some(blocked) = reporter.report_if_blocked(&path, named_by) else { continue };
        let is_listed = found.iter().any(|known| match (&known.proposal, &blocked.proposal) {
            (FolderProposal::Folder { folder: one, .. }, FolderProposal::Folder { folder: other, .. }) => one == other,
            _ => known.path == blocked.path,
        });
        if !is_listed {
            found.push(blocked);
        }
        if found.len() == MAX_BLOCKED_PATHS {
            break;
        }
    }
    found
}

struct BlockedPathReporter<'p> {
    plan: &'p ResolvedSandbox,
    /// Canonical paths of Drawbridge's own folders. `plan.reach.hidden` has only those inside an accessible folder.
    own_folders: &'p [PathBuf],
    home: Option<&'p Path>,
}

impl BlockedPathReporter<'_> {
    /// Returns the report on a path that the sandbox hides, with the folder to propose. Returns `None` if the path does
    /// not exist or is accessible.
    fn report_if_blocked(&self, path: &Path, named_by: PathMention) -> Option<BlockedPath> {
        let real = path.canonicalize().ok()?;
        // The link is missing in the sandbox but its target is accessible, so adding a folder would not help.
        if self.is_accessible(path) || self.is_accessible(&real) {
            return None;
        }
        let proposal = match self.proposed_folder(&real) {
            Ok(folder) => {
                let (names, count) = folder_content(&folder);
                FolderProposal::Folder { folder: folder.display().to_string(), names, count }
            }
            Err(reason) => FolderProposal::None { reason },
        };
        Some(BlockedPath { path: escape_invisible(&path.display().to_string()).into_owned(), named_by, proposal })
    }

    fn is_accessible(&self, path: &Path) -> bool {
        let reach = &self.plan.reach;
        let is_hidden = reach.hidden.iter().any(|hidden| path.starts_with(hidden));
        path.starts_with(&reach.home) || reach.containing_path(path).is_some() && !is_hidden
    }

    /// Returns the smallest folder that makes a path accessible together with the files it depends on: the package
    /// folder or project that contains the path, or else its parent folder.
    fn proposed_folder(&self, real: &Path) -> Result<PathBuf, ProposalRefusal> {
        if folder_proposals::may_contain_user_data(real, self.home) {
            return Err(ProposalRefusal::Secrets);
        }
        let judged = |folder: &Path| {
            folder_proposals::check_folder_proposal(folder, self.home, self.own_folders).map(|()| folder.to_owned())
        };
        if let Some(packages) = package_root(real) {
            return judged(&packages);
        }
        let own = if real.is_dir() { Some(real) } else { real.parent() }.ok_or(ProposalRefusal::TooBroad)?;
        let is_project = |folder: &&Path| PROJECT_MARKERS.iter().any(|marker| folder.join(marker).is_file());
        let project =
            own.ancestors().take(MAX_PROJECT_ANCESTORS).find(is_project).and_then(|folder| judged(folder).ok());
        project.map_or_else(|| judged(own), Ok)
    }
}

/// Returns the names of the first entries in a folder, sorted, and the number of all entries.
fn folder_content(folder: &Path) -> (Vec<String>, u32) {
    let Ok(entries) = std::fs::read_dir(folder) else { return (Vec::new(), 0) };
    let mut names: Vec<String> = entries
        .take(MAX_COUNTED_FOLDER_ENTRIES)
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    names.sort_unstable();
    names.truncate(MAX_SHOWN_FOLDER_ENTRY_NAMES);
    let shown =
        |name: &String| escape_invisible(&name.chars().take(MAX_ENTRY_NAME_CHARS).collect::<String>()).into_owned();
    (names.iter().map(shown).collect(), count)
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
