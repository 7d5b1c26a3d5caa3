//! Audit entries of removed rules that the user adds again.

use policy::{PolicyRule, RuleScope};
use serde_json::json;
use testkit::app::TestApp;

#[tokio::test]
async fn audit_entry_of_a_restored_rule_does_not_have_the_id_of_another_rule() {
    let app = TestApp::start(vec![]).await;
    for scope in [RuleScope::Always, RuleScope::Session] {
        let rule = |note: &str| -> PolicyRule {
            let rule = json!({ "effect": "deny", "server": "harbour", "note": note });
            PolicyRule { scope: scope.clone(), ..serde_json::from_value(rule).unwrap() }
        };
        let removed = app.host.set_rule(rule("removed")).await.unwrap();
        app.host.remove_rule(removed).await.unwrap();
        let other = app.host.set_rule(rule("other")).await.unwrap();
        assert_eq!(other.id, removed.id, "the new rule has the free id");
        let restored = app.host.restore_rule(PolicyRule { id: removed.id, ..rule("removed") }).await.unwrap();
        assert_ne!(restored.id, other.id);
        let entries = app.entries_of_kind("rule");
        let recorded: PolicyRule = serde_json::from_str(&entries.last().unwrap().subject).unwrap();
        let described = PolicyRule { scope: RuleScope::Always, ..rule("removed") };
        assert_eq!(recorded, described, "the entry describes the rule, and names no other one");
    }
}
