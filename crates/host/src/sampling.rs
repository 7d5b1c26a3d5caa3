//! Sampling answers that the user writes by hand.

use mcp_proto::types::{CreateMessageResult, Role, SamplingContent};

/// The model's name in an answer that the user wrote.
pub const WRITTEN_BY_USER: &str = "user";

/// An answer with nothing in it yet.
#[must_use]
pub fn empty_response() -> CreateMessageResult {
    CreateMessageResult {
        role: Role::Assistant,
        content: SamplingContent::Many(Vec::new()),
        model: WRITTEN_BY_USER.to_owned(),
        stop_reason: Some("endTurn".to_owned()),
        meta: None,
    }
}
