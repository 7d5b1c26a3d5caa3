//! Starts other programs, each in a separate process group, so that no process remains if xtask is interrupted.

mod group;

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, io};

use crate::problem::Problem;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C and termination requests stop the started programs before xtask exits.
pub(crate) fn stop_children_on_interrupt() -> Result<(), Problem> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst))
        .map_err(|error| Problem::Machine(format!("Ctrl-C cannot be watched for: {error}")))
}

/// Returns [`Problem::Interrupted`] as the error if Ctrl-C was pressed.
pub(crate) fn fail_if_interrupted() -> Result<(), Problem> {
    if INTERRUPTED.load(Ordering::SeqCst) { Err(Problem::Interrupted) } else { Ok(()) }
}

/// Sleeps for `time`, but returns [`Problem::Interrupted`] early if Ctrl-C is pressed.
pub(crate) fn interruptible_sleep(time: Duration) -> Result<(), Problem> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        fail_if_interrupted()?;
        sleep(Duration::from_millis(20).min(time));
    }
    fail_if_interrupted()
}

/// Returns a command that runs the same cargo as the one that started xtask.
pub(crate) fn cargo() -> Program {
    Program::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns `true` if the program exists and exits successfully with these arguments.
pub(crate) fn command_succeeds(program: &str, arguments: &[&str]) -> bool {
    Program::new(program).args(arguments).output().is_ok()
}

/// Returns the ids of the running processes whose environment contains the variable `name` with this value. The list is
/// always empty on systems other than Linux.
pub(crate) fn processes_with_environment_variable(name: &str, value: &str) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.flatten().filter_map(|process| process.file_name().to_str()?.parse().ok());
    let variable_text = format!("{name}={value}");
    // The environment of a process that has ended is empty.
    let carries = |id: &u32| {
        let variables = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == variable_text.as_bytes())
    };
    ids.filter(carries).collect()
}

/// Kills the processes with these ids, which don't have to be children of xtask.
pub(crate) fn kill_processes(processes: &[u32]) {
    processes.iter().copied().for_each(group::kill_process);
}

/// Program to start, with its arguments, environment and output settings.
pub(crate) struct Program {
    command: Command,
    own_group: bool,
}

impl Program {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        // Variables that cargo sets for xtask itself are removed, since they would make build scripts run again.
        for (name, _) in env::vars_os() {
            if is_cargo_package_variable(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        Self { command, own_group: true }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Makes the program append its standard output and standard error to `file`.
    pub(crate) fn output_to(mut self, file: &File) -> io::Result<Self> {
        self.command.stdout(file.try_clone()?).stderr(file.try_clone()?);
        Ok(self)
    }

    /// Makes the program append only its standard error to `file`.
    pub(crate) fn stderr_to(mut self, file: &File) -> io::Result<Self> {
        self.command.stderr(file.try_clone()?);
        Ok(self)
    }

    /// Makes the standard output available through [`RunningProgram::take_stdout`].
    pub(crate) fn with_piped_stdout(mut self) -> Self {
        self.command.stdout(Stdio::piped());
        self
    }

    /// Discards the program's standard error.
    pub(crate) fn without_stderr(mut self) -> Self {
        self.command.stderr(Stdio::null());
        self
    }

    /// Starts the program in the process group of xtask instead of a new one, so that it can read from the terminal.
    /// Required by sudo, which prompts for a password.
    pub(crate) fn with_inherited_stdin(mut self) -> Self {
        self.command.stdin(Stdio::inherit());
        self.own_group = false;
        self
    }

    /// Returns the command line with quoted arguments, for use in messages.
    pub(crate) fn displayed_command(&self) -> String {
        let program = Path::new(self.command.get_program());
        let name = program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
        let arguments = self.command.get_args().map(|argument| argument.to_string_lossy().into_owned());
        std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn start(mut self) -> Result<RunningProgram, Problem> {
        fail_if_interrupted()?;
        let shown = self.displayed_command();
        if self.own_group {
            group::make_process_group_leader(&mut self.command);
        }
        let child = self.command.spawn().map_err(|source| Problem::Start {
            program: self.command.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        Ok(RunningProgram { child, shown, own_group: self.own_group })
    }

    /// Runs the program until it exits. An exit status other than 0 is an error.
    pub(crate) fn run(self) -> Result<(), Problem> {
        self.start()?.finish(Duration::MAX)
    }

    /// Runs the program until it exits and returns its standard output.
    pub(crate) fn output(self) -> Result<String, Problem> {
        let (text, outcome) = self.without_stderr().output_and_result()?;
        outcome.map(|()| text)
    }

    /// Runs the program until it exits. Returns its standard output and, separately, an error if it failed, so that the
    /// output of a failed program is available.
    pub(crate) fn output_and_result(mut self) -> Result<(String, Result<(), Problem>), Problem> {
        self.command.stdout(Stdio::piped());
        let mut running = self.start()?;
        let mut text = Vec::new();
        if let Some(mut stdout) = running.child.stdout.take() {
            stdout.read_to_end(&mut text).map_err(Problem::file_error(&running.shown))?;
        }
        Ok((String::from_utf8_lossy(&text).into_owned(), running.finish(Duration::MAX)))
    }
}

/// Running program. Dropping it stops the program and its process group.
pub(crate) struct RunningProgram {
    child: Child,
    shown: String,
    own_group: bool,
}

impl RunningProgram {
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Returns the exit status, or `None` if the program is still running.
    pub(crate) fn exit_status(&mut self) -> Result<Option<ExitStatus>, Problem> {
        self.child.try_wait().map_err(Problem::file_error(&self.shown))
    }

    /// Waits until the program exits. Returns an error if it fails, exceeds `limit`, or Ctrl-C is pressed.
    pub(crate) fn finish(mut self, limit: Duration) -> Result<(), Problem> {
        let start = Instant::now();
        loop {
            fail_if_interrupted()?;
            match self.exit_status()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(Problem::Failed { command: self.shown.clone(), status }),
                None if start.elapsed() > limit => {
                    return Err(Problem::TooLong { command: self.shown.clone(), limit });
                }
                None => sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if self.own_group {
            group::stop_process_group(&mut self.child);
        }
    }
}

fn is_cargo_package_variable(variable: &str) -> bool {
    const CARGO_PACKAGE_VARIABLES: [&str; 4] =
        ["CARGO_CRATE_NAME", "CARGO_BIN_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"];
    variable.starts_with("CARGO_PKG_")
        || variable.starts_with("CARGO_MANIFEST_")
        || CARGO_PACKAGE_VARIABLES.contains(&variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_variables_about_xtask_are_not_passed_on() {
        assert!(is_cargo_package_variable("CARGO_PKG_VERSION"), "a package variable should not be passed on");
        assert!(is_cargo_package_variable("CARGO_MANIFEST_DIR"), "the manifest's folder should not be passed on");
        assert!(!is_cargo_package_variable("CARGO_TARGET_DIR"), "the target folder should be passed on");
        assert!(!is_cargo_package_variable("PATH"), "the PATH should be passed on");
    }

    #[test]
    fn error_of_a_failed_program_names_its_command() {
        let outcome = cargo().arg("no-such-subcommand").output();
        let message = outcome.map_err(|problem| problem.to_string()).unwrap_err();
        assert!(message.contains("cargo no-such-subcommand"), "the message should contain the command: {message}");
    }

    #[cfg(unix)]
    #[test]
    fn dropping_a_running_program_stops_its_child_processes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("sleep 60 & echo $! > {}; wait", file.path().display());
        let running = Program::new("sh").args(["-c", &script]).start().unwrap();
        let grandchild = loop {
            let text = std::fs::read_to_string(file.path()).unwrap();
            if let Ok(id) = text.trim().parse::<i32>() {
                break nix::unistd::Pid::from_raw(id);
            }
            // sleep: polls, because no event reports the state.
            sleep(Duration::from_millis(10));
        };
        drop(running);
        // In a container without an init process, an exited process remains as a zombie.
        let state = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
        let has_ended = nix::sys::signal::kill(grandchild, None).is_err() || state.contains(") Z ");
        assert!(has_ended, "the grandchild should have ended: {state}");
    }

    #[cfg(unix)]
    #[test]
    fn program_beyond_its_timeout_is_stopped() {
        let outcome = Program::new("sleep").arg("60").start().unwrap().finish(Duration::from_millis(50));
        assert!(matches!(outcome, Err(Problem::TooLong { .. })), "the timeout should be reported: {outcome:?}");
    }
}
