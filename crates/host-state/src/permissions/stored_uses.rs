//! Last uses of grants in their file. Called by `host/src/owner/last_uses.rs`.

use std::collections::HashMap;

use policy::{Grant, GrantSubject};
use serde_json::{Value, json};

/// Returns the content of the file of grants, with the last uses of those in `used` that it still contains unchanged.
#[must_use]
pub fn with_last_uses(stored: Option<Value>, used: &[Grant]) -> Value {
    let Some(Ok(mut stored)) = stored.clone().map(serde_json::from_value::<Vec<Grant>>) else {
        return stored.unwrap_or_else(|| json!([]));
    };
    let used: HashMap<(&str, &GrantSubject), &Grant> =
        used.iter().map(|grant| ((grant.server.as_str(), &grant.subject), grant)).collect();
    for grant in &mut stored {
        let own = used.get(&(grant.server.as_str(), &grant.subject));
        // A grant that another process has given since has its own uses.
        if let Some(own) = own.filter(|own| (&own.rests_on, own.since) == (&grant.rests_on, grant.since)) {
            grant.merge_last_use(own.last_use);
        }
    }
    serde_json::to_value(stored).unwrap_or_else(|_| json!([]))
}

#[cfg(test)]
mod tests {
    use policy::{ApprovalScope, GrantId, Hash, LastUse, UsedBy};

    use super::*;

    fn grant(server: &str, since: u64, at: Option<u64>) -> Grant {
        Grant {
            id: GrantId(1),
            server: server.to_owned(),
            subject: GrantSubject::Tool("read".to_owned()),
            rests_on: Hash::of_bytes(b"definition"),
            scope: ApprovalScope::Always,
            conversation: None,
            since,
            expires_at: None,
            words: String::new(),
            last_use: at.map(|at| LastUse { at, by: UsedBy::Model }),
        }
    }

    #[test]
    fn last_uses_are_merged_into_stored_grants_and_add_none() {
        let file = json!([grant("used", 1, None), grant("again", 2, None), grant("later", 1, Some(900))]);
        let own = ["used", "again", "later", "revoked"].map(|server| grant(server, 1, Some(500)));
        let written: Vec<Grant> = serde_json::from_value(with_last_uses(Some(file), &own)).unwrap_or_default();
        let uses: Vec<_> =
            written.iter().map(|grant| (grant.server.as_str(), grant.last_use.map(|used| used.at))).collect();
        assert_eq!(uses, [("used", Some(500)), ("again", None), ("later", Some(900))], "a revoked grant stays revoked");
    }

    #[test]
    fn missing_or_unexpected_grants_document_is_not_replaced() {
        let own = [grant("used", 1, Some(500))];
        assert_eq!(with_last_uses(None, &own), json!([]));
        assert_eq!(with_last_uses(Some(json!({ "a": 1 })), &own), json!({ "a": 1 }));
    }
}
