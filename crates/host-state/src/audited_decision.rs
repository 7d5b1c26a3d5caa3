//! Parameters of an audit entry that records a decision. `host/src/owner/audit.rs` writes the entry.

use std::borrow::Cow;

/// Parameters of an audit entry that records a decision. `Default` provides values for all fields.
pub struct AuditedDecision<'a> {
    /// Name of the server that the decision is about, or empty.
    pub server: &'a str,
    /// Kind of the action that was allowed or denied, such as `tool`, as written to the audit log.
    pub kind: &'static str,
    /// Text that identifies what the action concerns, such as the name of the called tool.
    pub subject: &'a str,
    /// Decision, such as `allowed` or `denied`.
    pub decision: &'static str,
    /// Scope for which an approval is valid, such as one call or the session. `None` for other decisions.
    pub scope: Option<policy::ApprovalScope>,
    /// Origin of the decision, such as `user` or `policy`.
    pub by: &'static str,
    /// Hash of the payload that was allowed or denied. Empty if there is no payload.
    pub hash: &'a str,
    /// Originator of the call, start or request that was allowed or denied, such as `user`, `model` or `server`.
    pub asker: &'static str,
    /// Payload that was allowed or denied, or `None` if the entry must not contain it.
    pub content: Option<String>,
    /// Name of the rule or grant that led to the decision.
    pub rule: Cow<'static, str>,
    /// Identifier of the conversation to which the action belongs, if any.
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
