//! Review of call results before a model reads them: determines which results the user has to review, and which parts
//! are displayed. Used by models' calls (`chat/src/call/reviewed_result.rs`). `owner/result_reviews.rs` requests the
//! user's decision.
//!
//! Everything that a model can obtain without the user is the result of a call. Resources and prompts of servers are
//! added to a conversation only by the user, who sees them there. A resource that is embedded in a result is part of
//! the result, and so is an error that a server returns.

use domain::data_flow::ResultReview;
use domain::item::ToolResult;
use offers::review::{flags_of_tool_result, is_small_enough_to_review, result_parts};
use tokio::sync::oneshot;

use super::Host;
use crate::owner::{ResultOrigin, ResultReviewVerdict};
use crate::view::ConsentRequestBody;

/// Reason that the model receives instead of a result that is too large to be reviewed.
const RESULT_TOO_LARGE_REASON: &str = "because it is too large to be reviewed; call the tool so that it returns less";

impl Host {
    /// Requests the user's review of a result if the settings of the tool require it, and waits for the decision. Only
    /// what [`ResultReviewVerdict::Passes`] contains may be sent to a model. If the caller stops waiting, it has to
    /// call [`withdraw_result_review`](Self::withdraw_result_review).
    pub async fn review_result(&self, origin: ResultOrigin, result: ToolResult) -> ResultReviewVerdict {
        let closing = || ResultReviewVerdict::Withheld("as Drawbridge is closing".to_owned());
        let (server, tool) = (origin.server.clone(), origin.tool.clone());
        let Ok(review) = self
            .with_owner(move |owner| owner.permissions.data_flow.data_flow_of(&server).tool_review_setting(&tool))
            .await
        else {
            return closing();
        };
        if review == ResultReview::Off {
            return ResultReviewVerdict::Passes(Box::new(result));
        }
        let looked_through = tokio::task::spawn_blocking(move || {
            let (flags, parts) = (flags_of_tool_result(&result), result_parts(&result));
            (result, flags, parts)
        });
        let Ok((result, flags, parts)) = looked_through.await else { return closing() };
        if review == ResultReview::Suspicious && flags.is_empty() {
            return ResultReviewVerdict::Passes(Box::new(result));
        }
        let fits = is_small_enough_to_review(&parts);
        let (tool, app) = (origin.tool.clone(), origin.app.clone());
        let body = ConsentRequestBody::Result { tool, app, parts, is_error: result.is_error, flags };
        if !fits {
            let noted = self.with_owner(move |owner| owner.audit_unreviewable_result(&origin, &body)).await;
            return noted
                .map_or_else(|_| closing(), |()| ResultReviewVerdict::Withheld(RESULT_TOO_LARGE_REASON.to_owned()));
        }
        let (reply, verdict) = oneshot::channel();
        if self.with_owner(move |owner| owner.request_result_review(origin, result, body, reply)).await.is_err() {
            return closing();
        }
        // The sender was dropped, so the review ended without a verdict.
        verdict.await.unwrap_or_else(|_| ResultReviewVerdict::Withheld("as its review was withdrawn".to_owned()))
    }

    /// Withdraws the pending consent request for the review of a call's result.
    pub async fn withdraw_result_review(&self, call: String) {
        // Fails only if the host has shut down, when no reviews are pending.
        let _ = self.with_owner(move |owner| owner.withdraw_result_review(&call)).await;
    }
}
