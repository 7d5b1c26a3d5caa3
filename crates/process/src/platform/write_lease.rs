//! Checks that no process can change a file without updating its times. The caller is `code/content_hash.rs`, before it
//! caches a hash.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;

use nix::errno::Errno;
use nix::libc;
use nix::sys::statfs::{BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, FsType, XFS_SUPER_MAGIC, fstatfs};

/// Magic numbers of file systems that track each memory mapping of a file and update the file's times at the first
/// write through a new one. Others (`tmpfs`, overlays, network and user-space file systems) do not guarantee this.
const RELIABLE_FILE_SYSTEMS: [FsType; 4] = [BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, XFS_SUPER_MAGIC];
/// Command of `fcntl` that sets the signal that a process receives when its lease is broken (`fcntl(2)`).
const F_SETSIG: libc::c_int = 10;
/// Mode bits for write permission of the group and of others.
const GROUP_OR_OTHERS_WRITE: u32 = 0o022;

/// Returns `true` if no process has this file open or mapped for writing, and every later write to it will update its
/// times. `file` itself must be open for reading only.
///
/// The kernel grants a read lease to the file's owner under exactly this condition. The lease is released immediately.
pub(crate) fn has_no_writers(file: &File) -> bool {
    let descriptor = file.as_raw_fd();
    if !fstatfs(file).is_ok_and(|system| RELIABLE_FILE_SYSTEMS.contains(&system.filesystem_type())) {
        return false;
    }
    // SAFETY: `fcntl` gets an open descriptor and integers. The signal, sent if another process opens the file
    // meanwhile, is SIGURG, which is ignored by default. The default signal of leases would end the process.
    let lease = unsafe {
        if libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) == -1 {
            return false;
        }
        libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_RDLCK)
    };
    match Errno::result(lease) {
        Ok(_) => {
            // SAFETY: as above.
            unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK) };
            true
        }
        // Leases are denied on files of other users. Only root can write to a file of root that is not writable for the
        // group or others.
        Err(Errno::EACCES) => {
            file.metadata().is_ok_and(|facts| facts.uid() == 0 && facts.mode() & GROUP_OR_OTHERS_WRITE == 0)
        }
        Err(_) => false,
    }
}
