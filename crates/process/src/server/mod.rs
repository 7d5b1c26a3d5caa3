//! Local servers: programs that run for as long as the app needs them and communicate over standard input and output.
//!
//! [`spawn`] starts a server for a [`ServerCommand`](crate::ServerCommand). [`run_and_capture`] runs a short program to
//! its end in the same way.

mod environment;
mod output;
#[cfg(unix)]
mod parent_watcher;
mod server_group;
mod shutdown;
mod spawn;
mod spawned_process;

pub use output::{OutputError, OutputLimits, ProgramOutput, run_and_capture};
pub use server_group::{ProcessExit, ServerGroup, ServerPipes, ServerProcess};
pub use shutdown::{GracePeriods, shut_down};
pub use spawn::{SpawnError, spawn};
pub use spawned_process::SpawnedServerProcess;
