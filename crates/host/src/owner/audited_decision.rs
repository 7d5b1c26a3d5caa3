//! The description of a decision for the audit log. `audit.rs` writes it.

use std::borrow::Cow;

/// A decision to record in the audit log.
pub(super) struct AuditedDecision<'a> {
    pub(super) server: &'a str,
    pub(super) kind: &'static str,
    pub(super) subject: &'a str,
    pub(super) decision: &'static str,
    pub(super) scope: Option<policy::ApprovalScope>,
    pub(super) by: &'static str,
    pub(super) hash: &'a str,
    /// Originator of the request.
    pub(super) asker: &'static str,
    /// Payload of the request, whether it is sent or not.
    pub(super) content: Option<String>,
    /// Rule or grant that led to the decision.
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
