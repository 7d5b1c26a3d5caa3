//! Local servers: programs that run as long as the app needs them and communicate over standard input and output.
//!
//! [`spawn`] starts a server for a [`ServerCommand`](crate::ServerCommand). [`output_of`] runs a short program to its
//! end in the same way.

mod environment;
mod group;
mod output;
mod shutdown;
mod spawn;
mod spawned;
#[cfg(unix)]
mod watcher;

pub use group::{ProcessExit, ServerGroup, ServerPipes, ServerProcess};
pub use output::{Output, OutputError, OutputLimits, output_of};
pub use shutdown::{GracePeriods, shut_down};
pub use spawn::{SpawnError, spawn};
pub use spawned::SpawnedProcess;
