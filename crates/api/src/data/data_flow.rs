//! Data flow settings of a server.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::DataFlow;
use super::exact_object::whole;

/// Request to set how the content of a server may be passed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetDataFlow {
    /// Name of the server in the settings.
    pub server: String,
    /// New settings. A request that omits a member is rejected.
    #[serde(deserialize_with = "whole")]
    pub flow: DataFlow,
}
