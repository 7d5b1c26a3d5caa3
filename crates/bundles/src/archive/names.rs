//! Checks that the path of an entry may be unpacked, and that no two paths in an archive refer to the same file on some
//! file system.

use std::collections::HashMap;

use foreign::is_hidden;
use unicode_normalization::UnicodeNormalization as _;

use super::{ArchiveRefusal, PathProblem};
use crate::limits::{MAX_PATH_BYTES, MAX_PATH_COMPONENT_BYTES, MAX_PATH_DEPTH};

/// Names of Windows devices, which are reserved with and without an extension. See
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>.
const WINDOWS_RESERVED_NAMES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];

/// Returns the reason why an archive entry with this path must not be unpacked, or `None` if it may be. `path` has no
/// trailing slash, even if it is the path of a folder.
pub(super) fn path_problem(path: &str) -> Option<PathProblem> {
    if path.len() > MAX_PATH_BYTES || path.split('/').count() > MAX_PATH_DEPTH {
        return Some(PathProblem::TooLong);
    }
    if path.chars().any(char::is_control) {
        return Some(PathProblem::Control);
    }
    if path.contains('\\') {
        return Some(PathProblem::Backslash);
    }
    if path.contains(':') {
        return Some(PathProblem::Colon);
    }
    if path.starts_with('/') {
        return Some(PathProblem::Absolute);
    }
    path.split('/').find_map(component_problem)
}

fn component_problem(part: &str) -> Option<PathProblem> {
    match part {
        "" => Some(PathProblem::Empty),
        "." | ".." => Some(PathProblem::Dots),
        _ if part.len() > MAX_PATH_COMPONENT_BYTES => Some(PathProblem::TooLong),
        _ if part.ends_with(['.', ' ']) => Some(PathProblem::TrailingDotOrSpace),
        _ if is_reserved_on_windows(part) => Some(PathProblem::Reserved),
        _ => None,
    }
}

fn is_reserved_on_windows(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_uppercase();
    let port = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    let is_port = port.is_some_and(|number| {
        let mut digits = number.chars();
        matches!(digits.next(), Some('0'..='9' | '¹' | '²' | '³')) && digits.next().is_none()
    });
    is_port || WINDOWS_RESERVED_NAMES.contains(&stem.as_str())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PathKind {
    File,
    /// A folder that has an entry of its own.
    Folder,
    /// A folder without an entry of its own, which occurs in the path of a file.
    ImpliedFolder,
}

/// Paths of the entries that were checked so far. Refuses two paths that some file systems treat as one, because they
/// differ only in case, Unicode normalization or invisible characters.
#[derive(Default)]
pub(super) struct UniquePaths(HashMap<String, (String, PathKind)>);

impl UniquePaths {
    pub(super) fn add(&mut self, path: &str, is_folder: bool) -> Result<(), ArchiveRefusal> {
        for (end, _) in path.match_indices('/') {
            self.add_one_path(&path[..end], PathKind::ImpliedFolder)?;
        }
        self.add_one_path(path, if is_folder { PathKind::Folder } else { PathKind::File })
    }

    fn add_one_path(&mut self, path: &str, kind: PathKind) -> Result<(), ArchiveRefusal> {
        let folded = file_system_equivalence_key(path);
        let Some((other, before)) = self.0.get_mut(&folded) else {
            self.0.insert(folded, (path.to_owned(), kind));
            return Ok(());
        };
        if other != path {
            return Err(ArchiveRefusal::EquivalentPaths(other.clone(), path.to_owned()));
        }
        match (*before, kind) {
            (PathKind::File, PathKind::File) | (PathKind::Folder, PathKind::Folder) => {
                Err(ArchiveRefusal::Duplicate(path.to_owned()))
            }
            (PathKind::File, _) | (_, PathKind::File) => Err(ArchiveRefusal::FileAndFolder(path.to_owned())),
            (_, PathKind::ImpliedFolder) => Ok(()),
            (PathKind::ImpliedFolder, PathKind::Folder) => {
                *before = PathKind::Folder;
                Ok(())
            }
        }
    }
}

/// Returns a normalized form of a path. All paths that some file system treats as equal have the same form. The text is
/// converted to both cases, since `ß` and `SS`, or `ſ` and `s`, are equal in only one of them. Invisible characters,
/// which HFS+ ignores, are removed.
fn file_system_equivalence_key(path: &str) -> String {
    let visible = path.chars().filter(|c| !is_hidden(*c));
    visible.nfkd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkd().collect()
}
