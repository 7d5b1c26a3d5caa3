//! Finding out that nobody can change a file without moving its times. `code/content_hash.rs` asks before it remembers a hash.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;

use nix::errno::Errno;
use nix::libc;
use nix::sys::statfs::{BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, FsType, XFS_SUPER_MAGIC, fstatfs};

/// File systems that move a file's times at the first write through a new mapping of it, and know of each mapping. Others (`tmpfs`,
/// overlays, those of the network and of user programs) do not, or need not.
const TIMELY: [FsType; 4] = [BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, XFS_SUPER_MAGIC];
/// The command of `fcntl` that sets the signal by which a lease is called back (`fcntl(2)`).
const F_SETSIG: libc::c_int = 10;
/// Write permission of anybody but the owner.
const OTHERS_WRITE: u32 = 0o022;

/// Tells if nobody has this file open for writing, or mapped so, and every later write moves its times. The file must be open for reading
/// only.
///
/// A read lease is granted on exactly that condition, to the file's owner. The lease is given back at once.
pub(crate) fn is_quiescent(file: &File) -> bool {
    let descriptor = file.as_raw_fd();
    if !fstatfs(file).is_ok_and(|system| TIMELY.contains(&system.filesystem_type())) {
        return false;
    }
    // SAFETY: `fcntl` gets an open descriptor and integers. The signal, sent when somebody opens the file meanwhile, is one that is
    // ignored unless it is handled; the default one would end the process.
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
        // No lease on another user's file. Nobody but root writes to one of root's that no group and no access list lets them change.
        Err(Errno::EACCES) => file.metadata().is_ok_and(|facts| facts.uid() == 0 && facts.mode() & OTHERS_WRITE == 0),
        Err(_) => false,
    }
}
