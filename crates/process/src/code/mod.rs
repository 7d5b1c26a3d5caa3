//! The code that a command runs: the files that its program, arguments and variables lead to, with the hashes of their
//! contents.
//!
//! The host requests the user's approval of [`LaunchFiles`], and the start compares them with the current files.
//! `missing` finds those that a sandbox does not make accessible.

mod content_hash;
mod files;
mod found;
mod launch_files;
mod paths;
mod script_files;
mod variables;
mod words;

pub(crate) use files::{has_code_name, scripts_named};
pub use found::LaunchFileRole;
pub use launch_files::{FileStamp, FileState, LaunchFile, LaunchFiles};
pub(crate) use script_files::CommandLine;
pub use variables::leads_to_code;
