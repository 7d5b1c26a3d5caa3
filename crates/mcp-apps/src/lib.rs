//! The host's side of MCP Apps (extension `io.modelcontextprotocol/ui`).
//!
#![doc = include_str!("../README.md")]

mod capabilities;
mod diagnostics;
mod display_mode;
mod host_context;
mod media_type;
mod metadata;
mod page;
mod partial_arguments;
mod resource_uri;
mod sandbox_policy;
mod text;
mod view;

pub use capabilities::{AcceptedContentKinds, HostCapabilities, SamplingSupport, ServerListAccess};
pub use diagnostics::{AppConsoleLevel, AppDiagnostic, with_diagnostic_script};
pub use display_mode::DisplayMode;
pub use host_context::{
    ContainerAxisSize, ContainerSize, HostContext, HostPlatform, InputDevices, STYLE_VARIABLES, StyleVariables,
    StyleVariablesError, Theme, ToolInfo,
};
pub use media_type::APP_PAGE_MEDIA_TYPE;
pub use metadata::{
    AppPageMetadata, DeclaredDomains, MAX_DECLARED_DOMAIN_BYTES, MAX_DECLARED_DOMAINS_PER_LIST, MAX_METADATA_FAULTS,
    MetadataFault, MetadataProblem, PagePermission, PagePermissions, ToolMetadata, ToolVisibility,
};
pub use page::{AppPage, AppPageHash, AppPageReadError, MAX_APP_PAGE_BYTES};
pub use partial_arguments::{MAX_PARTIAL_ARGUMENTS_BYTES, MAX_PARTIAL_ARGUMENTS_DEPTH, PartialArguments};
pub use resource_uri::{MAX_UI_URI_BYTES, UiUri, UiUriProblem};
pub use sandbox_policy::{
    CspSource, CspSourceOrigin, CspSourceReach, CspSourceUse, DeclaredCspSources, DeclaredDomainProblem,
    DroppedDeclaredDomain, FRAME_SANDBOX_ATTRIBUTE, FrameAncestor, GrantedSandbox, InvalidFrameAncestor, SandboxGrants,
    SandboxPolicy,
};
pub use text::UntrustedTextExcerpt;
pub use view::{
    AppInfo, AppRequest, AppRequestId, AppTool, AppToolCallId, AppToolError, AppToolList, HostResponse,
    HostResponseError, MessageDirection, ModelContext, OfferedFile, OfferedFileContents, PROTOCOL_VERSIONS,
    SamplingResultProblem, SamplingResultRequirements, ServerListKind, ToolMessageOrderError, UndeclaredDisplayMode,
    View, ViewCloseCause, ViewConfig, ViewEvent, ViewFault, ViewFaultKind, ViewOutput, ViewSize, limits,
};

use serde_json::{Value, json};

/// Identifier of the extension MCP Apps in the capabilities of clients and servers.
pub const EXTENSION_ID: &str = "io.modelcontextprotocol/ui";

/// Returns the settings that a client announces for [`EXTENSION_ID`].
#[must_use]
pub fn extension_settings() -> Value {
    json!({ "mimeTypes": [APP_PAGE_MEDIA_TYPE] })
}
