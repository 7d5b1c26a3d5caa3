//! Opens the folders of a sandbox before the sandbox is set up. The sandbox mechanism receives the file descriptors, so
//! replacing a path after the check has no effect.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat2};
use nix::sys::stat::Mode;

use crate::sandbox::{ReachablePaths, SandboxError};

/// A file or folder that is accessible to the server, with its open file descriptor.
pub(super) struct OpenedPath {
    /// Path of the file or folder in the sandbox.
    pub(super) path: PathBuf,
    /// Set if the server may change the file or folder.
    pub(super) writable: bool,
    pub(super) is_folder: bool,
    /// Open file descriptor of the file or folder, or `None` for a system path, which only root can replace.
    pub(super) descriptor: Option<OwnedFd>,
}

/// Opens all paths that are accessible to a server, in an order in which each path precedes its subfolders.
///
/// # Errors
/// Returns [`SandboxError::NoFolder`] if a path does not exist, [`SandboxError::SymbolicLink`] if a folder is a link,
/// and [`SandboxError::Changed`] if a program file leads to a path that was not approved.
pub(super) fn open_reachable_paths(reach: &ReachablePaths) -> Result<Vec<OpenedPath>, SandboxError> {
    let mut all = Vec::new();
    for path in &reach.system {
        all.push(OpenedPath { path: path.clone(), writable: false, is_folder: path.is_dir(), descriptor: None });
    }
    for path in &reach.program {
        let descriptor = open_following_links(path, OFlag::empty())?;
        let real = canonical_location(&descriptor, path)?;
        // The path may be a link, so its target must be in the approved plan as well.
        let is_approved = reach.program.iter().chain(&reach.system).any(|part| real.starts_with(part));
        if !is_approved {
            return Err(SandboxError::Changed);
        }
        all.push(OpenedPath {
            path: path.clone(),
            writable: false,
            is_folder: real.is_dir(),
            descriptor: Some(descriptor),
        });
    }
    let named = reach.folders.iter().map(|folder| (&folder.path, folder.access == crate::sandbox::AccessMode::Write));
    for (path, writable) in named.chain([(&reach.home, true)]) {
        let descriptor = open_without_links(path)?;
        all.push(OpenedPath { path: path.clone(), writable, is_folder: true, descriptor: Some(descriptor) });
    }
    all.sort_by(|one, other| (&one.path, one.writable).cmp(&(&other.path, other.writable)));
    // If a path is both writable and read-only, the writable entry is used.
    all.dedup_by(|later, earlier| {
        let is_same = later.path == earlier.path;
        if is_same {
            std::mem::swap(later, earlier);
        }
        is_same
    });
    Ok(all)
}

/// Opens a folder by an absolute path. Fails if the path contains a symbolic link.
fn open_without_links(path: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let how =
        OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    match openat2(AT_FDCWD, path, how) {
        Ok(descriptor) => Ok(descriptor),
        Err(Errno::ELOOP) => Err(path_contains_link_error(path)),
        // Without `openat2` (Linux before 5.6, or blocked in a container), the location of the opened folder is
        // checked.
        Err(Errno::ENOSYS | Errno::EPERM) => {
            let descriptor = open_following_links(path, OFlag::O_DIRECTORY)?;
            if canonical_location(&descriptor, path)? == path {
                Ok(descriptor)
            } else {
                Err(path_contains_link_error(path))
            }
        }
        Err(error) => Err(cannot_open_folder_error(path, error)),
    }
}

/// Opens a path with these flags, following symbolic links.
fn open_following_links(path: &Path, flags: OFlag) -> Result<OwnedFd, SandboxError> {
    open(path, OFlag::O_PATH | OFlag::O_CLOEXEC | flags, Mode::empty())
        .map_err(|error| cannot_open_folder_error(path, error))
}

/// Returns the canonical path of the file or folder to which an open file descriptor refers.
fn canonical_location(descriptor: &OwnedFd, path: &Path) -> Result<PathBuf, SandboxError> {
    let link = format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd());
    std::fs::read_link(link).map_err(|error| cannot_open_folder_error(path, error))
}

fn path_contains_link_error(path: &Path) -> SandboxError {
    match path.canonicalize() {
        Ok(target) => SandboxError::SymbolicLink { folder: path.to_owned(), target },
        Err(error) => cannot_open_folder_error(path, error),
    }
}

fn cannot_open_folder_error(path: &Path, error: impl std::fmt::Display) -> SandboxError {
    SandboxError::NoFolder { folder: path.to_owned(), cause: error.to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use super::*;
    use crate::sandbox::{AccessMode, AllowedFolder};

    /// A server replaces a folder by a link after the folder was checked and before it is opened.
    #[test]
    fn s09_folder_replaced_by_a_link_is_not_opened() {
        let ground = tempfile::tempdir().unwrap();
        let base = ground.path().canonicalize().unwrap();
        for folder in ["secret", "outer", "outer/inner", "own"] {
            std::fs::create_dir(base.join(folder)).unwrap();
        }
        let folder = AllowedFolder { path: base.join("outer/inner"), access: AccessMode::Read };
        let reach = ReachablePaths {
            folders: vec![folder.clone()],
            system: Vec::new(),
            program: Vec::new(),
            home: base.join("own"),
            hidden: Vec::new(),
        };
        let before = open_reachable_paths(&reach).unwrap();
        std::fs::rename(base.join("outer"), base.join("moved")).unwrap();
        symlink(base.join("secret"), base.join("outer")).unwrap();
        std::fs::create_dir(base.join("secret/inner")).unwrap();
        assert!(
            matches!(open_reachable_paths(&reach), Err(SandboxError::SymbolicLink { .. })),
            "a link in the path must not be followed"
        );
        let of_folder = before.iter().find(|opened| opened.path == folder.path).unwrap();
        let at = canonical_location(of_folder.descriptor.as_ref().unwrap(), &folder.path).unwrap();
        assert_eq!(at, base.join("moved/inner"), "an open descriptor must still refer to the checked folder");
    }

    #[test]
    fn s09_program_link_to_an_unapproved_path_is_not_opened() {
        let ground = tempfile::tempdir().unwrap();
        let base = ground.path().canonicalize().unwrap();
        for folder in ["secret", "bin", "own"] {
            std::fs::create_dir(base.join(folder)).unwrap();
        }
        let reach = ReachablePaths {
            folders: Vec::new(),
            system: Vec::new(),
            program: vec![base.join("bin")],
            home: base.join("own"),
            hidden: Vec::new(),
        };
        assert!(open_reachable_paths(&reach).is_ok(), "the approved program must be opened");
        std::fs::remove_dir(base.join("bin")).unwrap();
        symlink(base.join("secret"), base.join("bin")).unwrap();
        assert!(
            matches!(open_reachable_paths(&reach), Err(SandboxError::Changed)),
            "a link to an unapproved path must be refused"
        );
    }
}
