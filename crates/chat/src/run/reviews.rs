//! The review of what a call gave back, within an answer: it waits for its user, and ends with the answer. `calls.rs` calls it.

use domain::call::CallFailure;
use domain::item::{Content, ToolResult};
use host::{ResultOrigin, ResultVerdict};
use mcp_proto::session::{CallError, CloseReason};

use super::Run;
use crate::context;

impl Run {
    /// The result of a call, once the model may read it.
    ///
    /// # Errors
    /// If it is withheld: what the model is told instead.
    pub(super) async fn reviewed(
        &self,
        call: &str,
        server: &str,
        tool: &str,
        result: ToolResult,
    ) -> Result<ToolResult, String> {
        let origin = ResultOrigin {
            conversation: self.log.conversation.clone(),
            call: call.to_owned(),
            server: server.to_owned(),
            tool: tool.to_owned(),
        };
        let stop = &self.answering.running.stop;
        let verdict = tokio::select! {
            biased;
            verdict = self.host.review_result(origin, result) => verdict,
            () = stop.cancelled() => {
                self.host.withdraw_result(call.to_owned()).await;
                return Err(context::withheld("as the user stopped the answer"));
            }
        };
        match verdict {
            ResultVerdict::Passes(result) => Ok(*result),
            ResultVerdict::LeftOut(by) => Err(context::withheld(&by)),
            ResultVerdict::Stops(by) => {
                stop.cancel();
                Err(context::withheld(&by))
            }
        }
    }

    /// Why a call failed, as the model is told. The words of a server are reviewed as a result is.
    pub(super) async fn reviewed_failure(&self, call: &str, server: &str, tool: &str, failure: CallFailure) -> String {
        let text = failure.to_string();
        if !holds_words_of_server(&failure) {
            return text;
        }
        let content = vec![Content::Text { text }];
        let (structured, structured_problem, arguments) = (None, None, serde_json::Value::Null);
        let result = ToolResult { content, structured, structured_problem, is_error: true, arguments };
        match self.reviewed(call, server, tool, result).await {
            Ok(passed) => passed.content.into_iter().find_map(text_of).unwrap_or_default(),
            Err(withheld) => withheld,
        }
    }
}

fn text_of(content: Content) -> Option<String> {
    match content {
        Content::Text { text } => Some(text),
        _ => None,
    }
}

const fn holds_words_of_server(failure: &CallFailure) -> bool {
    match failure {
        CallFailure::Session { error, .. } => matches!(
            **error,
            CallError::Server(_)
                | CallError::BadAnswer { .. }
                | CallError::Unreadable(_)
                | CallError::Closed(CloseReason::OpeningFailed(_) | CloseReason::ConnectionLost(_))
                | CallError::Undelivered { .. }
                | CallError::TaskCancelled { .. }
        ),
        _ => false,
    }
}
