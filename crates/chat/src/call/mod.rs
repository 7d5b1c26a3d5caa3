//! The one way of a tool call, whoever makes it: decided and sent by the host, checked against the tool's output schema, reviewed if a
//! model reads the result, and recorded in the history of its conversation. Callers: `api` and the command line through
//! [`Chat::call_tool`], and `run/calls.rs` for a model.
//!
//! A result has these types on its way:
//!
//! 1. JSON on the wire, which the session reads into a `CallToolResult`.
//! 2. [`ToolResult`]: parsed here once, with the contents moved. It then has one place, the body of the call's item.
//! 3. A JSON value of that body for the history, which takes large contents out of it. This one is a copy.
//!
//! The page and the command line get the `ToolResult` out of the item. A model reads its parts (`offers::review::result_parts`), which
//! `run/calls.rs` makes of a copy of the result.

mod record;
mod reviews;

use std::sync::OnceLock;
use std::time::Duration;

use domain::call::{CallFailure, CallFailureCode, CallId};
use domain::item::{Item, ItemBody, ItemState, ToolResult};
use host::{CallOrigin, Host, ResultOrigin};
use mcp_proto::types::CallToolResult;
use offers::output;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ConversationError;
use super::engine::Chat;

pub(super) use record::Record;
use reviews::Review;

/// How long a call that was cancelled may take to end.
const CANCELLING: Duration = Duration::from_secs(5);
/// After how long a server is told again that a call is cancelled.
const CANCEL_AGAIN: Duration = Duration::from_millis(100);

/// A tool call to make.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Its id, chosen by the caller; the id of its item as well.
    pub id: CallId,
    /// The user, a model or the command line, and the conversation if there is one.
    pub origin: CallOrigin,
    /// The name of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The arguments, before the user's changes.
    pub arguments: Map<String, Value>,
}

/// How a call ended.
pub(super) struct CallEnd {
    /// Its item, whose body is an [`ItemBody::ToolCall`].
    pub(super) item: Item,
    /// Why the server gave no result.
    failure: Option<CallFailure>,
    /// An error if the end is not in the history.
    pub(super) kept: Result<(), ConversationError>,
}

impl CallEnd {
    fn into_result(self) -> Result<ToolResult, CallFailure> {
        match (self.failure, self.item.body) {
            (Some(failure), _) => Err(failure),
            (None, ItemBody::ToolCall { result: Some(result), .. }) => Ok(result),
            // A result that its reader must not have.
            (None, ItemBody::ToolCall { error, .. }) => Err(CallFailure::Refused(error.unwrap_or_default())),
            (None, _) => Err(CallFailure::Closing),
        }
    }
}

impl Chat {
    /// Calls a tool. Its end becomes an item of the conversation that the origin names, under the call's id; while a model answers
    /// there, once that has ended. The call goes on if its caller goes away.
    ///
    /// # Errors
    /// If it did not end with the tool's result. A history that can't be written to is no error here: the call was made.
    pub async fn call_tool(&self, call: ToolCall) -> Result<ToolResult, CallFailure> {
        let chat = self.clone();
        let made = tokio::spawn(async move {
            let record = match call.origin.conversation() {
                Some(conversation) => Record::AtEnd { chat: &chat, conversation: conversation.to_owned() },
                None => Record::Nowhere,
            };
            let (is_allowed, stop) = (async { Ok(()) }, CancellationToken::new());
            let end = make(&chat.host, call, record, is_allowed, &stop).await;
            if let Err(error) = &end.kept {
                tracing::warn!(%error, "a call could not be kept in its conversation");
            }
            end.into_result()
        });
        made.await.unwrap_or_else(|error| {
            tracing::error!(%error, "the task of a call ended without a result");
            Err(if error.is_panic() { CallFailure::Internal } else { CallFailure::Closing })
        })
    }
}

/// Makes a call, once `is_allowed` has no objection, and records it. The policy, and where it says so the user, decide. A `stop` cancels
/// it.
pub(super) async fn make(
    host: &Host,
    call: ToolCall,
    record: Record<'_>,
    is_allowed: impl Future<Output = Result<(), CallFailure>>,
    stop: &CancellationToken,
) -> CallEnd {
    let began = Instant::now();
    let review = Review::of(&call, host, stop);
    let ToolCall { id, origin, server, tool, mut arguments } = call;
    let (sent, was_sent) = oneshot::channel();
    let made = (origin, server.clone(), tool.clone(), arguments.clone());
    let call = async {
        let (origin, server, tool, arguments) = made;
        if stop.is_cancelled() {
            return Err(CallFailure::Cancelled);
        }
        is_allowed.await?;
        host.call_tool_as(origin, id.clone(), server, tool, arguments, sent).await
    };
    // Set when the call is sent, with its arguments if the user changed them.
    let crossed = OnceLock::new();
    let follow = async {
        let Ok(changed) = was_sent.await else { return };
        if let Some(changed) = crossed.get_or_init(|| changed) {
            record.change(host, changed).await;
        }
    };
    let ended = {
        let both = async { tokio::join!(call, follow).0 };
        tokio::pin!(both);
        tokio::select! {
            biased;
            ended = &mut both => ended,
            () = stop.cancelled() => cancel(host, &id, both).await,
        }
    };
    let crossed = crossed.into_inner();
    let was_sent = crossed.is_some();
    if let Some(changed) = crossed.flatten() {
        arguments = changed;
    }
    let mut failure = None;
    let read = match ended {
        Ok(result) => {
            let problem = schema_problem(host, &server, &tool, &result).await;
            review.result(ToolResult::new(result, problem, arguments.clone())).await
        }
        Err(error) => {
            let words = review.failure(&error, was_sent).await;
            failure = Some(error);
            Err(words)
        }
    };
    let (result, error) = read.map_or_else(|words| (None, Some(words)), |result| (Some(result), None));
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (used, left_out) = (record.used(), record.left_out(result.as_ref()));
    let arguments = Value::Object(arguments);
    // What a reader of the result withholds counts as refused.
    let code = failure.as_ref().map_or(CallFailureCode::Refused, CallFailure::code);
    let body = ItemBody::ToolCall {
        call: id.clone(),
        server,
        tool,
        arguments,
        result,
        failure: error.is_some().then_some(code),
        error,
        took,
        used,
        left_out,
    };
    // clock: stamps the item.
    let item = record.place(Item { id, parent: None, at: ports::time::now(), state: ItemState::Whole, body });
    let kept = record.keep(host, &item).await;
    CallEnd { item, failure, kept }
}

/// Has a call cancelled that may end meanwhile. A server that is busy is told again.
async fn cancel<T>(
    host: &Host,
    id: &str,
    call: impl Future<Output = Result<T, CallFailure>>,
) -> Result<T, CallFailure> {
    let cancel = async {
        while host.cancel_call(id.to_owned()).await.is_err() {
            tokio::time::sleep(CANCEL_AGAIN).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        ended = call => ended,
        () = cancel => Err(CallFailure::Cancelled),
        () = tokio::time::sleep(CANCELLING) => Err(CallFailure::Cancelled),
    }
}

/// The problem of a result's data by the tool's own output schema: as it is once the call has ended, as the user may have approved a
/// definition that came while the call waited for them.
async fn schema_problem(host: &Host, server: &str, tool: &str, result: &CallToolResult) -> Option<String> {
    let value = result.structured_content.as_ref()?;
    let catalog = host.catalog(server.to_owned()).await.ok()?;
    let schema = catalog.tool(tool)?.output_schema?;
    output::check(schema, value.clone()).await
}
