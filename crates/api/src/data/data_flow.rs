//! Data flow settings of a server.

use serde::Deserialize;
use ts_rs::TS;

use super::DataFlow;
use super::complete_object::deserialize_object_with_all_members;

/// Request to set the data flow settings of a server: after which of its content a model's later calls require consent,
/// and which of its results the user reviews before a model reads them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, TS)]
pub struct SetDataFlow {
    /// Name of the server in the settings.
    pub server: String,
    /// New data flow settings of the server. A request that omits one of their members is rejected.
    #[serde(deserialize_with = "deserialize_object_with_all_members")]
    pub flow: DataFlow,
}
