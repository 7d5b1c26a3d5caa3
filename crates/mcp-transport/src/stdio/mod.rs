//! Local servers: a child process that speaks over its standard input and output.

mod code_files;
mod code_variables;
mod command;
mod content_hash;
mod environment;
mod launch;
mod launch_files;
mod launch_paths;
mod launch_words;
mod login_shell;
mod output;
mod process;
mod script_files;
mod search_path;
mod stderr;
#[cfg(unix)]
mod watcher;
mod well_known;

pub(crate) use code_files::has_code_name;
pub use code_variables::leads_to_code;
pub use command::ServerCommand;
pub use environment::of_server as environment_of;
pub(crate) use launch::Launch;
pub use launch_files::{FileState, LaunchFile, LaunchFiles, LaunchRole, Stamp};
pub use output::{Output, OutputError, OutputLimits, output_of};
pub use process::{Exit, ServerProcess, SpawnError, Spawned, spawn};
pub(crate) use process::{Pipes, ServerGroup};
pub use search_path::{CommandNotFound, PathSource, SearchPath};
pub use stderr::StderrRing;
pub(crate) use stderr::{StderrOutput, drain};
