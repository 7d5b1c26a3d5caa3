//! Job objects on Windows. Windows ends every process of a job when the app's last handle to it is closed, so no
//! orphans remain to be swept.

use std::io;
use std::os::windows::io::AsHandle;
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use tokio::process::ChildStdin;
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

use super::StartTime;

/// The app's end of a server's standard input.
pub type InputPipe = ChildStdin;

/// Puts the child and its descendants into a job that ends with the app, and gives them a console without a window.
/// Otherwise Windows would open a terminal window for each server of the desktop app, and a server of the command line
/// could read the user's keyboard.
pub(crate) fn isolate_child(command: &mut CommandWrap) {
    command.wrap(KillOnDrop).wrap(CreationFlags(CREATE_NO_WINDOW)).wrap(JobObject);
}

/// Does nothing: Windows has no termination request that a process without a console receives.
pub(crate) fn terminate(_child: &dyn ChildWrapper) -> io::Result<()> {
    Ok(())
}

/// Does nothing. On Windows a job object takes the place of a process group, and its processes end with the app.
pub(crate) fn kill_group(_group: u32) -> io::Result<()> {
    Ok(())
}

/// Returns the exit code, and no signal.
pub(crate) fn exit_code_and_signal(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), None)
}

/// Returns the pipe unchanged. Windows does not wake the writer of a pipe when the pipe is read.
pub(crate) fn open_input_pipe(stdin: ChildStdin) -> io::Result<InputPipe> {
    Ok(stdin)
}

/// Returns `None`: pipes have no number that two processes could compare.
pub(crate) fn pipe_inode(_end: &impl AsHandle) -> Option<u64> {
    None
}

/// Returns `None`. Only the search for servers of a killed app compares start times, and on Windows none remain: the
/// job of a server ends with the app.
pub(crate) fn start_time_of(_pid: u32) -> Option<StartTime> {
    None
}

/// Always `false` for the process of another instance of the app. This is safe: since [`start_time_of`] returns `None`,
/// that process never counts as the recorded owner of servers, and the result is not used.
pub(crate) fn has_ended(_pid: u32) -> bool {
    false
}

/// Always `false` for the processes of a recorded server, which is then not ended. This is safe, because Windows has
/// already ended them together with the app that started them.
pub(crate) fn group_has_open_pipe(_group: u32, _pipes: &[u64]) -> bool {
    false
}
