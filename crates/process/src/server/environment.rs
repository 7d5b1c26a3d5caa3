//! The default environment of a server, in addition to its configured variables.
//!
//! The app's own environment may contain tokens and proxy passwords, so only the variables listed here are passed on.
//! The list follows the official SDKs, plus variables for language, time zone and temporary files.

use std::ffi::OsString;

use crate::command::ServerCommand;
use crate::programs::{SearchPath, is_same_environment_variable_name};
use crate::sandbox::SandboxSettings;
use crate::sandbox::reachable_paths::temporary_folder;

#[cfg(not(windows))]
const INHERITED_VARIABLES: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

#[cfg(windows)]
const INHERITED_VARIABLES: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Environment variables that name folders of the user.
const USER_FOLDER_VARIABLES: &[&str] = &["HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// Returns the complete environment of a server without duplicates: the search path, the variables passed on from the
/// app, and the configured variables, which take precedence.
///
/// In a sandbox, variables that name folders of the user are set to folders that belong to this server only.
pub(super) fn server_environment(command: &ServerCommand, path: &SearchPath) -> Vec<(OsString, OsString)> {
    let mut environment: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited)).collect();
    if let Some(SandboxSettings { home, .. }) = &command.sandbox {
        environment.retain(|(name, _)| !name.to_str().is_some_and(|name| USER_FOLDER_VARIABLES.contains(&name)));
        environment.push(("HOME".into(), home.into()));
        environment.push(("TMPDIR".into(), temporary_folder(home).into()));
    }
    environment.push(("PATH".into(), path.to_path_variable()));
    for (name, value) in &command.environment {
        environment.retain(|(other, _)| !is_same_environment_variable_name(other.to_str().unwrap_or_default(), name));
        environment.push((name.into(), value.into()));
    }
    environment
}

fn is_inherited(name: &str) -> bool {
    (cfg!(unix) && name.starts_with("LC_"))
        || INHERITED_VARIABLES.iter().any(|inherited| is_same_environment_variable_name(inherited, name))
}
