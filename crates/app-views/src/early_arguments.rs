//! Permission to give an app the arguments of a call before the call is decided. Used by `AppViews::open`, and by
//! `view_task.rs` before each partial input.

use chat::Chat;
use host::{CallOrigin, Host};

/// Returns `true` if an app of `server` may now receive the arguments that the model of a conversation writes for a
/// call of `tool`, although the call is not decided yet.
///
/// The app belongs to the server, so giving it arguments amounts to sending them to the server. Therefore this is
/// permitted only while the call would be allowed without consent whatever its arguments are.
pub(crate) async fn may_stream_arguments_to_app(
    host: &Host,
    chat: &Chat,
    conversation: &str,
    server: &str,
    tool: &str,
) -> bool {
    // The policy decides last, since the settings are read from the disk.
    let is_enabled = chat.enables_tool(conversation, server, tool).await.unwrap_or(false);
    let origin = CallOrigin::Model { conversation: conversation.to_owned() };
    is_enabled && host.allows_every_call_of_tool(origin, server.to_owned(), tool.to_owned()).await.unwrap_or(false)
}
