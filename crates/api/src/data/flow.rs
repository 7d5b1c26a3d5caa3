//! How content of one server flows on.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::DataFlow;

/// What is set for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SetDataFlow {
    /// The server.
    pub server: String,
    /// What is set.
    pub flow: DataFlow,
}
