//! Steps of a child between fork and exec: it closes all descriptors except 0, 1 and 2, and on Linux it requests to be
//! killed when its parent ends. Apart from tests, the unsafe code of this crate is in this file, `network_namespace.rs`
//! and `write_lease.rs`.
#![allow(unsafe_code)]

use std::io;

use nix::libc;
use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::{Pid, getpid};
use tokio::process::Command;

/// Maximum number of descriptors that are closed one by one if the operating system has no call that closes a range.
const MAX_DESCRIPTORS: u64 = 65_536;

/// Registers the steps that the child runs between fork and exec. The thread that starts the command must outlive the
/// process it starts: Linux signals the child when its parent *thread* ends.
pub(super) fn register_pre_exec_steps(command: &mut Command) {
    let parent = getpid();
    let descriptors = getrlimit(Resource::RLIMIT_NOFILE).map_or(MAX_DESCRIPTORS, |(soft, _)| soft).min(MAX_DESCRIPTORS);
    // SAFETY: the closure runs in the forked child before exec. It allocates nothing, takes no lock, reads only values
    // copied into it, and makes async-signal-safe system calls only.
    unsafe {
        command.pre_exec(move || {
            mark_all_close_on_exec(descriptors as libc::c_int);
            request_kill_with_parent(parent)
        });
    }
}

/// Registers an additional step that the child runs between fork and exec. The step must be safe in a process that was
/// just forked from a multi-threaded one: it takes no lock that another thread may hold, and allocates no memory except
/// through functions that the C library makes safe after a fork.
#[cfg(target_os = "linux")]
pub(crate) fn add_pre_exec_step(command: &mut Command, step: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: as above. The caller guarantees the conditions in the doc comment.
    unsafe {
        command.pre_exec(step);
    }
}

/// Removes all capabilities from the bounding set of the calling process, a child, so that its program gets none even
/// if its user is root. With capabilities, the program could access other processes. Does nothing if the child is not
/// permitted to change the set.
#[cfg(target_os = "linux")]
pub(crate) fn drop_capabilities() -> io::Result<()> {
    // Larger than the number of capabilities of any current kernel.
    const MAX_CAPABILITY: libc::c_ulong = 64;
    for capability in 0..MAX_CAPABILITY {
        // SAFETY: the call takes integers and only drops privileges.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } == 0 {
            continue;
        }
        return match io::Error::last_os_error() {
            error if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EPERM)) => Ok(()),
            error => Err(error),
        };
    }
    Ok(())
}

/// Creates an anonymous file in memory. No child inherits it.
#[cfg(target_os = "linux")]
pub(crate) fn create_anonymous_file() -> io::Result<std::fs::File> {
    use std::os::fd::FromRawFd;

    // SAFETY: the call takes a NUL-terminated constant and flags.
    let descriptor = unsafe { libc::memfd_create(c"drawbridge".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { std::fs::File::from_raw_fd(descriptor) })
}

/// Makes the calling process, a child, pass this file descriptor on to its program.
#[cfg(target_os = "linux")]
pub(crate) fn make_inheritable(descriptor: std::os::fd::BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call changes a flag of an open descriptor.
    let changed = unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&descriptor), libc::F_SETFD, 0) };
    if changed < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Marks every descriptor above 2 close-on-exec. Rust opens descriptors that way, but C libraries in the same process
/// do not always.
fn mark_all_close_on_exec(descriptors: libc::c_int) {
    #[cfg(target_os = "linux")]
    {
        const CLOSE_RANGE_CLOEXEC: libc::c_uint = 1 << 2;
        // SAFETY: the call takes three integers and changes descriptor flags only.
        let result =
            unsafe { libc::syscall(libc::SYS_close_range, 3 as libc::c_uint, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
        if result == 0 {
            return;
        }
    }
    for descriptor in 3..descriptors {
        // SAFETY: setting a flag on a descriptor that is not open fails with EBADF and has no effect.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

#[cfg(target_os = "linux")]
fn request_kill_with_parent(parent: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    // The parent may have ended before the call above took effect.
    if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

/// Does nothing, because only Linux has such a call. On other systems a watcher process waits for the end of the app
/// (`server/parent_watcher.rs`).
#[cfg(not(target_os = "linux"))]
fn request_kill_with_parent(_parent: Pid) -> io::Result<()> {
    Ok(())
}
