//! How content of one server flows on.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::DataFlow;
use super::whole::whole;

/// What is set for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetDataFlow {
    /// The server.
    pub server: String,
    /// The new settings; a request that leaves out a member is refused.
    #[serde(deserialize_with = "whole")]
    pub flow: DataFlow,
}
