//! MCP Bundles: servers in a ZIP archive with a manifest (`.mcpb`, formerly `.dxt`). Used by `api` and `cli` to show
//! and install bundles. See <https://github.com/modelcontextprotocol/mcpb>.
//!
//! - [`Bundle::open`]: opens and checks the archive and its manifest; nothing is written
//! - [`plan`]: what the bundle would start on this computer, as an [`installs::InstallPlan`] with inputs for the user
//! - [`unpack`], [`remove_bundle`], [`verify_tree`], [`verify_folder`]: its files on disk
//! - [`BundlesLock`]: ensures that one program at a time changes those files
//!
//! All functions block, so async code must call them in a blocking task. Nothing in this crate starts a program,
//! reads the environment, or knows the user's folders; callers pass them in. Bundles are untrusted: an archive that
//! two programs could read in different ways is refused (`archive`), sizes are bounded by [`limits`], and texts are
//! the publisher's claims. A bundle is identified by its SHA-256; the signature that some have is shown as an
//! unverified claim ([`installs::BundleSignature`]).

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

/// File name extensions of bundles, compared without regard to case: the current one, and the former one.
pub const BUNDLE_EXTENSIONS: [&str; 2] = ["mcpb", "dxt"];

pub use archive::{Archive, ArchiveFile, ArchiveRefusal, PathProblem};
pub use bundle::Bundle;
pub use error::BundleError;
pub use folder::{FolderChange, verify_folder};
pub use lock::BundlesLock;
pub use manifest::{
    Author, Command, CommandOverride, Compatibility, DeclaredPrompt, DeclaredTool, Icon, Localization, Manifest,
    ManifestError, Server, ServerKind, UserConfig, UserConfigKind,
};
pub use plan::{BundleEnvironment, BundlePlan, PlanError, Platform, ProgramLocation, plan};
pub use tree::{FileTree, FileTreeEntry, TreeChange, verify_tree};
pub use unpack::{UnpackedBundle, direct_subfolder, remove_bundle, remove_leftovers, unpack, unpacked_folders};
