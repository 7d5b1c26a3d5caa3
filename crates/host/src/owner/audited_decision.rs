//! Parameters of the audit entry about a decision. `audit.rs` writes the entry.

use std::borrow::Cow;

/// Parameters of an audit entry about a decision. Most fields have a default.
pub(super) struct AuditedDecision<'a> {
    pub(super) server: &'a str,
    pub(super) kind: &'static str,
    pub(super) subject: &'a str,
    pub(super) decision: &'static str,
    pub(super) scope: Option<policy::ApprovalScope>,
    pub(super) by: &'static str,
    pub(super) hash: &'a str,
    /// Originator of the call, start or request that was decided about, such as `user`, `model` or `server`.
    pub(super) asker: &'static str,
    /// Payload that was decided about, even if it is not sent.
    pub(super) content: Option<String>,
    /// Name of the rule or grant that led to the decision.
    pub(super) rule: Cow<'static, str>,
    pub(super) conversation: Option<&'a str>,
}

impl Default for AuditedDecision<'_> {
    fn default() -> Self {
        Self {
            server: "",
            kind: "",
            subject: "",
            decision: "",
            scope: None,
            by: "",
            hash: "",
            asker: "user",
            content: None,
            rule: Cow::Borrowed(""),
            conversation: None,
        }
    }
}
