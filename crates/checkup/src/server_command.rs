//! Check of a command that the user enters for a server: whether its program and its working folder exist.

use std::collections::BTreeMap;
use std::path::PathBuf;

use process::{SearchPath, ServerCommand};
use serde::Serialize;
use tokio::time::timeout;

use crate::SEARCH_PATH_MAX_AGE;
use crate::computer::CheckInputs;
use crate::run::CHECK_TIMEOUT;

/// Requirements of a server's command that this computer does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ServerCommandCheck {
    /// Set if the program does not exist, neither in the search path nor at its path, or is not executable.
    pub is_program_missing: bool,
    /// Set if the working folder does not exist, or is no folder.
    pub is_folder_missing: bool,
}

/// Checks a command without running its program. `path_variable` is the `PATH` that is configured for the command. If
/// the check takes too long, nothing counts as missing.
pub async fn check_server_command(
    inputs: &CheckInputs,
    program: String,
    path_variable: Option<String>,
    working_directory: Option<PathBuf>,
) -> ServerCommandCheck {
    let environment: BTreeMap<String, String> =
        path_variable.map(|value| ("PATH".to_owned(), value)).into_iter().collect();
    let command = ServerCommand { program, environment, working_directory, ..ServerCommand::default() };
    let looking = async {
        let found = find_missing(command.clone(), inputs.search_path.get(None).await).await;
        if !found.is_program_missing {
            return found;
        }
        // The program may have been installed since the search path was read.
        find_missing(command, inputs.search_path.get(Some(SEARCH_PATH_MAX_AGE)).await).await
    };
    timeout(CHECK_TIMEOUT, looking).await.unwrap_or_default()
}

/// Looks for the program and the working folder of a command on a blocking thread, since the disk may be slow.
async fn find_missing(command: ServerCommand, path: SearchPath) -> ServerCommandCheck {
    let looking = tokio::task::spawn_blocking(move || ServerCommandCheck {
        is_program_missing: path.resolve(&command).is_err(),
        is_folder_missing: command.working_directory.is_some_and(|folder| !folder.is_dir()),
    });
    looking.await.unwrap_or_default()
}
