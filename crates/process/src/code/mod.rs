//! The code that a command runs: the files to which its program, arguments and variables lead, with the hashes of their
//! contents.
//!
//! The host requests the user's approval of [`LaunchFiles`], and the start compares them with the current files.
//! `missing_dependencies` finds those that a sandbox does not make accessible.

mod argument_handling;
mod argument_paths;
mod code_files;
mod code_variables;
mod content_hash;
mod interpreter_files;
mod launch_files;
mod script_files;

pub use argument_handling::is_container_engine;
pub(crate) use code_files::{has_code_name, scripts_in_arguments};
pub use code_variables::is_code_variable;
pub use interpreter_files::LaunchFileRole;
pub use launch_files::{FileSizeAndTimes, LaunchFile, LaunchFileState, LaunchFiles};
pub(crate) use script_files::CommandLine;
