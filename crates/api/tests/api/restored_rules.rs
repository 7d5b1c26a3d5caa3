//! Tests that a removed rule can be added again as the page received it. The page implements Undo in this way.

use api::{Api, ErrorCode, dispatch};
use serde_json::{Value, json};
use testkit::app::{TestApp, demo_config};

use crate::run_command;

async fn single_rule_of_policy(api: &Api) -> Value {
    let policy = run_command(api, "read_policy", json!({})).await;
    let [rule] = &policy["rules"].as_array().unwrap()[..] else { panic!("expected one rule: {policy}") };
    rule.clone()
}

/// Removes the only rule and restores it. Returns the old and the new rule.
async fn remove_and_restore_rule(api: &Api) -> (Value, Value) {
    let shown = single_rule_of_policy(api).await;
    run_command(api, "remove_policy_rule", json!({"source": shown["source"], "id": shown["id"]})).await;
    assert_eq!(run_command(api, "read_policy", json!({})).await["rules"], json!([]), "the rule should be removed");
    let restored = run_command(api, "restore_policy_rule", shown.clone()).await;
    assert_eq!(restored, json!({"source": shown["source"], "id": shown["id"]}), "the rule should keep its number");
    (shown, single_rule_of_policy(api).await)
}

fn rule_json_with_changes(changes: Value) -> Value {
    let mut rule = json!({
        "id": "", "source": "user", "effect": "allow", "server": "demo", "tool": "add", "direction": "to_server",
        "arguments": [{"at": "/a", "test": "glob", "pattern": "1*"}], "annotations": null, "scope": {"kind": "always"},
        "expiresAt": null, "note": "mine", "trustedServer": false, "identity": null, "afterUntrusted": false,
    });
    rule.as_object_mut().unwrap().extend(changes.as_object().cloned().unwrap());
    rule
}

#[tokio::test]
async fn e24_session_rule_is_restored_as_a_session_rule() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    run_command(&api, "set_policy_rule", rule_json_with_changes(json!({"scope": {"kind": "session"}}))).await;
    let (before, after) = remove_and_restore_rule(&api).await;
    assert_eq!(before["source"], "session", "the rule should not be in the file: {before}");
    assert_eq!(after, before);
}

#[tokio::test]
async fn added_rule_does_not_replace_another_one() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let denied = run_command(&api, "add_policy_rule", rule_json_with_changes(json!({"effect": "deny"}))).await;
    let replacing = rule_json_with_changes(json!({"id": denied["id"], "source": denied["source"]}));
    let error = dispatch(&api, "add_policy_rule", replacing).await.expect_err("a rule with a number is not new");
    assert_eq!(error.code, ErrorCode::Invalid, "{error}");
    assert_eq!(single_rule_of_policy(&api).await["effect"], "deny", "the rule should be unchanged");
}

#[tokio::test]
async fn e24_trust_in_a_server_is_restored() {
    let app = TestApp::start(vec![("demo", demo_config(&[]))]).await;
    app.ready("demo").await;
    let api = Api::new(app.host.clone());
    run_command(&api, "set_trust", json!({"server": "demo", "trust": "always"})).await;
    let (before, after) = remove_and_restore_rule(&api).await;
    assert_eq!(before["trustedServer"], json!(true), "{before}");
    assert_eq!(after, before);
}

#[tokio::test]
async fn e24_sampling_rule_is_restored_with_its_budget() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let budget = json!({"requestsPerHour": 5, "tokensPerHour": 9_000});
    let sampling = json!({"tool": null, "arguments": [], "direction": "from_server", "sampling": budget});
    run_command(&api, "set_policy_rule", rule_json_with_changes(sampling)).await;
    let (before, after) = remove_and_restore_rule(&api).await;
    assert_eq!(before["sampling"], budget);
    assert_eq!(after, before);
}

#[tokio::test]
async fn e24_restored_rule_keeps_its_number_and_place_unless_the_number_is_taken() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    for scope in [json!({"kind": "always"}), json!({"kind": "session"})] {
        let add = async |note: &str| {
            run_command(&api, "set_policy_rule", rule_json_with_changes(json!({"note": note, "scope": scope}))).await
        };
        let remove = async |rule: &Value| run_command(&api, "remove_policy_rule", rule.clone()).await;
        let notes = async || {
            let policy = run_command(&api, "read_policy", json!({})).await;
            let rules = policy["rules"].as_array().unwrap().clone();
            rules.iter().map(|rule| (rule["id"].clone(), rule["note"].clone())).collect::<Vec<_>>()
        };
        let (first, second) = (add("first").await, add("second").await);
        let before = notes().await;
        let removed = rule_json_with_changes(json!({"note": "first", "scope": scope, "id": first["id"]}));
        remove(&first).await;
        assert_eq!(run_command(&api, "restore_policy_rule", removed.clone()).await, first);
        assert_eq!(notes().await, before, "the rule should be in its place");
        // The number of the last rule is given to the next one.
        remove(&second).await;
        let third = add("third").await;
        assert_eq!(third["id"], second["id"]);
        let removed = rule_json_with_changes(json!({"note": "second", "scope": scope, "id": second["id"]}));
        let restored = run_command(&api, "restore_policy_rule", removed).await;
        assert!(restored["id"] != second["id"] && restored["id"] != first["id"], "{restored}");
        let expected = [(&first, "first"), (&third, "third"), (&restored, "second")];
        assert_eq!(notes().await, expected.map(|(rule, note)| (rule["id"].clone(), json!(note))));
        for rule in [first, third, restored] {
            remove(&rule).await;
        }
    }
    let managed = rule_json_with_changes(json!({"source": "managed", "id": "1"}));
    let error = dispatch(&api, "restore_policy_rule", managed).await.expect_err("a managed rule is not the user's");
    assert_eq!(error.code, ErrorCode::NotFound, "{error}");
}
