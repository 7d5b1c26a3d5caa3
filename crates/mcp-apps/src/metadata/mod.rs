//! Metadata of MCP Apps that servers declare for tools and pages, in the member `ui` of `_meta`.
//!
//! - `tool_metadata`: the page of a tool, and who may call the tool.
//! - `page_metadata`: domains, permissions and appearance that a page requests.
//! - `bounded_metadata_reader`: reads untrusted JSON within bounds, and lists what it ignores.

mod bounded_metadata_reader;
mod page_metadata;
mod tool_metadata;

pub use bounded_metadata_reader::{MAX_METADATA_FAULTS, MetadataFault, MetadataProblem};
pub use page_metadata::{
    AppPageMetadata, DeclaredDomains, MAX_DECLARED_DOMAIN_BYTES, MAX_DECLARED_DOMAINS_PER_LIST, PagePermission,
    PagePermissions,
};
pub use tool_metadata::{ToolMetadata, ToolVisibility};
