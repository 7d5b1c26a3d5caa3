//! Reads and writes servers in the formats of other apps: settings files and pasted text. `installer` scans with this
//! crate and adds the servers that were chosen (`installer/src/imports.rs`), for `cli` and `api`. `store` parses
//! `mcp.json` with parts of it.
//!
//! - [`parse_pasted_servers`]: parses pasted text in any format, including install links
//! - [`scan_settings`]: reads the settings files of all apps in [`apps`], and merges and compares their servers with
//!   the configured ones
//! - [`project_servers`]: counts the servers in the settings files of a project folder, with a hash of these files
//! - [`export`], [`export_server`]: write configured servers in the formats of other apps
//! - [`install_link`]: writes a server as an install link
//! - [`entry`], [`json_text`]: parsing of entries
//!
//! A file of another app may be part of a cloned repository, so its content is not trusted: sizes, depths and counts
//! are limited by constants, nothing that it refers to is executed or opened, and all messages about it are safe to
//! print. Only `files.rs` reads from the disk, in a home folder that the caller provides. Nothing is written.

mod app_environment;
pub mod apps;
mod bridged_servers;
pub mod entry;
mod export;
mod files;
mod found_server;
pub mod json_text;
mod links;
mod merge;
mod notes;
mod omissions;
mod pasted;
mod project_servers;
mod scan;
pub mod secret_detection;
mod server_candidate;
mod server_names;
mod settings_reader;
mod toml_text;
pub mod variables;
mod yaml_text;

pub use app_environment::{AppEnvironment, LOCATION_VARIABLES, OperatingSystem};
pub use bridged_servers::remote_behind_bridge;
pub use export::{ServerExport, ServerExportFormat, ServerListExport, export, export_server};
pub use files::project_files;
pub use found_server::secret_removal::SecretPlace;
pub use found_server::{
    EnvironmentText, FoundServer, ImportOrigin, ImportStatus, ImportedValueKind, PendingSecret, TakenValues,
    ValueSource,
};
pub use links::{InstallLink, LinkTarget, install_link};
pub use notes::ImportPlaceholder;
pub use omissions::{ExportOmissions, OmittedSetting};
pub use pasted::parse_pasted_servers;
pub use ports::server_config::{ImportNote, ImportNoteKind, ImportPlace};
pub use project_servers::{ProjectServers, project_servers};
pub use scan::{MAX_SCANNED_SERVERS, ScanReport, ScanScope, ScannedFile, scan_settings};
pub use server_names::unused_server_name;
