//! Data flow settings: which content of a server makes a later call of the same server require consent, and which
//! results the user reviews before a model reads them. The user sets them for each server, and `host/src/owner/flow_settings.rs`
//! stores them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::history::Reading;

/// Data flow settings of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default, rename_all = "camelCase")]
pub struct DataFlow {
    /// Content after which a model's call of the same server requires consent.
    pub same_server: SameServerFlow,
    /// Results that the user reviews before a model reads them.
    pub review: ResultReview,
    /// Review settings of individual tools, by name. At most [`MAX_TOOLS`] entries.
    pub tools: BTreeMap<String, ResultReview>,
}

/// Maximum number of tools of a server with individual settings.
pub const MAX_TOOLS: usize = 1_000;

impl DataFlow {
    /// Returns the review setting that applies to a tool.
    #[must_use]
    pub fn review_of(&self, tool: &str) -> ResultReview {
        self.tools.get(tool).copied().unwrap_or(self.review)
    }
}

/// Results of a model's calls that the user reviews before the model reads them.
///
/// The default is [`Suspicious`](Self::Suspicious). It costs the user of an honest server next to nothing:
/// `offers/src/review/results.rs` has the figures. A setting that is off by default protects nobody who hasn't found
/// it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ResultReview {
    /// No results are reviewed.
    Off,
    /// Results with hidden characters, instructions to the model, or misleading links.
    #[default]
    Suspicious,
    /// All results are reviewed.
    Always,
}

/// Content of a server after which a model's call of a tool of the same server requires consent, even if a rule or
/// grant allows it.
///
/// Per the specification, a tool without `openWorldHint` is assumed to reach an open world. Few servers send the hint,
/// so following this, nearly every local server would require consent for each call, and approvals would become
/// meaningless. A remote server always counts as open-world; a local tool counts if it sends the hint. The other hints
/// have no effect: a read-only tool can carry data out in its arguments, and `openWorldHint: false` is an untrusted
/// claim that would loosen the policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SameServerFlow {
    /// Prompts, resources, the output of tools that claim to reach an open world, and all output of remote servers.
    #[default]
    OpenWorld,
    /// Any content that was read.
    Everything,
    /// No content at any time.
    Off,
}

impl SameServerFlow {
    /// Returns `true` if a call after this content requires consent.
    #[must_use]
    pub const fn requires_consent_after(self, reading: &Reading, is_remote: bool) -> bool {
        match self {
            Self::OpenWorld => is_remote || reading.may_contain_third_party_text(),
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
    fn only_open_world_content_counts_by_default() {
        let read = |kind, open_world| Reading { open_world, ..Reading::new("a", kind, "x") };
        let closed = read(ReadingKind::Tool, false);
        assert!(
            !SameServerFlow::OpenWorld.requires_consent_after(&closed, false),
            "a local tool without a hint doesn't count"
        );
        assert!(
            SameServerFlow::OpenWorld.requires_consent_after(&closed, true),
            "S26: the output of a remote server's tool counts"
        );
        assert!(
            SameServerFlow::OpenWorld.requires_consent_after(&read(ReadingKind::Tool, true), false),
            "S26: a local tool with `openWorldHint` counts"
        );
        for kind in [ReadingKind::Prompt, ReadingKind::Resource, ReadingKind::Unknown] {
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
            !SameServerFlow::Off.requires_consent_after(&read(ReadingKind::Tool, true), true),
            "`Off` excludes open content too"
        );
    }
}
