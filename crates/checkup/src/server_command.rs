//! Check of a command that the user enters for a server: whether its program and its working folder exist.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use process::{SearchPath, ServerCommand};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::SEARCH_PATH_MAX_AGE;
use crate::computer::CheckInputs;
use crate::run::CHECK_TIMEOUT;

/// Permits one check to look at the disk at a time. A check that hangs, for instance on a network drive, does not end
/// with its time limit, so that each further one would occupy another thread.
static DISK_ACCESS: Semaphore = Semaphore::const_new(1);

/// Requirements of a server's command that this computer does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ServerCommandCheck {
    /// Set if the program does not exist, neither in the search path nor at its path, or is not executable.
    pub is_program_missing: bool,
    /// Set if the working folder does not exist, or is no folder.
    pub is_folder_missing: bool,
    /// Set if the path of the working folder is not absolute. The server can't be started there.
    pub is_folder_relative: bool,
}

/// The parts of a server's command to check.
#[derive(Debug, Clone, Default)]
pub struct CheckedCommand {
    /// Name or path of the program, or `None` to check only the working folder.
    pub program: Option<String>,
    /// `PATH` that is configured for the command, or `None` if there is none.
    pub path_variable: Option<String>,
    /// Working folder of the command, or `None` for the default one.
    pub working_directory: Option<PathBuf>,
}

/// Checks a command without running its program. If the check takes too long, nothing counts as missing. A path on
/// another computer or a device is not checked, since the computer that it names would receive a request, on Windows
/// with credentials of the user.
pub async fn check_server_command(inputs: &CheckInputs, command: CheckedCommand) -> ServerCommandCheck {
    let Some(command) = command.without_remote_paths() else { return ServerCommandCheck::default() };
    // Not looked for in the folder of the app.
    if command.working_directory.as_ref().is_some_and(|folder| !folder.is_absolute()) {
        return ServerCommandCheck { is_folder_relative: true, ..ServerCommandCheck::default() };
    }
    let looking = async {
        let path = inputs.search_path.get(None).await;
        let found = find_missing(&DISK_ACCESS, command.clone(), path).await;
        if !found.is_program_missing {
            return found;
        }
        // The program may have been installed since the search path was read.
        let path = inputs.search_path.get(Some(SEARCH_PATH_MAX_AGE)).await;
        find_missing(&DISK_ACCESS, command, path).await
    };
    timeout(CHECK_TIMEOUT, looking).await.unwrap_or_default()
}

impl CheckedCommand {
    /// Omits the program if its path, or a folder in which it is searched, may be on another computer or a device.
    /// Returns `None` if the working folder may be.
    fn without_remote_paths(mut self) -> Option<Self> {
        if self.working_directory.as_deref().is_some_and(is_remote_or_device) {
            return None;
        }
        let has_remote_program = self.program.as_deref().is_some_and(|program| is_remote_or_device(Path::new(program)));
        let has_remote_folder = self
            .path_variable
            .as_deref()
            .is_some_and(|variable| std::env::split_paths(variable).any(|folder| is_remote_or_device(&folder)));
        if has_remote_program || has_remote_folder {
            self.program = None;
        }
        Some(self)
    }
}

/// Returns `true` if a path may name another computer or a device on Windows, such as `\\server\share`,
/// `//server/share`, `\\.\pipe\name` or `\??\UNC\server\share`.
fn is_remote_or_device(path: &Path) -> bool {
    let path = path.as_os_str().as_encoded_bytes();
    let is_separator = |at: usize| matches!(path.get(at), Some(b'\\' | b'/'));
    is_separator(0) && (is_separator(1) || path.get(1..3) == Some(b"??"))
}

/// Looks for the program and the working folder of a command on a blocking thread, which has the permit until it ends.
async fn find_missing(access: &'static Semaphore, command: CheckedCommand, path: SearchPath) -> ServerCommandCheck {
    // The semaphore is never closed.
    let Ok(permit) = access.acquire().await else { return ServerCommandCheck::default() };
    let looking = tokio::task::spawn_blocking(move || {
        let found = look_for(command, &path);
        drop(permit);
        found
    });
    looking.await.unwrap_or_default()
}

fn look_for(command: CheckedCommand, path: &SearchPath) -> ServerCommandCheck {
    let CheckedCommand { program, path_variable, working_directory } = command;
    let is_folder_missing = working_directory.as_ref().is_some_and(|folder| !folder.is_dir());
    let environment: BTreeMap<String, String> =
        path_variable.map(|value| ("PATH".to_owned(), value)).into_iter().collect();
    let is_program_missing = program.is_some_and(|program| {
        path.resolve(&ServerCommand { program, environment, working_directory, ..ServerCommand::default() }).is_err()
    });
    ServerCommandCheck { is_program_missing, is_folder_missing, is_folder_relative: false }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn paths_on_other_computers_and_devices_are_not_checked() {
        let remote =
            [r"\\server\share", "//server/share", r"\/server/share", r"\\.\pipe\x", r"\\?\UNC\s\x", r"\??\UNC\s\x"];
        for path in remote {
            let folder = CheckedCommand { working_directory: Some(path.into()), ..CheckedCommand::default() };
            assert!(folder.without_remote_paths().is_none(), "the working folder {path}");
            let program = CheckedCommand { program: Some(path.to_owned()), ..CheckedCommand::default() };
            assert_eq!(program.without_remote_paths().unwrap().program, None, "the program {path}");
            let searched = std::env::join_paths(["/bin", path]).unwrap().into_string().unwrap();
            let bare = CheckedCommand {
                program: Some("npx".to_owned()),
                path_variable: Some(searched.clone()),
                ..CheckedCommand::default()
            };
            assert_eq!(bare.without_remote_paths().unwrap().program, None, "the PATH {searched}");
        }
        for path in ["/home/ann", r"C:\Users\ann", r"\Users\ann", "npx", ""] {
            assert!(!is_remote_or_device(Path::new(path)), "{path} is on this computer");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_one_check_looks_at_the_disk_even_after_its_time_limit() {
        static ACCESS: Semaphore = Semaphore::const_new(1);
        let path = SearchPath { directories: Vec::new(), source: process::SearchPathSource::LoginShell };
        let folder = CheckedCommand { working_directory: Some("/nowhere".into()), ..CheckedCommand::default() };
        let hanging = ACCESS.acquire().await.unwrap();
        let waiting = timeout(CHECK_TIMEOUT, find_missing(&ACCESS, folder.clone(), path.clone())).await;
        assert!(waiting.is_err(), "a check waits for one that hangs");
        drop(hanging);
        assert!(find_missing(&ACCESS, folder, path).await.is_folder_missing, "the next check looks at the disk");
        assert_eq!(ACCESS.available_permits(), 1, "the permit is returned");
    }
}
