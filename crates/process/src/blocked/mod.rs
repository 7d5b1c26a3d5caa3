//! What a server may have missed in its sandbox: paths that its command or its own words name, that are there, and that the sandbox
//! hides. For each, the folder that would bring it into reach, or why none is proposed. The host asks after a failed start.
//!
//! The words are a server's, so they may be a lie. They decide nothing: a folder is shown with what lies there, adding it is its
//! user's act, and the start with it is asked about anew.

mod words;

use std::path::{Path, PathBuf};

use foreign::visible;
use serde::{Deserialize, Serialize};

use crate::command::ServerCommand;
use crate::missing::{Missing, missing};
use crate::programs::SearchPath;
use crate::sandbox::Plan;
use crate::sandbox::breadth::{self, MARKERS};
use crate::sandbox::installation::package_root;

pub use breadth::NotOffered;

/// The most paths of one server that are told.
const MOST_BLOCKED: usize = 4;
/// The most names of a folder that are shown, and the most that are counted.
const MOST_NAMES: usize = 6;
const MOST_COUNTED: usize = 1000;
/// The longest name that is shown, in characters.
const LONGEST_NAME: usize = 80;
/// The most folders above a file in which its project is looked for.
const MOST_ABOVE: usize = 6;

/// Something that is there, that the sandbox hides, and that the server seems to need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// Its path, as it was named.
    pub path: String,
    /// Who named it.
    pub named_by: NamedBy,
    /// The folder that would bring it into reach.
    pub offer: FolderOffer,
}

/// Who named a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NamedBy {
    /// The command, which its user has approved.
    Command,
    /// The server, in what it wrote before it ended. It may say anything.
    Server,
}

/// Whether a folder is proposed to be added to a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum FolderOffer {
    /// This folder, to be read.
    Folder {
        /// Its path, with no link in it.
        folder: String,
        /// Names of what lies there, the first ones.
        names: Vec<String>,
        /// How much lies there, up to a thousand.
        count: u32,
    },
    /// None.
    None {
        /// Why not.
        because: NotOffered,
    },
}

/// What the server may have missed in this plan, likeliest first. `said` is what it wrote to standard error. Reads the disk.
#[must_use]
pub fn blocked(
    said: &[String],
    command: &ServerCommand,
    program: &Path,
    path: &SearchPath,
    plan: &Plan,
) -> Vec<Blocked> {
    let hidden = command.sandbox.as_ref().map(|sandbox| sandbox.hidden.as_slice()).unwrap_or_default();
    let home = std::env::home_dir();
    let judging = Judging { plan, hidden, home: home.as_deref() };
    let of_command = missing(command, program, path, plan).into_iter().filter_map(|missing| match missing {
        Missing::Shim { folder, .. } => Some(folder),
        Missing::File { file, .. } => Some(file),
        Missing::Relative { .. } => None,
    });
    let named = of_command.map(|path| (path, NamedBy::Command));
    let named = named.chain(words::paths(said).into_iter().map(|path| (path, NamedBy::Server)));
    let mut found: Vec<Blocked> = Vec::new();
    for (path, named_by) in named {
        let Some(blocked) = judging.judge(&path, named_by) else { continue };
        let is_told = found.iter().any(|known| match (&known.offer, &blocked.offer) {
            (FolderOffer::Folder { folder: one, .. }, FolderOffer::Folder { folder: other, .. }) => one == other,
            _ => known.path == blocked.path,
        });
        if !is_told {
            found.push(blocked);
        }
        if found.len() == MOST_BLOCKED {
            break;
        }
    }
    found
}

struct Judging<'p> {
    plan: &'p Plan,
    hidden: &'p [PathBuf],
    home: Option<&'p Path>,
}

impl Judging<'_> {
    /// None if nothing lies there, or the sandbox shows it.
    fn judge(&self, path: &Path, named_by: NamedBy) -> Option<Blocked> {
        let real = path.canonicalize().ok()?;
        // A link that the sandbox lacks to something that it shows: no folder would help.
        if self.is_reached(path) || self.is_reached(&real) {
            return None;
        }
        let offer = match self.folder(&real) {
            Ok(folder) => {
                let (names, count) = content(&folder);
                FolderOffer::Folder { folder: folder.display().to_string(), names, count }
            }
            Err(because) => FolderOffer::None { because },
        };
        Some(Blocked { path: visible(&path.display().to_string()).into_owned(), named_by, offer })
    }

    fn is_reached(&self, path: &Path) -> bool {
        let reach = &self.plan.reach;
        let is_hidden = reach.hidden.iter().any(|hidden| path.starts_with(hidden));
        path.starts_with(&reach.home) || reach.covering(path).is_some() && !is_hidden
    }

    /// The smallest folder that brings a path into reach with what it needs: the packages or the project that it is part of, else the folder
    /// that it lies in.
    fn folder(&self, real: &Path) -> Result<PathBuf, NotOffered> {
        if breadth::may_hold_data(real, self.home) {
            return Err(NotOffered::Secrets);
        }
        let judged = |folder: &Path| breadth::judge(folder, self.home, self.hidden).map(|()| folder.to_owned());
        if let Some(packages) = package_root(real) {
            return judged(&packages);
        }
        let own = if real.is_dir() { Some(real) } else { real.parent() }.ok_or(NotOffered::TooBroad)?;
        let is_project = |folder: &&Path| MARKERS.iter().any(|marker| folder.join(marker).is_file());
        let project = own.ancestors().take(MOST_ABOVE).find(is_project).and_then(|folder| judged(folder).ok());
        project.map_or_else(|| judged(own), Ok)
    }
}

/// The first names in a folder, and how many there are.
fn content(folder: &Path) -> (Vec<String>, u32) {
    let Ok(entries) = std::fs::read_dir(folder) else { return (Vec::new(), 0) };
    let mut names: Vec<String> =
        entries.take(MOST_COUNTED).flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    names.sort_unstable();
    names.truncate(MOST_NAMES);
    let shown = |name: &String| visible(&name.chars().take(LONGEST_NAME).collect::<String>()).into_owned();
    (names.iter().map(shown).collect(), count)
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
