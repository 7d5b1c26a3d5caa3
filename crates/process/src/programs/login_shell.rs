//! Reads the search path of the user's login shell.
//!
//! An app started from a desktop launcher gets a short PATH. The folders of nvm, pyenv, Homebrew and similar tools are
//! added by the shell's start-up files. The shell is started as for a terminal and prints its environment between two
//! markers. If it exceeds the time limit, it is killed with its whole process group.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use memchr::memmem;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::launch::ProcessLaunch;

/// Maximum time for the login shell to run its start-up files and print its environment.
pub(super) const LOGIN_SHELL_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size of the shell's output, in bytes. Longer output is rejected.
const MAX_LOGIN_SHELL_OUTPUT_BYTES: u64 = 1024 * 1024;

const ENVIRONMENT_MARKER: &[u8] = b"_begin_or_end_of_environment_";

/// Shell script that prints the environment between two markers. It prints each marker in two halves: a shell may store
/// the last word of a command in the variable `_`, which would add the marker to the printed environment.
const PRINT_ENVIRONMENT_SCRIPT: &str =
    "printf '%s%s' _begin_or_end_ of_environment_; env -0; printf '%s%s' _begin_or_end_ of_environment_";

/// Returns the PATH of the login shell, or a message that explains why it could not be read.
pub(super) async fn read_path_variable_of_login_shell(shell: PathBuf, limit: Duration) -> Result<OsString, String> {
    let name = shell.display().to_string();
    let launch = ProcessLaunch {
        program: shell,
        arguments: vec!["-ilc".into(), PRINT_ENVIRONMENT_SCRIPT.into()],
        environment: std::env::vars_os().collect(),
        directory: std::env::home_dir().unwrap_or_else(std::env::temp_dir),
        pipes_input_and_errors: false,
        setup: None,
    };
    let mut child = launch.start().await.map_err(|error| format!("{name} could not be started: {error}"))?;
    let Some(mut stdout) = child.stdout().take() else {
        return Err(format!("{name} has no output"));
    };
    let mut output = Vec::new();
    let read = timeout(limit, read_to_second_marker(&mut stdout, &mut output)).await;
    // Kills the whole group, because start-up files may have started background processes.
    let _ = child.start_kill();
    let _ = timeout(Duration::from_secs(1), child.inner_mut().wait()).await;
    match read {
        Err(_) => Err(format!("{name} did not answer within {} s", limit.as_secs_f32())),
        Ok(Err(error)) => Err(format!("the output of {name} could not be read: {error}")),
        Ok(Ok(())) => parse_path_variable(&output).ok_or_else(|| format!("{name} did not print its environment")),
    }
}

async fn read_to_second_marker(stdout: &mut (impl AsyncReadExt + Unpin), output: &mut Vec<u8>) -> std::io::Result<()> {
    let mut limited = stdout.take(MAX_LOGIN_SHELL_OUTPUT_BYTES);
    while memmem::find_iter(output, ENVIRONMENT_MARKER).count() < 2 {
        if limited.read_buf(output).await? == 0 {
            break;
        }
    }
    Ok(())
}

/// Returns the value of PATH in the shell's environment, which `output` contains between the two markers.
fn parse_path_variable(output: &[u8]) -> Option<OsString> {
    let begin = memmem::find(output, ENVIRONMENT_MARKER)? + ENVIRONMENT_MARKER.len();
    let length = memmem::find(&output[begin..], ENVIRONMENT_MARKER)?;
    let value =
        output[begin..begin + length].split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(b"PATH="))?;
    (!value.is_empty()).then(|| to_os_string(value))
}

#[cfg(unix)]
fn to_os_string(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn to_os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{ENVIRONMENT_MARKER, PRINT_ENVIRONMENT_SCRIPT, parse_path_variable};

    #[test]
    fn print_environment_script_never_contains_the_whole_marker() {
        let halves = PRINT_ENVIRONMENT_SCRIPT.matches("_begin_or_end_ of_environment_").count();
        assert_eq!(halves, 2, "the marker is printed before and after the environment");
        let marker = std::str::from_utf8(ENVIRONMENT_MARKER).unwrap();
        assert!(
            !PRINT_ENVIRONMENT_SCRIPT.contains(marker),
            "dash exports the last word of the previous command as `_`"
        );
        assert_eq!(
            "_begin_or_end_ of_environment_".replace(' ', ""),
            marker,
            "both halves together must be the marker"
        );
    }

    #[test]
    fn path_variable_is_found_between_shell_greetings() {
        let marker = std::str::from_utf8(ENVIRONMENT_MARKER).unwrap();
        let output = format!("Welcome!\nPATH=/wrong\n{marker}A=1\0B=line\nPATH=/also-wrong\0PATH=/a b:/c\0{marker}bye");
        assert_eq!(
            parse_path_variable(output.as_bytes()),
            Some("/a b:/c".into()),
            "only a variable named PATH between the markers must be used"
        );
        assert_eq!(parse_path_variable(b"PATH=/a\0"), None, "output without markers must be rejected");
    }
}
