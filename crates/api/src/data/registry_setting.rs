//! Setting for the registry that servers are installed from.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Registry that servers are installed from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct RegistryReport {
    /// Base URL of the registry.
    pub address: String,
    /// `true` if this is the official registry.
    pub official: bool,
    /// `true` if the URL is from the environment variable `DRAWBRIDGE_REGISTRY`, which overrides the setting.
    pub named: bool,
    /// Name of the header that is sent with each request to the registry, or `None` if there is none. The value of the
    /// header is stored in the keychain and never returned.
    pub header: Option<String>,
}

/// Request to change the registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SetRegistry {
    /// Base URL of the registry, with the scheme https, or http for this computer. `None` for the official registry.
    pub address: Option<String>,
    /// Header that is sent with each request, if any.
    #[serde(default)]
    pub header: Option<SetRegistryHeader>,
}

/// Header that is sent with each request to the registry.
#[derive(Clone, PartialEq, Eq, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SetRegistryHeader {
    /// Name of the header, such as `Authorization`.
    pub name: String,
    /// Value of the header, which is stored in the keychain. `None` keeps the stored value for this URL.
    #[serde(default)]
    pub value: Option<String>,
}

impl std::fmt::Debug for SetRegistryHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetRegistryHeader").field("name", &self.name).finish_non_exhaustive()
    }
}
