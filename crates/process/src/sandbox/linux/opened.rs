//! The folders of a sandbox, opened before it is set up. What holds the server gets the descriptors, so a path that is replaced after the
//! check leads it nowhere else.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, open, openat2};
use nix::sys::stat::Mode;

use crate::sandbox::{Reach, SandboxError};

/// A file or folder that the server reaches.
pub(super) struct Opened {
    /// Where the server finds it.
    pub(super) path: PathBuf,
    /// Set if the server may change it.
    pub(super) writable: bool,
    pub(super) is_folder: bool,
    /// None for what is the system's: only root can replace that.
    pub(super) descriptor: Option<OwnedFd>,
}

/// Opens all that a server reaches, each before what lies in it.
///
/// # Errors
/// A folder that is gone, or leads elsewhere than where it was approved.
pub(super) fn opened(reach: &Reach) -> Result<Vec<Opened>, SandboxError> {
    let mut all = Vec::new();
    for path in &reach.system {
        all.push(Opened { path: path.clone(), writable: false, is_folder: path.is_dir(), descriptor: None });
    }
    for path in &reach.program {
        let descriptor = pinned(path, OFlag::empty())?;
        let real = location(&descriptor, path)?;
        // As it was found it may be a link; what it leads to was approved as well.
        let is_approved = reach.program.iter().chain(&reach.system).any(|part| real.starts_with(part));
        if !is_approved {
            return Err(SandboxError::Changed);
        }
        all.push(Opened {
            path: path.clone(),
            writable: false,
            is_folder: real.is_dir(),
            descriptor: Some(descriptor),
        });
    }
    let named = reach.folders.iter().map(|folder| (&folder.path, folder.access == crate::sandbox::Access::Write));
    for (path, writable) in named.chain([(&reach.home, true)]) {
        let descriptor = without_links(path)?;
        all.push(Opened { path: path.clone(), writable, is_folder: true, descriptor: Some(descriptor) });
    }
    all.sort_by(|one, other| (&one.path, one.writable).cmp(&(&other.path, other.writable)));
    // What may be changed comes last of the same path, and holds.
    all.dedup_by(|later, earlier| {
        let is_same = later.path == earlier.path;
        if is_same {
            std::mem::swap(later, earlier);
        }
        is_same
    });
    Ok(all)
}

/// A folder by its whole path, of which no part may be a link.
fn without_links(path: &Path) -> Result<OwnedFd, SandboxError> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let how =
        OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    match openat2(AT_FDCWD, path, how) {
        Ok(descriptor) => Ok(descriptor),
        Err(Errno::ELOOP) => Err(leads(path)),
        // Linux before 5.6, and containers that know no such call: what was opened is looked at instead.
        Err(Errno::ENOSYS | Errno::EPERM) => {
            let descriptor = pinned(path, OFlag::O_DIRECTORY)?;
            if location(&descriptor, path)? == path { Ok(descriptor) } else { Err(leads(path)) }
        }
        Err(error) => Err(no_folder(path, error)),
    }
}

/// Whatever lies there, links followed.
fn pinned(path: &Path, flags: OFlag) -> Result<OwnedFd, SandboxError> {
    open(path, OFlag::O_PATH | OFlag::O_CLOEXEC | flags, Mode::empty()).map_err(|error| no_folder(path, error))
}

/// Where what was opened lies.
fn location(descriptor: &OwnedFd, path: &Path) -> Result<PathBuf, SandboxError> {
    let link = format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd());
    std::fs::read_link(link).map_err(|error| no_folder(path, error))
}

fn leads(path: &Path) -> SandboxError {
    match path.canonicalize() {
        Ok(target) => SandboxError::Leads { folder: path.to_owned(), target },
        Err(error) => no_folder(path, error),
    }
}

fn no_folder(path: &Path, error: impl std::fmt::Display) -> SandboxError {
    SandboxError::NoFolder { folder: path.to_owned(), cause: error.to_string() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use super::*;
    use crate::sandbox::{Access, Folder};

    /// A folder that was checked, and then became a link to another one.
    #[test]
    fn s09_a_folder_that_became_a_link_is_not_opened() {
        let ground = tempfile::tempdir().unwrap();
        let base = ground.path().canonicalize().unwrap();
        for folder in ["secret", "outer", "outer/inner", "own"] {
            std::fs::create_dir(base.join(folder)).unwrap();
        }
        let folder = Folder { path: base.join("outer/inner"), access: Access::Read };
        let reach = Reach {
            folders: vec![folder.clone()],
            system: Vec::new(),
            program: Vec::new(),
            home: base.join("own"),
            hidden: Vec::new(),
        };
        let before = opened(&reach).unwrap();
        std::fs::rename(base.join("outer"), base.join("moved")).unwrap();
        symlink(base.join("secret"), base.join("outer")).unwrap();
        std::fs::create_dir(base.join("secret/inner")).unwrap();
        assert!(matches!(opened(&reach), Err(SandboxError::Leads { .. })), "a link on the way there is not followed");
        let of_folder = before.iter().find(|opened| opened.path == folder.path).unwrap();
        let at = location(of_folder.descriptor.as_ref().unwrap(), &folder.path).unwrap();
        assert_eq!(at, base.join("moved/inner"), "and what was opened before stays the folder that was checked");
    }

    #[test]
    fn s09_a_program_that_leads_elsewhere_than_approved_is_not_reached() {
        let ground = tempfile::tempdir().unwrap();
        let base = ground.path().canonicalize().unwrap();
        for folder in ["secret", "bin", "own"] {
            std::fs::create_dir(base.join(folder)).unwrap();
        }
        let reach = Reach {
            folders: Vec::new(),
            system: Vec::new(),
            program: vec![base.join("bin")],
            home: base.join("own"),
            hidden: Vec::new(),
        };
        assert!(opened(&reach).is_ok(), "as it was approved");
        std::fs::remove_dir(base.join("bin")).unwrap();
        symlink(base.join("secret"), base.join("bin")).unwrap();
        assert!(matches!(opened(&reach), Err(SandboxError::Changed)), "as a link to what was not approved");
    }
}
