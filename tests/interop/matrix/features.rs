//! Features of servers, and the protocol revisions that have them.

use std::ops::RangeInclusive;

use mcp_proto::Revision;
use mcp_proto::Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// Defines the enum of features in the order of the table in `MATRIX.md`, each with its name and the protocol revisions
/// that have it.
macro_rules! features {
    ($($feature:ident: $name:literal, $revisions:expr;)*) => {
        /// Feature of MCP servers, which is a row of the table in `MATRIX.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Feature { $($feature),* }

        impl Feature {
            pub(crate) const ALL: &[Self] = &[$(Self::$feature),*];

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$feature => $name),* }
            }

            const fn revisions(self) -> RangeInclusive<Revision> {
                match self { $(Self::$feature => $revisions),* }
            }
        }
    };
}

features! {
    Pages: "lists in pages", V2024_11_05..=V2026_07_28;
    Icons: "icons", V2025_11_25..=V2026_07_28;
    Caching: "caching hints", V2026_07_28..=V2026_07_28;
    Call: "calls", V2024_11_05..=V2026_07_28;
    Structured: "structured content", V2025_06_18..=V2026_07_28;
    ToolError: "tool errors", V2024_11_05..=V2026_07_28;
    Content: "text, image, resource", V2024_11_05..=V2026_07_28;
    Audio: "audio", V2025_03_26..=V2026_07_28;
    Link: "resource links", V2025_06_18..=V2026_07_28;
    Progress: "progress", V2024_11_05..=V2026_07_28;
    Log: "log messages", V2024_11_05..=V2026_07_28;
    Prompts: "prompts", V2024_11_05..=V2026_07_28;
    Completion: "completion", V2024_11_05..=V2026_07_28;
    Context: "completion with context", V2025_06_18..=V2026_07_28;
    Resources: "resources, templates", V2024_11_05..=V2026_07_28;
    ListChanged: "list changes", V2024_11_05..=V2026_07_28;
    Subscription: "subscriptions", V2024_11_05..=V2026_07_28;
    Form: "forms", V2025_06_18..=V2026_07_28;
    Url: "URLs", V2025_11_25..=V2026_07_28;
    Sampling: "sampling", V2024_11_05..=V2026_07_28;
    Roots: "roots", V2024_11_05..=V2026_07_28;
    Cancel: "cancellation", V2024_11_05..=V2026_07_28;
    Resumption: "stream taken up again", V2025_11_25..=V2025_11_25;
    Tasks: "tasks", V2025_11_25..=V2025_11_25;
    TaskExtension: "tasks (extension)", V2026_07_28..=V2026_07_28;
}

impl Feature {
    /// Returns `true` if the feature exists in a protocol revision, and over Streamable HTTP or the other transports.
    pub(crate) fn exists_in(self, revision: Revision, over_streamable_http: bool) -> bool {
        self.revisions().contains(&revision) && (self != Self::Resumption || over_streamable_http)
    }
}
