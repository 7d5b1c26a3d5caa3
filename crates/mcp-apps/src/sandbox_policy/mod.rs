//! Sandbox policy of a page's frame: the granted part of its declared domains and permissions, and the headers and
//! attributes that enforce the policy.
//!
//! - `csp_source`: parses a declared domain into an origin, and classifies what it can reach.
//! - `declared_csp_sources`: all domains of a page, parsed, with the refused ones and the reasons.
//! - `content_security_policy`: the value of the header, from parsed origins only.
//! - `permissions_policy`: the permissions of the frame and of its document.

mod content_security_policy;
mod csp_source;
mod declared_csp_sources;
mod permissions_policy;

pub use content_security_policy::{FrameAncestor, InvalidFrameAncestor};
pub use csp_source::{CspSource, CspSourceOrigin, CspSourceReach, DeclaredDomainProblem};
pub use declared_csp_sources::{CspSourceUse, DeclaredCspSources, DroppedDeclaredDomain};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::metadata::{AppPageMetadata, PagePermissions};

/// Value of the attribute `sandbox` of an app page's frame.
///
/// The page needs `allow-same-origin` for storage. The value is safe only if the page's origin differs from the host's
/// and from that of every other page.
pub const FRAME_SANDBOX_ATTRIBUTE: &str = "allow-scripts allow-same-origin allow-forms";

/// Kinds of access that the user or the host grants to an app page. By default, none is granted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase", default)]
pub struct SandboxGrants {
    /// Set if declared origins in the internet or a private network are granted.
    pub declared_origins: bool,
    /// Set if declared origins on this computer are granted.
    pub loopback: bool,
    /// Set if the declared source `*`, which means every host, is granted.
    pub every_host: bool,
    /// Permissions that are granted if the app page requests them.
    pub permissions: PagePermissions,
}

impl SandboxGrants {
    fn includes(&self, reach: CspSourceReach) -> bool {
        match reach {
            CspSourceReach::Internet | CspSourceReach::PrivateNetwork => self.declared_origins,
            CspSourceReach::Loopback => self.loopback,
            CspSourceReach::EveryHost => self.every_host,
        }
    }
}

/// Granted domains and permissions of an app page, as the host reports them to the page. Created only by
/// [`SandboxPolicy::granted`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedSandbox(Value);

impl GrantedSandbox {
    /// Returns the value of the member `sandbox` of the host's capabilities.
    #[must_use]
    pub const fn as_value(&self) -> &Value {
        &self.0
    }
}

/// Sandbox policy of one app page, which is enforced and reported to the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPolicy {
    /// Declared sources that were granted. Those that were not granted are in `dropped`.
    pub sources: DeclaredCspSources,
    /// Permissions that the app page requests and that were granted.
    pub permissions: PagePermissions,
    /// Set if the app page declares domains, even if none was granted.
    declares_domains: bool,
}

impl SandboxPolicy {
    /// Returns the policy of an app page: the part of its declared domains and permissions that `grants` includes.
    #[must_use]
    pub fn new(metadata: &AppPageMetadata, grants: &SandboxGrants) -> Self {
        let declared = metadata.domains.as_ref().map(DeclaredCspSources::parse).unwrap_or_default();
        Self {
            sources: declared.retain_granted_sources(|source| grants.includes(source.reach())),
            permissions: metadata.permissions.intersection(&grants.permissions),
            declares_domains: metadata.domains.is_some(),
        }
    }

    /// Returns the value of the header `Content-Security-Policy`, for a document that only pages of `ancestors` may
    /// embed. The header has to be in force before the first byte of the document.
    #[must_use]
    pub fn content_security_policy(&self, ancestors: &[FrameAncestor]) -> String {
        content_security_policy::content_security_policy_value(&self.sources, self.declares_domains, ancestors)
    }

    /// Returns the value of the attribute `allow` of the frame. Empty if no permission is granted.
    #[must_use]
    pub fn frame_allow_attribute(&self) -> String {
        permissions_policy::frame_allow_attribute(&self.permissions)
    }

    /// Returns the value of the header `Permissions-Policy`.
    #[must_use]
    pub fn permissions_policy(&self) -> String {
        permissions_policy::permissions_policy_value(&self.permissions)
    }

    /// Returns the granted domains and permissions, which the host reports to the app page.
    #[must_use]
    pub fn granted(&self) -> GrantedSandbox {
        let permissions: serde_json::Map<String, Value> =
            self.permissions.iter().map(|permission| (permission.metadata_name().to_owned(), json!({}))).collect();
        GrantedSandbox(json!({ "permissions": permissions, "csp": self.sources.to_value() }))
    }
}

#[cfg(test)]
mod tests;
