//! Finds local programs, starts them in a sandbox, and ends them with all that they started.
//!
#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each module uses only those below it:
//!
//! - `server`: starts a server, waits for it, and ends it
//! - `blocked`: what a failed server may have missed in its sandbox
//! - `missing`: files that a command needs and its sandbox does not reach
//! - `command`: what is configured and approved of a server
//! - `code`: the files that decide what a command runs
//! - [`sandbox`]: what a server may reach, and what holds it
//! - `programs`: where programs are looked for
//! - `launch`: the one place where a process is started
//! - [`orphans`]: ending what a killed app has left behind
//! - `platform`: what differs between operating systems
//!
//! Sizes, numbers and times are bounded: a program may be hostile.

mod blocked;
mod code;
mod command;
mod launch;
mod missing;
pub mod orphans;
mod platform;
mod programs;
pub mod sandbox;
mod server;

pub use blocked::{Blocked, FolderOffer, NamedBy, NotOffered, blocked};
pub use code::{FileState, LaunchFile, LaunchFileRole, LaunchFiles, Stamp, leads_to_code};
pub use command::ServerCommand;
pub use missing::{Missing, missing};
pub use platform::{InputPipe, StartTime};
pub use programs::{CommandNotFound, PathSource, SearchPath, default_directory, is_of_system};
pub use server::{
    Exit, Grace, Output, OutputError, OutputLimits, Pipes, ServerGroup, ServerProcess, SpawnError, Spawned, output_of,
    shut_down, spawn,
};
