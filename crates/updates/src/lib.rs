//! Newer releases of the app: what the project announces, whether the project signed it, and whether this installation may take it.
//!
//! Nothing here happens by itself. [`Updates`] checks and installs, each when the shell tells it to (`src-tauri/src/app_updates`): after a click
//! of the user, or for checking by a setting that is off at first. What checks the file and puts it in place is the shell's
//! [`Install`], by Tauri's updater.
//!
//! - [`Release`]: what is announced, read within bounds
//! - [`ReleaseKey`]: the project's public key, and what it verifies
//! - [`Installation`]: how this program came onto the computer
//! - [`Refusal`]: why an update is not taken, in words and as a kind for the page

mod fetch;
mod installation;
mod manifest;
mod refusal;
mod report;
mod signature;
mod state;

pub use fetch::{ReleaseAddress, UpdateLimits};
pub use installation::{Bundle, Installation, Traces};
pub use manifest::{Announcement, Manifest, Release};
pub use refusal::{Refusal, RefusalKind, SignatureProblem};
pub use report::{UpdateReport, UpdateSource, UpdateStep};
pub use signature::ReleaseKey;
pub use state::{Channel, Install, Progress, Updates};
