//! Data flow settings of servers. They determine which content of a server makes later calls of the same server require
//! consent, and which results the user reviews before a model reads them. `host/src/owner/flow_settings.rs` stores
//! them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::history::ReadContent;

/// Settings of one server that determine which of its content makes later calls require consent, and which of its
/// results the user reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct DataFlow {
    /// Content of the server after which a model's call of the same server requires consent.
    pub same_server: SameServerFlow,
    /// Results that the user reviews before a model reads them.
    pub review: ResultReview,
    /// Review settings of individual tools that override `review`, by tool name. At most [`MAX_TOOL_SETTINGS`] entries.
    pub tools: BTreeMap<String, ResultReview>,
}

/// Maximum number of tools of a server that have an individual review setting.
pub const MAX_TOOL_SETTINGS: usize = 1_000;

impl DataFlow {
    /// Returns the review setting for results of a tool: the tool's own one, or else that of the server.
    #[must_use]
    pub fn tool_review_setting(&self, tool: &str) -> ResultReview {
        self.tools.get(tool).copied().unwrap_or(self.review)
    }
}

/// Tool results that the user reviews before a model reads them.
///
/// The default is [`Suspicious`](Self::Suspicious), because a protection that is off by default protects no user who
/// has not found the setting. Results of honest servers rarely require a review: `offers/src/review/results.rs`
/// contains the measurements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ResultReview {
    /// The user reviews no tool results.
    Off,
    /// The user reviews results that contain hidden characters, instructions to the model, or misleading links.
    #[default]
    Suspicious,
    /// The user reviews all tool results.
    Always,
}

/// Content of a server after which a model's call of a tool of the same server requires consent, even if a rule or
/// grant allows the call.
///
/// The specification assumes that a tool without `openWorldHint` reaches an open world. Few servers send the hint, so
/// with this assumption nearly every local server would require consent for each call, and users would approve without
/// reading. Therefore a local tool counts as open-world only if it sends the hint. A remote server always counts as
/// open-world. The other hints have no effect: a read-only tool can send data to third parties in its arguments, and
/// `openWorldHint: false` is an untrusted claim that would loosen the policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SameServerFlow {
    /// Prompts, resources, output of tools that claim to reach an open world, and all output of remote servers.
    #[default]
    OpenWorld,
    /// All content that the model has read from the server.
    Everything,
    /// No content of the server. Calls never require consent because of it.
    Off,
}

impl SameServerFlow {
    /// Returns `true` if a later call of the same server requires consent after a model has read this content.
    #[must_use]
    pub const fn requires_consent_after(self, content: &ReadContent, is_remote: bool) -> bool {
        match self {
            Self::OpenWorld => is_remote || content.may_contain_third_party_text(),
            Self::Everything => true,
            Self::Off => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::ReadContentKind;

    #[test]
    fn only_open_world_content_requires_consent_by_default() {
        let read = |kind, open_world| ReadContent { open_world, ..ReadContent::new("a", kind, "x") };
        let closed = read(ReadContentKind::Tool, false);
        assert!(
            !SameServerFlow::OpenWorld.requires_consent_after(&closed, false),
            "a local tool without a hint doesn't count"
        );
        assert!(
            SameServerFlow::OpenWorld.requires_consent_after(&closed, true),
            "S26: the output of a remote server's tool counts"
        );
        assert!(
            SameServerFlow::OpenWorld.requires_consent_after(&read(ReadContentKind::Tool, true), false),
            "S26: a local tool with `openWorldHint` counts"
        );
        for kind in [ReadContentKind::Prompt, ReadContentKind::Resource, ReadContentKind::Unknown] {
            assert!(
                SameServerFlow::OpenWorld.requires_consent_after(&read(kind, false), false),
                "S26: {kind:?} content counts"
            );
        }
        assert!(
            SameServerFlow::Everything.requires_consent_after(&closed, false),
            "S26: `Everything` includes the output of local tools"
        );
        assert!(
            !SameServerFlow::Off.requires_consent_after(&read(ReadContentKind::Tool, true), true),
            "`Off` excludes open content too"
        );
    }
}
