//! Newer releases of the app: what the project announces, whether the project signed it, and whether this installation may take it.
//!
//! Nothing here happens by itself. [`Updates`] checks, downloads and installs one step at a time, each when it is told to; the shell tells
//! it to, after a click of the user or by a setting that is off at first. What puts the new files in place is the shell's [`Install`].
//!
//! - [`Release`]: what is announced, read within bounds
//! - [`ReleaseKey`]: the project's public key, and what it verifies
//! - [`Installation`]: how this program came onto the computer
//! - [`Refusal`]: why an update is not taken, in words and as a kind for the page

mod fetch;
mod installation;
mod manifest;
mod refusal;
mod signature;
mod state;

pub use fetch::{ReleaseAddress, UpdateLimits};
pub use installation::{Bundle, Installation, Traces};
pub use manifest::{Announcement, Manifest, Release};
pub use refusal::{Refusal, RefusalKind};
pub use signature::ReleaseKey;
pub use state::{Channel, Install, Progress, UpdateReport, UpdateStep, Updates};
