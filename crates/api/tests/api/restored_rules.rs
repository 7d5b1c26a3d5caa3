//! Tests that a removed rule can be added again as the page received it. The page implements Undo in this way.

use api::Api;
use serde_json::{Value, json};
use testkit::app::{TestApp, demo_config};

use crate::run_command;

async fn single_rule(api: &Api) -> Value {
    let policy = run_command(api, "read_policy", json!({})).await;
    let [rule] = &policy["rules"].as_array().unwrap()[..] else { panic!("expected one rule: {policy}") };
    rule.clone()
}

/// Removes the only rule and adds it again. Returns the old and the new rule without their numbers.
async fn remove_and_restore_rule(api: &Api) -> (Value, Value) {
    let shown = single_rule(api).await;
    run_command(api, "remove_policy_rule", json!({"source": shown["source"], "id": shown["id"]})).await;
    assert_eq!(run_command(api, "read_policy", json!({})).await["rules"], json!([]), "the rule should be removed");
    let mut again = shown.clone();
    again["id"] = json!("");
    run_command(api, "set_policy_rule", again).await;
    let (mut before, mut after) = (shown, single_rule(api).await);
    for rule in [&mut before, &mut after] {
        rule.as_object_mut().unwrap().remove("id");
    }
    (before, after)
}

fn rule_json(changes: Value) -> Value {
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
    run_command(&api, "set_policy_rule", rule_json(json!({"scope": {"kind": "session"}}))).await;
    let (before, after) = remove_and_restore_rule(&api).await;
    assert_eq!(before["source"], "session", "the rule should not be in the file: {before}");
    assert_eq!(after, before);
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
    run_command(&api, "set_policy_rule", rule_json(sampling)).await;
    let (before, after) = remove_and_restore_rule(&api).await;
    assert_eq!(before["sampling"], budget);
    assert_eq!(after, before);
}
