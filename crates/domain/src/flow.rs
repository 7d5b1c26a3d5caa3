//! How content of one server flows on: when a call after it asks, and when the user reviews a result before a model reads it. The
//! user sets it for each server; `host/src/owner/flow.rs` keeps it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::history::Reading;

/// What the user set for the content of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct DataFlow {
    /// After which content a model's call of the same server asks.
    pub same_server: SameServer,
    /// Which results the user reviews before a model reads them.
    pub review: ResultReview,
    /// The same for single tools, by name; at most [`MAX_TOOLS`].
    pub tools: BTreeMap<String, ResultReview>,
}

/// The most tools of a server that have a setting of their own.
pub const MAX_TOOLS: usize = 1_000;

impl DataFlow {
    /// Which results of a tool the user reviews.
    #[must_use]
    pub fn review_of(&self, tool: &str) -> ResultReview {
        self.tools.get(tool).copied().unwrap_or(self.review)
    }
}

/// Which results of a model's calls the user reviews before the model reads them.
///
/// The default is [`Suspicious`](Self::Suspicious). It costs an honest server's user next to nothing:
/// `offers/src/review/results.rs` has the figures. A setting that is off until somebody finds it protects nobody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ResultReview {
    /// None.
    Off,
    /// Those with hidden characters, instructions to the model, or links that mislead.
    #[default]
    Suspicious,
    /// All.
    Always,
}

/// After which content of a server a model's call of a tool of the same server asks, even if a rule or grant allows it.
///
/// The specification takes a tool without `openWorldHint` for one that reaches an open world. Few servers send the hint, so by that
/// nearly every local server would ask at each call, and approvals would mean nothing. A remote server reaches an open world by
/// its nature; a local tool counts if it says so. The other hints change nothing: a tool that only reads carries data out in its
/// arguments, and `openWorldHint: false` is a claim that would loosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SameServer {
    /// After prompts, resources, the output of tools that say they reach an open world, and all output of remote servers.
    #[default]
    OpenWorld,
    /// After anything that was read.
    Everything,
    /// After nothing.
    Off,
}

impl SameServer {
    /// Whether a call after this content asks.
    #[must_use]
    pub const fn asks_after(self, reading: &Reading, is_remote: bool) -> bool {
        match self {
            Self::OpenWorld => is_remote || reading.is_open(),
            Self::Everything => true,
            Self::Off => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::ReadingKind;

    #[test]
    fn only_open_content_counts_unless_the_user_says_otherwise() {
        let read = |kind, open_world| Reading { open_world, ..Reading::new("a", kind, "x") };
        let closed = read(ReadingKind::Tool, false);
        assert!(!SameServer::OpenWorld.asks_after(&closed, false), "a local tool that says nothing");
        assert!(SameServer::OpenWorld.asks_after(&closed, true), "S26: the same of a remote server");
        assert!(SameServer::OpenWorld.asks_after(&read(ReadingKind::Tool, true), false), "S26: a tool that says so");
        for kind in [ReadingKind::Prompt, ReadingKind::Resource, ReadingKind::Unknown] {
            assert!(SameServer::OpenWorld.asks_after(&read(kind, false), false), "S26: {kind:?}");
        }
        assert!(SameServer::Everything.asks_after(&closed, false), "S26: everything");
        assert!(!SameServer::Off.asks_after(&read(ReadingKind::Tool, true), true), "and nothing");
    }
}
