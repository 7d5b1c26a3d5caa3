//! MCP registries (API version 0.1): what they list, kept for when they can't be reached, and the plan to install it. Nothing here installs,
//! starts or approves anything. Callers: `cli` and `api`, which show what is found and hand the plan's settings to `host::Setup`.
//!
//! - [`Catalog`]: search, a server's versions, one version; from the registry or from what is kept, with its age; which installed versions
//!   were deprecated or deleted
//! - [`server_json`]: what a registry answers, read within bounds; [`Publisher`]: who may publish under a name
//! - [`plan_package`] and [`plan_remote`]: from what is listed to an [`installs::InstallPlan`]
//! - [`Catalog::download`]: a bundle that is listed, checked against its hash
//! - [`newer_version`]: whether there is one
//!
//! All of it is foreign: texts that are only shown are safe to print, and what is run is checked so that it is nothing else on a command
//! line. That a name belongs to its publisher is all that a registry checks.

mod cache;
mod catalog;
mod changes;
mod client;
mod download;
mod newer;
mod plan;
mod publisher;
pub mod server_json;

pub use cache::{CacheLimits, RecordedStatus, RegistryCache};
pub use catalog::{Answer, Catalog, Freshness, Search};
pub use changes::Changes;
pub use client::{OFFICIAL_REGISTRY, Registry, RegistryAddress, RegistryError, RegistryHeader, RegistryLimits};
pub use download::{DownloadError, DownloadLimits};
pub use newer::{compare_versions, newer_version};
pub use plan::{BundleDownload, PackageInstall, PlanError, plan_package, plan_remote};
pub use publisher::Publisher;
pub use server_json::{Listing, Package, Page, RegistryEntry, Remote, ServerJson, Status};
