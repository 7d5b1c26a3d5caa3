//! Commands of a window that shows a single conversation. Its requests can name neither another conversation nor a
//! consent request, app or call of another one, and add no rule that allows elsewhere, whatever the web page of the
//! window does.
//!
//! This is no boundary between the servers that conversations use, and it hides no state. Such a window reads the
//! snapshot, the events and the activity logs of all windows, reviews definitions, starts and stops servers, and denies
//! all requests of a server. Decision 0112 has the whole list.

use serde_json::Value;

use crate::handler::parse_consent_request_id;
use crate::{Api, ApiError, ErrorCode, respond};

/// Names of the request members whose value is an object that can itself name a conversation. All other objects in a
/// request, such as the arguments of a call, contain data of servers.
const OBJECTS_THAT_NAME_A_CONVERSATION: [&str; 2] = ["call", "scope"];

/// Commands whose request contains the identifier of a consent request as its member `id`.
const COMMANDS_WITH_A_CONSENT_REQUEST_ID: [&str; 3] =
    ["decide_consent_request", "edit_consent_request", "validate_form"];

/// Command whose request contains the identifier of a call in progress as its member `call`. In all other requests,
/// this member is the identifier of a new call.
const COMMAND_WITH_A_CALL_ID: &str = "cancel_call";

/// Executes a command like [`respond`], for a window that shows only the conversation `own`. `None` stands for a window
/// that is being closed and shows no conversation.
///
/// # Errors
/// Returns [`ErrorCode::Refused`] if the request names another conversation, a call of another conversation, or a
/// consent request or app that does not belong to `own`, repeats a call outside of `own`, or adds a rule that allows
/// outside of `own`. Also returns the errors of [`respond`].
pub async fn respond_in_conversation(
    api: &Api,
    name: &str,
    request: &Value,
    own: Option<&str>,
) -> Result<String, ApiError> {
    let refused = |what: &str| ApiError::new(ErrorCode::Refused, format!("this window may not {what}"));
    let text_of = |member: &str| request.get(member).and_then(Value::as_str);
    if !names_no_other_conversation(request, own) {
        return Err(refused("use another conversation"));
    }
    if repeats_call_outside_conversation(request, own) {
        return Err(refused("repeat a call outside of its conversation"));
    }
    if text_of("view").is_some_and(|view| api.app_views().is_outside_conversation(view, own)) {
        return Err(refused("use this app, which does not belong to its conversation"));
    }
    if COMMANDS_WITH_A_CONSENT_REQUEST_ID.contains(&name) {
        let id = text_of("id").unwrap_or_default();
        if api.host().is_request_outside_conversation(parse_consent_request_id(id)?, own.map(str::to_owned)).await? {
            return Err(refused("decide this request, which does not belong to its conversation"));
        }
    }
    if name == COMMAND_WITH_A_CALL_ID
        && let Some(id) = text_of("call")
        && api.host().snapshot().await?.calls.iter().any(|call| {
            // Calls outside of conversations, such as reading a resource, are also made in this window.
            call.id == id && call.conversation.is_some() && call.conversation.as_deref() != own
        })
    {
        return Err(refused("cancel a call of another conversation"));
    }
    if name == "add_policy_rule" && rule_allows_outside_conversation(request, own) {
        return Err(refused("add a rule that allows outside of its conversation"));
    }
    respond(api, name, request).await
}

/// Returns `true` if a new rule allows something outside of the conversation `own`.
fn rule_allows_outside_conversation(rule: &Value, own: Option<&str>) -> bool {
    let is_restriction = matches!(rule.get("effect").and_then(Value::as_str), Some("ask" | "deny"));
    let text_of = |member: &str| rule.get("scope").and_then(|scope| scope.get(member)).and_then(Value::as_str);
    let is_own = own.is_some() && text_of("conversation") == own && text_of("kind") == Some("conversation");
    !is_restriction && !is_own
}

/// Returns `true` if the request repeats an approved call outside of the conversation `own`. Without a conversation,
/// the call would be one of the main window, where the user approved it.
fn repeats_call_outside_conversation(request: &Value, own: Option<&str>) -> bool {
    let is_own = own.is_some() && request.get("conversation").and_then(Value::as_str) == own;
    request.get("repeats").is_some_and(|repeated| !repeated.is_null()) && !is_own
}

/// Returns `true` if the request names no conversation, or only the conversation `own`. Returns `false` for an array,
/// since serde would accept the list of an object's values instead of the object.
fn names_no_other_conversation(request: &Value, own: Option<&str>) -> bool {
    let inner = OBJECTS_THAT_NAME_A_CONVERSATION.iter().filter_map(|key| request.get(key));
    std::iter::once(request).chain(inner).all(|value| {
        let is_own = |name: &Value| name.is_null() || (name.is_string() && name.as_str() == own);
        !value.is_array() && value.get("conversation").is_none_or(is_own)
    })
}

#[cfg(test)]
mod tests;
