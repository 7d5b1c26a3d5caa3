//! Finds local programs, starts them in a sandbox, and ends them together with all processes that they started.
#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each module uses only those below it:
//!
//! - `server`: starts a server, waits for it, and ends it
//! - `blocked_paths`: paths that a failed server may have missed in its sandbox
//! - `missing_dependencies`: files that a command needs and its sandbox does not make accessible
//! - `command`: the configured and approved command of a server
//! - `code`: the files that decide what a command runs
//! - [`sandbox`]: the access of a server, and its enforcement
//! - `programs`, `shared_search_path`: the search path for programs, and its cache
//! - `launch`: starts programs for the app, on one thread
//! - [`orphans`]: ends the servers of a killed app
//! - `open_file`: opens files that another program may replace meanwhile
//! - `platform`: code specific to operating systems
//!
//! Sizes, counts and times are bounded, because a program may be hostile.

mod blocked_paths;
mod code;
mod command;
mod launch;
mod missing_dependencies;
mod open_file;
pub mod orphans;
pub mod path_links;
mod platform;
mod programs;
pub mod sandbox;
mod server;
mod shared_search_path;

pub use blocked_paths::{BlockedPath, FolderProposal, PathMention, ProposalRefusal, blocked_paths};
pub use code::{
    FileSizeAndTimes, LaunchFile, LaunchFileRole, LaunchFileState, LaunchFiles, is_code_variable, is_container_engine,
};
pub use command::ServerCommand;
pub use missing_dependencies::{MissingDependency, missing_dependencies};
pub use open_file::open_resolved_file;
pub use platform::{InputPipe, StartTime};
pub use programs::{CommandNotFound, SearchPath, SearchPathSource, is_in_system_folder};
pub use server::{
    GracePeriods, OutputError, OutputLimits, ProcessExit, ProgramOutput, ServerGroup, ServerPipes, ServerProcess,
    SpawnError, SpawnedServerProcess, run_and_capture, shut_down, spawn,
};
pub use shared_search_path::SharedSearchPath;
