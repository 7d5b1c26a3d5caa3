//! Updates of Drawbridge: checks for releases announced by the project, verifies their signature, and determines
//! whether this installation can be updated.
//!
//! Nothing happens automatically in this crate. [`Updater`] checks and installs only when the shell requests it
//! (`src-tauri/src/app_updates`): after a click of the user, or, for checks, by a setting that is off by default. The
//! shell's [`ReleaseInstaller`] implementation verifies the file and puts it in place with Tauri's updater.
//!
//! - [`Release`]: an announced release, parsed within bounds
//! - [`ReleasePublicKey`]: the project's public key, and the verification of signatures
//! - [`Installation`]: how this program was installed
//! - [`UpdateRefusal`]: the reason why an update is refused, as text and as a kind for the page

mod fetch;
mod installation;
mod manifest;
mod refusal;
mod report;
mod signature;
mod updater;

pub use fetch::{ReleaseManifestUrl, UpdateLimits};
pub use installation::{EmbeddedPackageType, Installation, InstallationFacts};
pub use manifest::{Release, ReleaseAnnouncement, ReleaseManifest};
pub use refusal::{SignatureProblem, UpdateRefusal, UpdateRefusalKind};
pub use report::{UpdateReport, UpdateSource, UpdateStep};
pub use signature::ReleasePublicKey;
pub use updater::{ProgressCallback, ReleaseInstaller, UpdateChannel, Updater};
