//! Data flow settings of a server.

use serde::Deserialize;
use ts_rs::TS;

use super::DataFlow;
use super::exact_object::deserialize_exact;

/// Request to set the data flow settings of a server: which content from it requires consent before it is passed on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetDataFlow {
    /// Name of the server in the settings.
    pub server: String,
    /// New settings. A request that omits a member is rejected.
    #[serde(deserialize_with = "deserialize_exact")]
    pub flow: DataFlow,
}
