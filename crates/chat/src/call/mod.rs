//! Tool calls of any origin: decided and sent by the host, checked against the tool's output schema, reviewed if a
//! model reads the result, and recorded in the history of their conversation. Used by `api` and the command line
//! through [`Chat::call_tool`], and by `reply_run/calls.rs` for a model.
//!
//! A result has the following representations:
//!
//! 1. JSON on the wire, which the session parses into a `CallToolResult`.
//! 2. [`ToolResult`]: converted here once by moving the contents. It is stored only in the body of the call's item.
//! 3. A JSON value of that body for the history, which extracts large contents. It is a copy.
//!
//! The page and the command line get the `ToolResult` from the item. A model reads its parts
//! (`offers::review::result_parts`), which `reply_run/calls.rs` creates from a copy of the result.

mod call_recorder;
mod reviewed_result;

use std::sync::OnceLock;
use std::time::Duration;

use domain::app_view::ProvidingApp;
use domain::call::{CallFailure, CallFailureCode, CallId, CallRefusal};
use domain::item::{ChatItem, ItemBody, ItemState, ToolResult};
use host::{CallOrigin, Host, ResultOrigin, SentCall};
use mcp_proto::jsonrpc::RawJson;
use mcp_proto::types::CallToolResult;
use offers::output_schema;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ConversationError;
use super::engine::Chat;

pub(super) use call_recorder::CallRecorder;
use reviewed_result::CallResultReview;

/// Maximum time to wait for the end of a call after its cancellation was requested.
const CALL_CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval between attempts to cancel a call that the host does not know yet.
const CALL_CANCEL_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// A request to call a tool of a server or of one of its shown apps.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Identifier of the call and of the conversation item that records it, chosen by the caller.
    pub id: CallId,
    /// Requester of the call: the user, a model, an app or the command line, with the conversation if there is one.
    pub origin: CallOrigin,
    /// Name of the called server.
    pub server: String,
    /// Shown app of the server that provides the tool, or `None` if the server does.
    pub app: Option<ProvidingApp>,
    /// Name of the called tool, as its server or app lists it.
    pub tool: String,
    /// Arguments as requested. The user may edit them before the call is sent.
    pub arguments: Map<String, Value>,
    /// Identifier of an earlier call that the user repeats with this one, or `None`. It only has an effect if the user
    /// makes the call, and a server provides the tool.
    pub repeats: Option<CallId>,
}

/// The outcome of a tool call, and of its recording in the history.
pub(super) struct CallOutcome {
    /// Conversation item of the call, with an [`ItemBody::ToolCall`] as its body.
    pub(super) item: ChatItem,
    /// Failure of the call, or `None` if the server returned a result.
    failure: Option<CallFailure>,
    /// Outcome of writing the call's item to the history.
    pub(super) write_result: Result<(), ConversationError>,
}

impl CallOutcome {
    fn into_result(self) -> Result<ToolResult, CallFailure> {
        match (self.failure, self.item.body) {
            (Some(failure), _) => Err(failure),
            (None, ItemBody::ToolCall { result: Some(result), .. }) => Ok(result),
            // The result was withheld from the model in its review.
            (None, ItemBody::ToolCall { error, .. }) => {
                Err(CallFailure::refused(CallRefusal::ResultWithheld, error.unwrap_or_default()))
            }
            (None, _) => Err(CallFailure::Closing),
        }
    }
}

impl Chat {
    /// Calls a tool. The call is recorded as an item of the origin's conversation, with the id of the call. If a model
    /// is replying there, it is recorded after the reply. The call continues if the future is dropped.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without a result. A failed write to the history is only logged,
    /// since the call was made.
    pub async fn call_tool(&self, call: ToolCall) -> Result<ToolResult, CallFailure> {
        self.call_tool_until_cancelled(call, CancellationToken::new()).await
    }

    /// Calls a tool like [`call_tool`](Self::call_tool). Cancelling `stop` cancels the call.
    ///
    /// # Errors
    ///
    /// Returns the [`CallFailure`] that ended the call without a result.
    pub async fn call_tool_until_cancelled(
        &self,
        call: ToolCall,
        stop: CancellationToken,
    ) -> Result<ToolResult, CallFailure> {
        let chat = self.clone();
        let made = tokio::spawn(async move {
            let record = match (&call.origin, call.origin.conversation()) {
                // An app can call tools many times in a minute. Its calls are in the audit log only.
                (CallOrigin::App { .. }, _) | (_, None) => CallRecorder::Nowhere,
                (_, Some(conversation)) => {
                    CallRecorder::AfterCall { chat: &chat, conversation: conversation.to_owned() }
                }
            };
            let permission = async { Ok(()) };
            let end = make_and_record_call(&chat.host, call, record, permission, &stop).await;
            if let Err(error) = &end.write_result {
                tracing::warn!(%error, "a call could not be stored in its conversation");
            }
            end.into_result()
        });
        made.await.unwrap_or_else(|error| {
            tracing::error!(%error, "the task of a call panicked or was cancelled");
            Err(if error.is_panic() { CallFailure::Internal } else { CallFailure::Closing })
        })
    }
}

/// Calls a tool after `permission` has resolved to `Ok`, and records the outcome. The host decides about the call by
/// its policy, and asks the user if required. Cancelling `stop` cancels the call.
pub(super) async fn make_and_record_call(
    host: &Host,
    call: ToolCall,
    record: CallRecorder<'_>,
    permission: impl Future<Output = Result<(), CallFailure>>,
    stop: &CancellationToken,
) -> CallOutcome {
    let began = Instant::now();
    let review = CallResultReview::for_call(&call, host, stop);
    let ToolCall { id, origin, server, app, tool, mut arguments, repeats } = call;
    let (sent, was_sent) = oneshot::channel();
    let made = (origin, server.clone(), app.clone(), tool.clone(), arguments.clone());
    let call = async {
        let (origin, server, app, tool, arguments) = made;
        if stop.is_cancelled() {
            return Err(CallFailure::Cancelled);
        }
        permission.await?;
        match (app, repeats) {
            (Some(app), _) => host.call_app_tool_as(origin, id.clone(), (server, app), tool, arguments, sent).await,
            (None, Some(repeats)) => {
                host.repeat_tool_call(origin, (id.clone(), repeats), server, tool, arguments, sent).await
            }
            (None, None) => host.call_tool_as(origin, id.clone(), server, tool, arguments, sent).await,
        }
    };
    // Set once the call is sent, with the time until then.
    let crossed = OnceLock::new();
    let follow = async {
        let Ok(sent) = was_sent.await else { return };
        if let Some(changed) = &crossed.get_or_init(|| (sent, began.elapsed())).0.edited {
            record.record_changed_arguments(host, changed).await;
        }
    };
    let ended = {
        let both = async { tokio::join!(call, follow).0 };
        tokio::pin!(both);
        tokio::select! {
            biased;
            ended = &mut both => ended,
            () = stop.cancelled() => cancel_call_until_ended(host, &id, both).await,
        }
    };
    let ended_after = began.elapsed();
    let crossed = crossed.into_inner();
    let waited_for_input = crossed.as_ref().map_or(Duration::ZERO, |(sent, _)| sent.input_wait.total());
    let was_sent = crossed.is_some();
    let (SentCall { edited, definition, .. }, sent_after) =
        crossed.unwrap_or_else(|| (SentCall::default(), ended_after));
    if let Some(changed) = edited {
        arguments = changed;
    }
    let mut failure = None;
    let read = match ended {
        Ok(result) => {
            let problem = output_schema_problem(definition, &result).await;
            review.await_result_review(ToolResult::new(result, problem, arguments.clone())).await
        }
        Err(error) => {
            let words = review.failure_text_after_review(&error, was_sent).await;
            failure = Some(error);
            Err(words)
        }
    };
    let (result, error) = read.map_or_else(|words| (None, Some(words)), |result| (Some(result), None));
    let duration = began.elapsed();
    // All that is neither the server's work nor its transport: above all, the decisions and the input of the user.
    let worked = ended_after.saturating_sub(sent_after).saturating_sub(waited_for_input);
    let waited = duration.saturating_sub(worked);
    let (used, omitted) = (record.requesting_tool_use(), record.omitted_bytes(result.as_ref()));
    let arguments = Value::Object(arguments);
    // A result that was withheld in its review is recorded as refused.
    let (code, refusal) = match &failure {
        Some(failure) => (failure.code(), failure.refusal().cloned()),
        None => (CallFailureCode::Refused, Some(CallRefusal::ResultWithheld)),
    };
    let body = ItemBody::ToolCall {
        call: id.clone(),
        server,
        tool,
        app: app.map(|app| app.tool),
        arguments,
        result,
        failure: error.is_some().then_some(code),
        refusal: refusal.filter(|_| error.is_some()),
        error,
        duration_milliseconds: whole_milliseconds(duration),
        waited_milliseconds: Some(whole_milliseconds(waited)),
        used,
        omitted_bytes: omitted,
    };
    // clock: timestamp of the item.
    let at = ports::time::system_time_millis();
    let item = record.with_parent_and_time(ChatItem { id, parent: None, at, state: ItemState::Whole, body });
    let write_result = record.record_end(host, &item).await;
    CallOutcome { item, failure, write_result }
}

fn whole_milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Requests the cancellation of a call until the call ends or [`CALL_CANCEL_TIMEOUT`] expires. Retries, since the host
/// may be unable to accept the cancellation at first.
async fn cancel_call_until_ended<T>(
    host: &Host,
    id: &str,
    call: impl Future<Output = Result<T, CallFailure>>,
) -> Result<T, CallFailure> {
    let cancel = async {
        while host.cancel_call(id.to_owned()).await.is_err() {
            tokio::time::sleep(CALL_CANCEL_RETRY_INTERVAL).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        ended = call => ended,
        () = cancel => Err(CallFailure::Cancelled),
        () = tokio::time::sleep(CALL_CANCEL_TIMEOUT) => Err(CallFailure::Cancelled),
    }
}

/// Checks the structured content of a call's result against the output schema in the definition of its tool. Returns a
/// description of the first violation.
async fn output_schema_problem(definition: Option<RawJson>, result: &CallToolResult) -> Option<String> {
    output_schema::validate_structured_result(definition?, result.structured_content.clone()?).await
}
