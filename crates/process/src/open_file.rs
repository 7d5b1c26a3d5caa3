//! Opens files that another program may replace between a check and the opening.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file for reading, without blocking if the path is a named pipe.
pub(crate) fn open_without_blocking(path: &Path) -> io::Result<File> {
    read_only_open_options(false).open(path)
}

/// Opens a file for reading by its canonical path. If another program has replaced the file since the path was
/// resolved, a named pipe does not block and a symbolic link is not followed.
///
/// # Errors
///
/// Returns the error of the operating system if the path doesn't exist, can't be read, or is a symbolic link. On
/// Windows a link is followed.
pub fn open_resolved_file(real: &Path) -> io::Result<File> {
    read_only_open_options(true).open(real)
}

/// Returns options for opening a file for reading without blocking. With `refuses_links`, opening fails on Unix if the
/// last component of the path is a symbolic link.
fn read_only_open_options(refuses_links: bool) -> OpenOptions {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        let refusal = if refuses_links { OFlag::O_NOFOLLOW } else { OFlag::empty() };
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, (OFlag::O_NONBLOCK | refusal).bits());
    }
    #[cfg(not(unix))]
    let _ = refuses_links;
    options
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Read as _;

    use super::*;

    #[test]
    fn link_that_replaced_a_resolved_file_is_not_followed() {
        let ground = tempfile::tempdir().unwrap();
        let (file, link) = (ground.path().join("settings.json"), ground.path().join("link.json"));
        std::fs::write(&file, "{}").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut text = String::new();
        open_resolved_file(&file).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "{}");
        assert!(open_resolved_file(&link).is_err(), "a link must not be followed");
        assert!(open_without_blocking(&link).is_ok(), "other callers follow links");
    }
}
