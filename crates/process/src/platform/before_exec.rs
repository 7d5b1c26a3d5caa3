//! What a child does between fork and exec: it keeps no descriptor but 0, 1 and 2, and on Linux it
//! asks to die with its parent. Unsafe code of this crate lies here and in `network_namespace.rs`, nowhere else.
#![allow(unsafe_code)]

use std::io;

use nix::libc;
use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::{Pid, getpid};
use tokio::process::Command;

/// The most descriptors that are closed one by one where the system cannot close a range.
const MOST_DESCRIPTORS: u64 = 65_536;

/// Registers the steps with the command. The thread that starts the command must live as long as
/// the process it starts: Linux signals the child when its parent *thread* ends.
pub(super) fn install(command: &mut Command) {
    let parent = getpid();
    let descriptors =
        getrlimit(Resource::RLIMIT_NOFILE).map_or(MOST_DESCRIPTORS, |(soft, _)| soft).min(MOST_DESCRIPTORS);
    // SAFETY: the closure runs in the forked child before exec. It allocates nothing, takes no
    // lock, reads only values copied into it, and makes async-signal-safe system calls only.
    unsafe {
        command.pre_exec(move || {
            close_on_exec(descriptors as libc::c_int);
            die_with(parent)
        });
    }
}

/// Registers one more step. It must be fit for a process of many threads that was just forked: no lock that another thread may
/// hold, and no memory of its own but what the system's library makes safe after a fork.
#[cfg(target_os = "linux")]
pub(crate) fn in_child(command: &mut Command, step: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: as above; whoever gives a step has seen to it.
    unsafe {
        command.pre_exec(step);
    }
}

/// In the child: its program gets none of the rights that its user has only for being root, such as to look into other
/// processes. Whoever has none of them has nothing to give up.
#[cfg(target_os = "linux")]
pub(crate) fn give_up_capabilities() -> io::Result<()> {
    // More than any system has.
    const MOST: libc::c_ulong = 64;
    for capability in 0..MOST {
        // SAFETY: the call takes integers, and takes away rights only.
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

/// A file that lies in memory and has no name. No child inherits it.
#[cfg(target_os = "linux")]
pub(crate) fn memory_file() -> io::Result<std::fs::File> {
    use std::os::fd::FromRawFd;

    // SAFETY: the call takes a constant text that ends with NUL, and flags.
    let descriptor = unsafe { libc::memfd_create(c"drawbridge".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened, and nobody else has it.
    Ok(unsafe { std::fs::File::from_raw_fd(descriptor) })
}

/// In the child: its program inherits this descriptor.
#[cfg(target_os = "linux")]
pub(crate) fn pass_on(descriptor: std::os::fd::BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call changes a flag of a descriptor that is open.
    let changed = unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&descriptor), libc::F_SETFD, 0) };
    if changed < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Marks every descriptor above 2 close-on-exec. Rust opens its own that way, but C libraries in
/// the same process do not always.
fn close_on_exec(descriptors: libc::c_int) {
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
        // SAFETY: setting a flag on a descriptor that is not open fails with EBADF and does nothing.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    // The parent may have died before the line above took effect.
    if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

/// Other systems have no such request: there a process beside the server waits for the end of the app (`server/watcher.rs`).
#[cfg(not(target_os = "linux"))]
fn die_with(_parent: Pid) -> io::Result<()> {
    Ok(())
}
