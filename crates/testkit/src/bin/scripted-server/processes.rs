//! Misbehaviors of processes that exit too early or too late, or leave child processes behind.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::peer::{PeerRequest, ScriptedPeer};

pub(crate) fn exit_with_error_text(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    let mut err = io::stderr();
    writeln!(err, "fatal: cannot open the database")?;
    writeln!(err, "hint: set DATABASE_PATH")?;
    std::process::exit(3)
}

pub(crate) fn abort(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    std::process::abort()
}

/// Blocks this thread until the process is killed.
pub(crate) fn wait_for_ever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

pub(crate) fn stop_reading(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    wait_for_ever()
}

/// Environment variable that marks a process that already ignores signals.
const IGNORE_SIGNALS_VARIABLE: &str = "SCRIPTED_SERVER_DEAF";

pub(crate) fn ignore_termination(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    peer.never_exits = true;
    if std::env::var_os(IGNORE_SIGNALS_VARIABLE).is_some() {
        return Ok(());
    }
    exec_shell_script(r#"trap "" TERM INT HUP; export SCRIPTED_SERVER_DEAF=1; exec "$0" "$@""#)
}

pub(crate) fn close_stdout(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    peer.flush()?;
    exec_shell_script("exec >&-; while read -r line; do :; done")
}

pub(crate) fn close_stdin(peer: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    peer.flush()?;
    exec_shell_script("exec <&-; sleep 1000 & wait")
}

/// Replaces this process with a shell that runs a script, since ignoring signals and closing descriptors is not
/// possible in safe Rust. The path of this program and its arguments are the positional parameters of the script.
#[cfg(unix)]
#[allow(clippy::disallowed_methods, reason = "a server may start what it likes")]
fn exec_shell_script(script: &str) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    let error = Command::new("/bin/sh")
        .arg("-c")
        .arg(script)
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .exec();
    Err(error)
}

#[cfg(not(unix))]
fn exec_shell_script(_script: &str) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// Spawns a child process in the process group of this one. The child ignores all signals it can, and keeps the pipes
/// open.
#[allow(clippy::disallowed_methods, clippy::zombie_processes, reason = "a server may start what it likes")]
fn spawn_child_ignoring_signals() -> io::Result<u32> {
    let child = Command::new("/bin/sh")
        .arg("-c")
        .arg(r#"trap "" TERM INT HUP; while :; do sleep 1; done"#)
        .stdin(Stdio::null())
        .spawn()?;
    Ok(child.id())
}

pub(crate) fn leave_child_process_running(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<()> {
    let pid = spawn_child_ignoring_signals()?;
    peer.send_text_result(request, &pid.to_string())
}

pub(crate) fn leave_child_process_and_exit(_: &mut ScriptedPeer, _: &PeerRequest) -> io::Result<()> {
    let pid = spawn_child_ignoring_signals()?;
    writeln!(io::stderr(), "{pid}")?;
    std::process::exit(0)
}
