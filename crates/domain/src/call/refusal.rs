//! Causes for which a call is refused, or its result withheld.

use serde::{Deserialize, Serialize};

/// Cause for which a call was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum CallRefusal {
    /// The user denied the consent request. On the command line, the answers file can decide for the user.
    DeniedByUser {
        /// Reason that the user gave for the denial, or `None` if there is none.
        reason: Option<String>,
    },
    /// A rule or the preset denies the call.
    DeniedByRule {
        /// Stable name of the rule or preset, such as `rule 3`.
        rule: String,
    },
    /// The tool is turned off in the settings or in the conversation, or its server doesn't offer it to the caller.
    NotOffered,
    /// The definition or the request changed after it was shown or allowed.
    Changed,
    /// The audit entry of the call could not be written, so nothing was sent.
    NotAudited,
    /// A request of the server was refused while the call ran, and the call needed its response.
    InputRefused,
    /// The call was made, but its caller does not receive the result.
    ResultWithheld,
    /// Another cause, which only the text of the failure describes. Also used for causes that this version does not
    /// know.
    #[serde(other)]
    Other,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::CallFailureCode;
    use crate::item::ItemBody;

    #[test]
    fn stored_call_of_an_older_version_has_no_cause() {
        let mut stored = json!({
            "kind": "tool_call", "call": "c", "server": "a", "tool": "b", "arguments": {}, "result": null,
            "error": "refused: by the user", "failure": "refused", "took": 1
        });
        let cause = |stored: &serde_json::Value| match serde_json::from_value(stored.clone()).unwrap() {
            ItemBody::ToolCall { failure: Some(CallFailureCode::Refused), refusal, .. } => refusal,
            other => panic!("{other:?} is not a refused call"),
        };
        assert_eq!(cause(&stored), None, "an older version stored no cause");
        stored["refusal"] = json!({ "is": "denied_by_rule", "rule": "rule 3" });
        assert_eq!(cause(&stored), Some(CallRefusal::DeniedByRule { rule: "rule 3".into() }));
    }

    #[test]
    fn cause_that_this_version_does_not_know_is_another_one() {
        let later = json!({ "is": "denied_by_committee", "members": 3 });
        assert_eq!(serde_json::from_value::<CallRefusal>(later).unwrap(), CallRefusal::Other);
        let denied = CallRefusal::DeniedByUser { reason: Some("no".into()) };
        let stored = serde_json::to_value(&denied).unwrap();
        assert_eq!(stored, json!({ "is": "denied_by_user", "reason": "no" }));
        assert_eq!(serde_json::from_value::<CallRefusal>(stored).unwrap(), denied);
    }
}
