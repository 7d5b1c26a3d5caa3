//! Parameters of the audit entry about a decision. `host/src/owner/audit.rs` writes the entry.

use std::borrow::Cow;

/// Parameters of an audit entry about a decision. Most fields have a default.
pub struct AuditedDecision<'a> {
    /// Name of the server that the decision is about, or empty.
    pub server: &'a str,
    /// Kind of the act that was decided about, as in the audit log.
    pub kind: &'static str,
    /// Subject of the act, such as the name of a tool.
    pub subject: &'a str,
    /// Decision, such as `allowed` or `denied`.
    pub decision: &'static str,
    /// Duration of an approval.
    pub scope: Option<policy::ApprovalScope>,
    /// Who decided, such as `user` or `policy`.
    pub by: &'static str,
    /// Hash of the payload, or empty.
    pub hash: &'a str,
    /// Originator of the call, start or request that was decided about, such as `user`, `model` or `server`.
    pub asker: &'static str,
    /// Payload that was decided about, even if it is not sent.
    pub content: Option<String>,
    /// Name of the rule or grant that led to the decision.
    pub rule: Cow<'static, str>,
    /// Conversation of the act, if any.
    pub conversation: Option<&'a str>,
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
