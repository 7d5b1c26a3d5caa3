//! Checks the ownership of bubblewrap, the only program that runs outside the sandbox. A server with write access to a
//! folder of the search path must not be able to replace it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Mode bits for write permission of the group and of others.
const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
/// Mode bit of a folder in which only a file's owner can rename or remove the file.
const STICKY_BIT: u32 = 0o1000;

/// Returns the canonical path of a program if only root can change or replace it: the file and all its parent folders
/// belong to root, and other users can't write to them (or only to a folder with the sticky bit). The returned path
/// contains no links, so other users can't redirect it later.
pub(super) fn canonical_if_root_owned(program: &Path) -> Option<PathBuf> {
    let real = program.canonicalize().ok()?;
    let is_root_owned = |facts: &Metadata| facts.uid() == 0;
    let file = real.symlink_metadata().ok()?;
    let is_safe = file.is_file() && is_root_owned(&file) && file.mode() & GROUP_OR_OTHERS_WRITE == 0;
    let is_safe_folder = |folder: &Path| {
        let is_safe = |facts: Metadata| {
            is_root_owned(&facts) && (facts.mode() & GROUP_OR_OTHERS_WRITE == 0 || facts.mode() & STICKY_BIT != 0)
        };
        folder.symlink_metadata().is_ok_and(is_safe)
    };
    (is_safe && real.ancestors().skip(1).all(is_safe_folder)).then_some(real)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn s05_link_to_a_root_owned_program_is_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("bwrap");
        symlink("/bin/sh", &link).unwrap();
        let real = Path::new("/bin/sh").canonicalize().unwrap();
        assert_eq!(canonical_if_root_owned(&link), Some(real), "the returned path must contain no link");
        std::fs::remove_file(&link).unwrap();
        std::fs::write(&link, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&link, Permissions::from_mode(0o755)).unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert_eq!(canonical_if_root_owned(&link), None, "a program in a folder writable for others must be refused");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::rename(&link, inner.join("bwrap")).unwrap();
        assert_eq!(
            canonical_if_root_owned(&inner.join("bwrap")),
            None,
            "a program in a folder that others may replace must be refused"
        );
    }
}
