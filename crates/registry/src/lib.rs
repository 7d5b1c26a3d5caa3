//! A client for MCP registries (API version 0.1), with a cache for when they are unreachable, and install plans for
//! their entries. Nothing in this crate installs, starts or approves anything. Used by `cli` and `api`, which show
//! the results and pass a plan's settings to `host::ServerSetup`.
//!
//! - [`RegistryCatalog`]: searches servers and returns a server's versions, from the registry or from the cache, with the age
//!   of the answer; also reports installed versions that were deprecated or deleted
//! - [`server_json`]: parses a registry's responses within bounds; [`Publisher`]: the party that may publish under a
//!   name
//! - [`plan_package`] and [`plan_remote`]: convert entries to an [`installs::InstallPlan`]
//! - [`RegistryCatalog::download`]: downloads a listed bundle, and checks its hash
//! - [`find_newer_version`]: finds a newer version
//!
//! All data is untrusted: texts for display are made safe to print, and values that are executed are checked so that
//! they can't be mistaken for something else on a command line. A registry only verifies that a name belongs to its
//! publisher.

mod cache;
mod catalog;
mod changes;
mod client;
mod download;
mod newer_version;
mod plan;
mod publisher;
pub mod server_json;

pub use cache::{CacheLimits, RecordedStatus, RegistryCache};
pub use catalog::{CachePolicy, DatedResponse, LATEST_VERSION, RegistryCatalog, SearchQuery};
pub use changes::ChangesSummary;
pub use client::{OFFICIAL_REGISTRY, RegistryAddress, RegistryClient, RegistryError, RegistryHeader, RegistryLimits};
pub use download::{DownloadError, DownloadLimits};
pub use newer_version::{compare_versions, find_newer_version};
pub use plan::{BundleDownload, PackageInstall, PlanError, plan_package, plan_remote};
pub use publisher::Publisher;
pub use server_json::{EntryPage, ListingMetadata, ListingStatus, Package, RegistryEntry, RemoteTransport, ServerJson};
