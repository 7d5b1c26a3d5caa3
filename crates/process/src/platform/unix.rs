//! Process groups on Linux and macOS.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};

/// Gives the child a session, and with it a process group, of its own. Without a controlling
/// terminal it cannot read the user's keyboard or write past the pipes it was given.
pub(crate) fn isolate(command: &mut CommandWrap) {
    super::before_exec::install(command.command_mut());
    command.wrap(ProcessSession);
}

/// Asks the whole group to end (SIGTERM).
pub(crate) fn terminate(child: &dyn ChildWrapper) -> io::Result<()> {
    child.signal(Signal::SIGTERM as i32)
}

/// Ends every process of a group (SIGKILL). The caller has made sure whose group it is.
pub(crate) fn kill_group(group: u32) -> io::Result<()> {
    let group = i32::try_from(group).map_err(io::Error::other)?;
    // 0 and 1 would mean the own group and every process there is.
    if group < 2 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    killpg(Pid::from_raw(group), Signal::SIGKILL).map_err(io::Error::from)
}

/// The exit code, or the signal that ended the process.
pub(crate) fn exit_of(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), status.signal())
}

/// The system's number of the pipe behind a descriptor; both ends have the same.
pub(crate) fn pipe_number(end: &impl AsFd) -> Option<u64> {
    let copy = end.as_fd().try_clone_to_owned().ok()?;
    let metadata = std::fs::File::from(copy).metadata().ok()?;
    Some(metadata.ino())
}
