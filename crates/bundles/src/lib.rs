//! MCP Bundles: servers in a ZIP archive with a manifest (`.mcpb`, formerly `.dxt`). `api` and `cli` show what is in one and install it by this crate.
//! <https://github.com/modelcontextprotocol/mcpb>
//!
//! - [`Bundle::open`]: the archive and its manifest, checked; nothing is written
//! - [`plan`]: what it would start on this computer, as an [`installs::InstallPlan`] with blanks for the user
//! - [`unpack`], [`remove`], [`verify_tree`], [`verify_folder`]: its files on disk
//! - [`BundlesLock`]: one program at a time changes those files
//!
//! All functions block, so async code calls them on a thread for blocking work. Nothing here starts a program, reads the environment, or knows where
//! the user's folders are: they are given from outside. A bundle comes from anybody, so its archive is refused if two programs could read it in two
//! ways (`archive`), sizes are bounded by [`limits`], and its texts are the publisher's claims. What identifies a bundle is its SHA-256; the
//! signature that some have is shown for what it is ([`Signature`]).

mod archive;
mod bundle;
mod error;
mod folder;
pub mod limits;
mod lock;
mod manifest;
mod plan;
mod signature;
mod tree;
mod tree_file;
mod unpack;

/// How the names of bundles end, in any case: as they do now, and as they did at first.
pub const EXTENSIONS: [&str; 2] = ["mcpb", "dxt"];

pub use archive::{Archive, ArchiveFile, PathProblem, Refusal};
pub use bundle::Bundle;
pub use error::BundleError;
pub use folder::{FolderChange, verify_folder};
pub use lock::BundlesLock;
pub use manifest::{
    Author, Command, CommandOverride, Compatibility, Icon, Localization, Manifest, ManifestError, PromptClaim, Server,
    ServerKind, ToolClaim, UserConfig, UserConfigKind,
};
pub use plan::{BundlePlan, Place, PlanError, Platform, Program, plan};
pub use signature::Signature;
pub use tree::{Tree, TreeChange, TreeFile, verify_tree};
pub use unpack::{UnpackedBundle, folder_below, remove, remove_leftovers, unpack, unpacked_folders};
