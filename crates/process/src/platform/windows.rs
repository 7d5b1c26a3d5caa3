//! Job objects on Windows. The system ends every process of a job when the app's last handle to it
//! goes, so nothing is left over for a sweep.

use std::io;
use std::os::windows::io::AsHandle;
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::process::ChildStdin;

use super::StartTime;

/// The app's end of a server's standard input.
pub type InputPipe = ChildStdin;

/// Puts the child and all that it starts into a job that ends with the app.
pub(crate) fn isolate(command: &mut CommandWrap) {
    command.wrap(KillOnDrop).wrap(JobObject);
}

/// Windows has no request to end that a console-less process would see.
pub(crate) fn terminate(_child: &dyn ChildWrapper) -> io::Result<()> {
    Ok(())
}

/// Groups are jobs here, which end by themselves.
pub(crate) fn kill_group(_group: u32) -> io::Result<()> {
    Ok(())
}

/// The exit code.
pub(crate) fn exit_of(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), None)
}

/// A pipe is written to by other means here, and wakes nobody by being read.
pub(crate) fn input(stdin: ChildStdin) -> io::Result<InputPipe> {
    Ok(stdin)
}

/// Pipes have no number that two processes could compare.
pub(crate) fn pipe_number(_end: &impl AsHandle) -> Option<u64> {
    None
}

/// Not needed, as nothing outlives the app.
pub(crate) fn start_time_of(_pid: u32) -> Option<StartTime> {
    None
}

/// Not needed, as nothing outlives the app.
pub(crate) fn has_ended(_pid: u32) -> bool {
    false
}

/// Not needed, as nothing outlives the app.
pub(crate) fn group_holds_pipe(_group: u32, _pipes: &[u64]) -> bool {
    false
}
