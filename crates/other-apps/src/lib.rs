//! Servers as other apps write them: their settings files, and text that is pasted. `cli` and `api` import by it, and `store` reads `mcp.json` with
//! its parts.
//!
//! - [`import`]: pasted text, in whatever form, install links among them
//! - [`look`]: the settings files of all apps in [`apps`], merged and compared with the user's servers
//! - [`export`]: the user's servers in the forms of other apps
//! - [`install_link`]: one of them as a link that installs it
//! - [`entry`], [`json_text`]: what both read entries by
//!
//! A file of another app may have come with a cloned repository, so nothing in it is trusted: sizes, depths and counts are bounded by constants,
//! nothing that it names is run or followed, and all that is said of it is safe to print. The disk is read in `files.rs` alone, below a home folder
//! that is given from outside; nothing is written.

pub mod apps;
mod bridges;
mod candidate;
pub mod entry;
mod export;
mod files;
mod found;
pub mod json_text;
mod links;
mod merge;
mod names;
mod notes;
mod pasted;
mod read;
mod scan;
pub mod secret_like;
mod surroundings;
mod toml_text;
pub mod variables;
mod yaml_text;

pub use bridges::bridged_remote;
pub use export::{ExportForm, export};
pub use files::project_files;
pub use found::{FoundServer, ImportOrigin, ImportStatus, ImportedValueKind, Pending};
pub use links::{InstallLink, LinkFor, install_link};
pub use names::free_name;
pub use notes::{ImportNote, ImportNoteKind, ImportPlace, ImportPlaceholder};
pub use pasted::import;
pub use scan::{FileRead, From, MAX_SERVERS, Report, look};
pub use surroundings::{Surroundings, System, VARIABLES};
