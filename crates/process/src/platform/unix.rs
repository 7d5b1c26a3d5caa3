//! Process groups on Linux and macOS.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};

/// Starts the child in its own session, and so in its own process group. Without a controlling terminal it cannot read
/// the user's keyboard or write to the terminal.
pub(crate) fn isolate_child(command: &mut CommandWrap) {
    super::before_exec::register_pre_exec_steps(command.command_mut());
    command.wrap(ProcessSession);
}

/// Sends SIGTERM to the whole process group of a child.
pub(crate) fn terminate(child: &dyn ChildWrapper) -> io::Result<()> {
    child.signal(Signal::SIGTERM as i32)
}

/// Sends SIGKILL to every process of a group. The caller must have verified that the group is the one to kill.
pub(crate) fn kill_group(group: u32) -> io::Result<()> {
    let group = i32::try_from(group).map_err(io::Error::other)?;
    // A group of 0 would mean the app's own group, and 1 would mean every process.
    if group < 2 {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    killpg(Pid::from_raw(group), Signal::SIGKILL).map_err(io::Error::from)
}

/// Splits an exit status into the exit code and the signal that ended the process.
pub(crate) fn exit_code_and_signal(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), status.signal())
}

/// Returns the inode number of the pipe behind a descriptor. It is the same for both ends.
pub(crate) fn pipe_inode(end: &impl AsFd) -> Option<u64> {
    let copy = end.as_fd().try_clone_to_owned().ok()?;
    let metadata = std::fs::File::from(copy).metadata().ok()?;
    Some(metadata.ino())
}
