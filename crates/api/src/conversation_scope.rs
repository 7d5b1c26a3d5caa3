//! Commands of a window that shows a single conversation. Its requests can name neither another conversation nor a
//! consent request that does not belong to the shown conversation, even if the window's web page runs foreign code.

use serde_json::Value;

use crate::handler::parse_request_id;
use crate::{Api, ApiError, ErrorCode, respond};

/// Names of the request members whose value is an object that can itself name a conversation. All other objects in a
/// request, such as the arguments of a call, contain data of servers.
const OBJECTS_THAT_NAME_A_CONVERSATION: [&str; 2] = ["call", "scope"];

/// Commands whose request contains the identifier of a consent request as its member `id`.
const COMMANDS_WITH_A_CONSENT_REQUEST_ID: [&str; 3] =
    ["decide_consent_request", "edit_consent_request", "validate_form"];

/// Executes a command like [`respond`], for a window that shows only the conversation `own`. `None` stands for a window
/// that is being closed and shows no conversation.
///
/// # Errors
/// Returns [`ErrorCode::Refused`] if the request names another conversation or a consent request that does not belong to
/// `own`, and the errors of [`respond`].
pub async fn respond_in_conversation(
    api: &Api,
    name: &str,
    request: &Value,
    own: Option<&str>,
) -> Result<String, ApiError> {
    let refused = |what: &str| ApiError::new(ErrorCode::Refused, format!("this window may not {what}"));
    if !names_at_most_own_conversation(request, own) {
        return Err(refused("use another conversation"));
    }
    if COMMANDS_WITH_A_CONSENT_REQUEST_ID.contains(&name) {
        let id = request.get("id").and_then(Value::as_str).unwrap_or_default();
        if api.host().is_request_outside(parse_request_id(id)?, own.map(str::to_owned)).await? {
            return Err(refused("decide this request, which does not belong to its conversation"));
        }
    }
    respond(api, name, request).await
}

/// Returns `true` if the request names no conversation, or only the conversation `own`.
fn names_at_most_own_conversation(request: &Value, own: Option<&str>) -> bool {
    let inner = OBJECTS_THAT_NAME_A_CONVERSATION.iter().filter_map(|key| request.get(key));
    let mut named = std::iter::once(request).chain(inner).filter_map(|object| object.get("conversation"));
    named.all(|name| name.is_null() || (name.is_string() && name.as_str() == own))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn window_of_a_conversation_may_not_name_another_one() {
        let own = Some("c1");
        for request in [
            json!({"conversation": "c1", "text": "Dear Ann"}),
            json!({"server": "files", "conversation": null}),
            json!({"server": "files", "arguments": {"conversation": "c2"}}),
            json!({"call": {"type": "item", "conversation": "c1", "item": "i1"}}),
            json!({}),
            Value::Null,
        ] {
            assert!(names_at_most_own_conversation(&request, own), "{request} should be permitted");
        }
        for request in [
            json!({"conversation": "c2", "text": "Dear Ann"}),
            json!({"conversation": {"id": "c2"}}),
            json!({"call": {"type": "item", "conversation": "c2", "item": "i1"}}),
            json!({"id": "q1", "scope": {"kind": "conversation", "conversation": "c2"}}),
        ] {
            assert!(!names_at_most_own_conversation(&request, own), "{request} should be refused");
        }
        assert!(
            !names_at_most_own_conversation(&json!({"conversation": "c1"}), None),
            "a closed window has no conversation"
        );
    }

    #[test]
    fn every_command_about_one_consent_request_is_listed() {
        let is_about_one = |name: &&str| name.ends_with("_consent_request") || *name == "validate_form";
        let commands: Vec<&str> = crate::COMMANDS.iter().copied().filter(is_about_one).collect();
        assert_eq!(
            commands, COMMANDS_WITH_A_CONSENT_REQUEST_ID,
            "a window of a conversation could decide requests of other ones"
        );
    }
}
