//! Test run of bubblewrap, which WebKitGTK's sandbox requires.
//!
//! WebKitGTK aborts the whole app if it can't start bubblewrap or xdg-dbus-proxy, so the test runs before the window is
//! opened. Called by `linux.rs`.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::SandboxObstacle;

/// Folders in which distributions install bubblewrap and xdg-dbus-proxy. WebKitGTK uses absolute paths that are set
/// when it is built, not the search path.
const SANDBOX_PROGRAM_FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
const BUBBLEWRAP_PROGRAM: &str = "bwrap";
const BUS_PROXY_PROGRAM: &str = "xdg-dbus-proxy";

/// Options of bubblewrap for a test run, which creates those namespaces and mounts of WebKitGTK's sandbox that a system
/// may deny.
const BUBBLEWRAP_TRIAL_OPTIONS: [&str; 13] = [
    "--die-with-parent",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
];

/// Timeout of the test run of bubblewrap. It takes about five milliseconds on an idle computer.
const BUBBLEWRAP_TRIAL_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval at which the test checks if bubblewrap has exited.
const TRIAL_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum number of bytes of bubblewrap's error message that are shown.
const MAX_BUBBLEWRAP_MESSAGE_BYTES: u64 = 512;

/// Checks the requirements of WebKitGTK's sandbox and runs bubblewrap once.
///
/// # Errors
/// Returns the obstacle if the sandbox can't work on this system.
pub(super) fn run_sandbox_trial() -> Result<(), SandboxObstacle> {
    run_trial_in_folders(&SANDBOX_PROGRAM_FOLDERS.map(Path::new), BUBBLEWRAP_TRIAL_TIMEOUT)
}

fn run_trial_in_folders(folders: &[&Path], limit: Duration) -> Result<(), SandboxObstacle> {
    let bubblewrap = find_program(folders, BUBBLEWRAP_PROGRAM).ok_or(SandboxObstacle::NoBubblewrap)?;
    find_program(folders, BUS_PROXY_PROGRAM).ok_or(SandboxObstacle::NoBusProxy)?;
    // The program that runs inside the sandbox is bubblewrap itself, because it certainly exists.
    let started = trial_command(&bubblewrap)
        .args(BUBBLEWRAP_TRIAL_OPTIONS)
        .arg("--")
        .arg(&bubblewrap)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let no_namespaces = |cause: String| SandboxObstacle::NoNamespaces { cause };
    let mut child = started.map_err(|error| no_namespaces(error.to_string()))?;
    match wait_with_timeout(&mut child, limit) {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(no_namespaces(read_error_message(&mut child).unwrap_or_else(|| status.to_string()))),
        None => Err(no_namespaces(format!("bubblewrap did not exit within {} s", limit.as_secs_f32()))),
    }
}

fn find_program(folders: &[&Path], program: &str) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(program)).find(|path| path.is_file())
}

#[expect(clippy::disallowed_methods, reason = "runs before the app has a runtime, and starts no server")]
fn trial_command(program: &Path) -> Command {
    Command::new(program)
}

/// Waits until the child exits, and kills it after `limit`. Returns `None` if it was killed or its exit status is
/// unknown.
fn wait_with_timeout(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if start.elapsed() < limit => thread::sleep(TRIAL_POLL_INTERVAL),
            Ok(None) | Err(_) => {
                // Fails only if the child has already exited.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

fn read_error_message(child: &mut Child) -> Option<String> {
    let mut bytes = Vec::new();
    // A partial error message is sufficient.
    let _ = child.stderr.take()?.take(MAX_BUBBLEWRAP_MESSAGE_BYTES).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn write_executable_script(folder: &Path, program: &str, script: &str) {
        let path = folder.join(program);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its rights");
    }

    fn run_trial_with_fake_bubblewrap(
        bubblewrap: Option<&str>,
        has_bus_proxy: bool,
        limit: Duration,
    ) -> Result<(), SandboxObstacle> {
        let folder = tempfile::tempdir().expect("a folder");
        if let Some(script) = bubblewrap {
            write_executable_script(folder.path(), BUBBLEWRAP_PROGRAM, script);
        }
        if has_bus_proxy {
            write_executable_script(folder.path(), BUS_PROXY_PROGRAM, "exit 0");
        }
        run_trial_in_folders(&[Path::new("/nonexistent"), folder.path()], limit)
    }

    #[test]
    fn missing_sandbox_program_is_reported() {
        assert_eq!(
            run_trial_with_fake_bubblewrap(None, true, BUBBLEWRAP_TRIAL_TIMEOUT),
            Err(SandboxObstacle::NoBubblewrap),
            "bubblewrap"
        );
        assert_eq!(
            run_trial_with_fake_bubblewrap(Some("exit 0"), false, BUBBLEWRAP_TRIAL_TIMEOUT),
            Err(SandboxObstacle::NoBusProxy),
            "xdg-dbus-proxy"
        );
        assert_eq!(
            run_trial_with_fake_bubblewrap(Some("exit 0"), true, BUBBLEWRAP_TRIAL_TIMEOUT),
            Ok(()),
            "both programs should be sufficient"
        );
    }

    #[test]
    fn failed_trial_contains_the_message_of_bubblewrap() {
        let refused = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1";
        let cause = "bwrap: setting up uid map: Permission denied".to_owned();
        assert_eq!(
            run_trial_with_fake_bubblewrap(Some(refused), true, BUBBLEWRAP_TRIAL_TIMEOUT),
            Err(SandboxObstacle::NoNamespaces { cause }),
            "the message of bubblewrap should be returned"
        );
        let silent = run_trial_with_fake_bubblewrap(Some("exit 3"), true, BUBBLEWRAP_TRIAL_TIMEOUT);
        assert_eq!(
            silent,
            Err(SandboxObstacle::NoNamespaces { cause: "exit status: 3".into() }),
            "without a message the exit status should be returned"
        );
    }

    #[test]
    fn hanging_bubblewrap_trial_times_out() {
        let start = Instant::now();
        let hung = run_trial_with_fake_bubblewrap(Some("exec sleep 600"), true, Duration::from_millis(100));
        assert!(matches!(hung, Err(SandboxObstacle::NoNamespaces { .. })), "a hanging trial should fail: {hung:?}");
        assert!(start.elapsed() < Duration::from_secs(60), "the trial should time out");
    }
}
