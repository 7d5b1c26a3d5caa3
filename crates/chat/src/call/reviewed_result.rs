//! Review of a call's result by the user before a model reads it. Results for the page and the command line are not
//! reviewed. Used by `call`.

use domain::call::CallFailure;
use domain::item::{Content, ToolResult};
use host::{CallOrigin, Host, ResultReviewVerdict};
use mcp_proto::session::{CallError, CloseReason};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{ResultOrigin, ToolCall};
use crate::model_context;

/// Review of one call's result by the user before a model reads it, if the settings require it. Other results pass.
pub(super) struct CallResultReview<'a> {
    host: &'a Host,
    stop: &'a CancellationToken,
    /// Call that the result belongs to, if a model will read the result, otherwise `None`.
    origin: Option<ResultOrigin>,
}

impl<'a> CallResultReview<'a> {
    /// Creates the review of a call's result. Only results that a model will read are reviewed.
    pub(super) fn for_call(call: &ToolCall, host: &'a Host, stop: &'a CancellationToken) -> Self {
        let origin = match &call.origin {
            CallOrigin::Model { conversation } => Some(ResultOrigin {
                conversation: conversation.clone(),
                call: call.id.clone(),
                server: call.server.clone(),
                tool: call.tool.clone(),
                app: call.app.as_ref().map(|app| app.tool.clone()),
            }),
            CallOrigin::User { .. } | CallOrigin::App { .. } | CallOrigin::CommandLine => None,
        };
        Self { host, stop, origin }
    }

    /// Waits for the user's review of a result if one is required. Returns the result if it may be sent to the model.
    ///
    /// # Errors
    ///
    /// If the result is withheld, returns the text that the model receives instead.
    pub(super) async fn await_result_review(&self, result: ToolResult) -> Result<ToolResult, String> {
        let Some(origin) = self.origin.clone() else { return Ok(result) };
        let call = origin.call.clone();
        let verdict = tokio::select! {
            biased;
            verdict = self.host.review_result(origin, result) => verdict,
            () = self.stop.cancelled() => {
                self.host.withdraw_result_review(call).await;
                return Err(model_context::withheld_result_text("as the user stopped the answer"));
            }
        };
        match verdict {
            ResultReviewVerdict::Passes(result) => Ok(*result),
            ResultReviewVerdict::Withheld(by) => Err(model_context::withheld_result_text(&by)),
            ResultReviewVerdict::Stops(by) => {
                self.stop.cancel();
                Err(model_context::withheld_result_text(&by))
            }
        }
    }

    /// Returns the text that describes a failed call to its caller. If a model will read error text that a server
    /// wrote, the text is reviewed like a result.
    pub(super) async fn failure_text_after_review(&self, failure: &CallFailure, was_sent: bool) -> String {
        if self.origin.is_none() {
            return failure.to_string();
        }
        if was_sent && matches!(failure, CallFailure::Cancelled) {
            return model_context::CALL_STOPPED_TEXT.to_owned();
        }
        let text = failure.to_string();
        if !contains_server_text(failure) {
            return text;
        }
        let content = vec![Content::Text { text }];
        let (structured, structured_problem, arguments) = (None, None, Value::Null);
        let result = ToolResult { content, structured, structured_problem, is_error: true, meta: None, arguments };
        match self.await_result_review(result).await {
            Ok(passed) => passed.content.into_iter().find_map(text_content).unwrap_or_default(),
            Err(withheld) => withheld,
        }
    }
}

fn text_content(content: Content) -> Option<String> {
    match content {
        Content::Text { text } => Some(text),
        _ => None,
    }
}

const fn contains_server_text(failure: &CallFailure) -> bool {
    match failure {
        CallFailure::Session { error, .. } => matches!(
            **error,
            CallError::Server(_)
                | CallError::BadAnswer { .. }
                | CallError::Unreadable(_)
                | CallError::Closed(CloseReason::HandshakeFailed(_) | CloseReason::ConnectionLost(_))
                | CallError::Undelivered { .. }
                | CallError::TaskCancelled { .. }
        ),
        _ => false,
    }
}
