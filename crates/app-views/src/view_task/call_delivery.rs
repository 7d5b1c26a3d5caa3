//! Input and result of the call that an app displays, also while a model is still writing the call.

use domain::call::CallFailureCode;
use domain::content::ToolResult;
use domain::item::ItemBody;
use mcp_apps::{ToolMessageOrderError, View};
use tokio::time::Instant;

use super::ViewTask;
use crate::arguments_object;
use crate::early_arguments::may_stream_arguments_to_app;
use crate::result::call_tool_result_json;
use crate::streamed_call::StreamedCallStep;

/// Reason that an app receives if the call that it displays was not made.
const CALL_NOT_MADE_REASON: &str = "the call was not made";

impl ViewTask {
    /// Returns the time at which the app is to receive the next partial input, or `None` if none is due.
    pub(super) fn next_partial_input_time(&self) -> Option<Instant> {
        self.streamed.as_ref().filter(|_| self.is_initialized)?.next_partial_input_time()
    }

    /// Sends the arguments so far to the app, if it may still receive them.
    pub(super) async fn send_partial_input(&mut self) {
        let Some(call) = &mut self.streamed else { return };
        let (host, chat) = (&self.host, &self.chat);
        // Rules may have changed since the last time.
        if !may_stream_arguments_to_app(host, chat, call.conversation(), &self.server, &self.tool).await {
            return call.end_partial_input();
        }
        if let Some(arguments) = call.take_due_partial_input(Instant::now()) {
            log_order_error(self.view.send_partial_tool_input(arguments));
        }
    }

    /// Notifies the app of a change of the streamed call.
    pub(super) async fn process_streamed_call_step(&mut self, step: StreamedCallStep) {
        let Some(conversation) = self.streamed.as_ref().map(|call| call.conversation().to_owned()) else { return };
        let item = match step {
            StreamedCallStep::NotMade => {
                self.streamed = None;
                return log_order_error(self.view.send_tool_cancelled(Some(CALL_NOT_MADE_REASON.to_owned())));
            }
            StreamedCallStep::Sent(item) => {
                // Otherwise the app receives the input with the result.
                if let Ok(item) = self.chat.item(&conversation, item).await
                    && let ItemBody::ToolCall { arguments, .. } = item.body
                {
                    log_order_error(self.view.send_tool_input(arguments_object(arguments)));
                }
                return;
            }
            StreamedCallStep::Ended(item) => item,
        };
        let is_sent = self.streamed.take().is_some_and(|call| call.is_sent());
        let body = self.chat.item(&conversation, item).await.map(|item| item.body);
        log_order_error(match body {
            Ok(ItemBody::ToolCall { result: Some(result), .. }) => deliver_result(&mut self.view, &result),
            Ok(ItemBody::ToolCall { failure, .. }) => {
                self.view.send_tool_cancelled(Some(call_failure_reason(failure, is_sent).to_owned()))
            }
            _ => self.view.send_tool_cancelled(Some(call_failure_reason(None, is_sent).to_owned())),
        });
    }
}

/// Sends the result of a call to an app, after its input unless the app has received that already.
pub(super) fn deliver_result(view: &mut View, result: &ToolResult) -> Result<(), ToolMessageOrderError> {
    match view.send_tool_input(arguments_object(result.arguments.clone())) {
        Ok(()) | Err(ToolMessageOrderError::InputComplete) => view.send_tool_result(call_tool_result_json(result)),
        Err(error) => Err(error),
    }
}

/// Logs that the view did not accept a message about the displayed call. Only a programming error can cause this, since
/// the messages are sent in the required order.
pub(super) fn log_order_error(sent: Result<(), ToolMessageOrderError>) {
    if let Err(error) = sent {
        tracing::error!(%error, "an app did not receive a message about its call");
    }
}

/// Returns the reason that an app receives for a call without a result. The server may have executed a call that was
/// sent, for example if only its result was refused in the review.
const fn call_failure_reason(failure: Option<CallFailureCode>, is_sent: bool) -> &'static str {
    match failure {
        Some(CallFailureCode::Refused) if is_sent => "the result of the call was withheld",
        Some(CallFailureCode::Refused) => "the call was refused",
        Some(CallFailureCode::Cancelled) => "the call was cancelled",
        _ => "the call failed",
    }
}
