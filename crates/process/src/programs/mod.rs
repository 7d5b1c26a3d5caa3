//! Finds programs: the search path of the user's login shell, well-known folders, and the interpreters that scripts
//! name.
//!
//! The app reads [`SearchPath`] once, and shares it as a [`SharedSearchPath`](crate::SharedSearchPath). Lookups of a
//! whole command (`SearchPath::resolve`) are in [`crate::command`].

mod interpreter;
mod login_shell;
mod search_path;
mod system_folders;
mod well_known;

use std::path::PathBuf;

pub(crate) use interpreter::find_interpreter;
pub use search_path::{CommandNotFound, SearchPath, SearchPathSource};
pub(crate) use system_folders::SYSTEM_FOLDERS;
pub use system_folders::is_in_system_folder;

/// Returns the default working directory of a server: the user's home.
pub(crate) fn default_working_directory() -> PathBuf {
    std::env::home_dir().unwrap_or_else(std::env::temp_dir)
}

/// Returns `true` if two names denote the same environment variable. On Windows, case is ignored.
pub(crate) fn is_same_environment_variable_name(left: &str, right: &str) -> bool {
    if cfg!(windows) { left.eq_ignore_ascii_case(right) } else { left == right }
}
