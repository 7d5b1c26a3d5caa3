//! Review of what a call gave back, before a model reads it: which results are held, and what of them is shown. The calls of
//! models use it (`chat/src/call/reviews.rs`); `owner/results.rs` asks the user.
//!
//! All that a model reads by its own act is the result of a call: no server's resource or prompt comes into a conversation but by the
//! user, who sees it there. A resource in a result is a part of the result. So is the error that a server answers with.

use domain::flow::ResultReview;
use domain::item::{Content, ToolResult};
use models::Part;
use offers::review::{Flag, flags_of_result, raw_result_parts, result_parts};
use tokio::sync::oneshot;

use super::Host;
use crate::owner::{ResultOrigin, ResultVerdict};
use crate::view::QuestionBody;

/// The most text of a result that is shown to be reviewed, in bytes. Nobody reads more, and a model does not read what was not shown.
const MAX_TEXT: usize = 1 << 20;
/// The most bytes of its pictures, sound and files.
const MAX_BYTES: usize = 8 << 20;
/// Why a larger one is withheld.
const TOO_LARGE: &str = "as it is too large to be reviewed; call the tool so that it gives less";

impl Host {
    /// Has a result reviewed, if the user wants that of the tool, and waits for the verdict. Only what is passed may reach a model.
    /// Who no longer waits calls [`withdraw_result`](Self::withdraw_result).
    pub async fn review_result(&self, origin: ResultOrigin, result: ToolResult) -> ResultVerdict {
        let closing = || ResultVerdict::LeftOut("as Drawbridge is closing".to_owned());
        let (server, tool) = (origin.server.clone(), origin.tool.clone());
        let Ok(review) = self.with(move |owner| owner.flow_of(&server).review_of(&tool)).await else {
            return closing();
        };
        if review == ResultReview::Off {
            return ResultVerdict::Passes(Box::new(result));
        }
        let looked_through = tokio::task::spawn_blocking(move || {
            let (flags, parts) = (flags_of(&result), result_parts(&result));
            (result, flags, parts)
        });
        let Ok((result, flags, parts)) = looked_through.await else { return closing() };
        if review == ResultReview::Suspicious && flags.is_empty() {
            return ResultVerdict::Passes(Box::new(result));
        }
        let fits = can_be_shown(&parts);
        let body = QuestionBody::Result { tool: origin.tool.clone(), parts, is_error: result.is_error, flags };
        if !fits {
            let noted = self.with(move |owner| owner.note_unshown(&origin, &body)).await;
            return noted.map_or_else(|_| closing(), |()| ResultVerdict::LeftOut(TOO_LARGE.to_owned()));
        }
        let (reply, verdict) = oneshot::channel();
        if self.with(move |owner| owner.ask_about_result(origin, result, body, reply)).await.is_err() {
            return closing();
        }
        // Nobody is left who could pass it.
        verdict.await.unwrap_or_else(|_| ResultVerdict::LeftOut("as its review was taken back".to_owned()))
    }

    /// Takes the review of a call's result back.
    pub async fn withdraw_result(&self, call: String) {
        // A host that has ended has no questions.
        let _ = self.with(move |owner| owner.withdraw_result(&call)).await;
    }
}

/// Flags on a result, by its words as they came and as the model would read them: one after the other.
fn flags_of(result: &ToolResult) -> Vec<Flag> {
    let read = raw_result_parts(result).into_iter().filter_map(|part| match part {
        Part::Text(text) | Part::File { name: text, .. } => Some(text),
        _ => None,
    });
    // Quoted within its part, which spells hidden characters out.
    let names = result.content.iter().filter_map(|content| match content {
        Content::ResourceLink { name, .. } => Some(name.clone()),
        _ => None,
    });
    flags_of_result(&read.chain(names).collect::<Vec<_>>().join("\n"))
}

fn can_be_shown(parts: &[Part]) -> bool {
    let (mut text, mut bytes) = (0, 0);
    for part in parts {
        match part {
            Part::Text(own) => text += own.len(),
            Part::Image { data, .. } | Part::Audio { data, .. } | Part::File { data, .. } => bytes += data.len(),
            Part::Thinking { .. } | Part::ToolUse { .. } | Part::ToolResult { .. } => {}
        }
    }
    text <= MAX_TEXT && bytes <= MAX_BYTES
}
