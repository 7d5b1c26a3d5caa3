//! Which registry servers are installed from.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The registry that servers are installed from now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RegistryReport {
    /// Its address.
    pub address: String,
    /// Whether it is the official one.
    pub official: bool,
    /// Whether the environment variable `DRAWBRIDGE_REGISTRY` names it, so that the setting does not count.
    pub named: bool,
    /// The name of the header that is sent with each request. Its value never comes out of the keychain.
    pub header: Option<String>,
}

/// The registry to use from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SetRegistry {
    /// Its address: https, or http on this computer; none for the official one.
    pub address: Option<String>,
    /// The header that is sent with each request, if any.
    #[serde(default)]
    pub header: Option<SetRegistryHeader>,
}

/// A header of requests to a registry.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct SetRegistryHeader {
    /// Its name, such as `Authorization`.
    pub name: String,
    /// Its whole value, for the keychain; none to keep the one that is there for this address.
    #[serde(default)]
    pub value: Option<String>,
}

impl std::fmt::Debug for SetRegistryHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetRegistryHeader").field("name", &self.name).finish_non_exhaustive()
    }
}
