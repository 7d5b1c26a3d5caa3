//! Tests of alternative spellings that rules must match: server addresses (S02), and paths and addresses in arguments
//! (S03).

use std::path::Path;

use domain::call::CallFailure;
use host::view::{ServerState, StartRefusal, UserDecision};
use policy::{ApprovalScope, PolicyRule};
use serde_json::{Value, json};
use testkit::app::{remote_config, scripted_config};

use crate::pair::GoodAndBadServers;

async fn set_rule(pair: &GoodAndBadServers, rule: Value) {
    let rule: PolicyRule = serde_json::from_value(rule).unwrap();
    pair.app.host.set_rule(rule).await.expect("the rule is accepted");
}

fn count_received_calls(record: &Path) -> usize {
    std::fs::read_to_string(record).unwrap_or_default().matches(r#""method":"tools/call""#).count()
}

#[tokio::test]
async fn s02_identity_rule_matches_every_spelling_of_an_address() {
    for (about, url) in [
        ("as it is", "https://evil-mcp.example/mcp"),
        ("in capitals", "https://EVIL-MCP.example/mcp"),
        ("percent-encoded", "https://evil-mcp%2eexample/mcp"),
        ("in wide letters", "https://\u{ff45}\u{ff56}\u{ff49}\u{ff4c}-mcp\u{ff0e}example/mcp"),
        ("with its port and a last dot", "https://evil-mcp.example.:443/mcp"),
    ] {
        let what = format!("S02, an address {about}");
        let pair = GoodAndBadServers::with_undecided_start(remote_config(url)).await;
        set_rule(&pair, json!({"effect": "deny", "identity": "*//evil-mcp.example/*", "direction": "both"})).await;
        pair.assert_good_server_responds(&what, "first").await;
        // An unreachable server may be refused before the rules are evaluated.
        let _ = pair.app.host.start_server("bad".into()).await;
        let refused_by_rule = Some(StartRefusal::DeniedByRule);
        let is_refused =
            |state: &ServerState| matches!(state, ServerState::Failed(failure) if failure.refusal == refused_by_rule);
        pair.app.until("bad", "refused by the rule", |server| is_refused(&server.state)).await;
        assert!(pair.app.consent_requests().await.is_empty(), "{what}: no consent request is shown");
        pair.close(&what).await;
    }
}

#[tokio::test]
async fn s03_denied_value_is_denied_in_every_spelling() {
    let what = "S03, other spellings of a path and an address that are denied";
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("secret")).unwrap();
    std::fs::create_dir_all(root.join("public")).unwrap();
    std::os::unix::fs::symlink(root.join("secret"), root.join("public/link")).unwrap();
    let record = folder.path().join("record");
    let pair = GoodAndBadServers::with_undecided_tools(scripted_config(&["--record", record.to_str().unwrap()])).await;
    let (secret, own) = (root.join("secret"), root.display());
    let rule = |is: Value| {
        let mut condition = is;
        condition["at"] = json!("/x");
        json!({"effect": "deny", "server": "bad", "arguments": [condition]})
    };
    set_rule(&pair, rule(json!({"glob": "/secret/*"}))).await;
    set_rule(&pair, rule(json!({"glob": "https://evil.example/*"}))).await;
    set_rule(&pair, rule(json!({"path": secret}))).await;
    set_rule(&pair, rule(json!({"url": "https://api.example/admin"}))).await;
    // Each pattern has a separate condition, because an invalid path is undecidable for a folder pattern.
    for (at, is) in [("/folder", json!({"folder": "/held"})), ("/glob", json!({"glob": "*wicked.example*"}))] {
        let mut condition = is;
        condition["at"] = json!(at);
        set_rule(&pair, json!({"effect": "deny", "server": "bad", "arguments": [condition]})).await;
    }
    for (n, value) in [
        json!("evil.example/x"),
        json!("file:///secret/x"),
        json!("//secret/x"),
        json!("/./secret/x"),
        json!("/a/../secret/x"),
        json!(["/tmp", "/%73ecret/x"]),
        json!("https://user@EVIL.example:443/x"),
        json!(format!("{own}/public/link/key")),
        json!(format!("{own}/public/../secret/key")),
        json!(format!("/{own}/./secret/key")),
        json!("https://api.example/public/%2e%2e/admin"),
        json!("https://api.example/public/..%2fadmin"),
    ]
    .into_iter()
    .enumerate()
    {
        let ended = pair.spawn_call(&format!("denied {n}"), "echo", json!({"x": value})).await.unwrap();
        assert!(matches!(ended, Err(CallFailure::Refused { .. })), "{what}: {value} is denied: {ended:?}");
    }
    for (n, arguments) in [
        json!({"folder": "/%68eld/k"}),
        json!({"folder": "/public/..%2fheld/k"}),
        json!({"glob": "WICKED.example"}),
        json!({"glob": "\u{ff57}icked.example"}),
    ]
    .into_iter()
    .enumerate()
    {
        let ended = pair.spawn_call(&format!("denied too {n}"), "echo", arguments.clone()).await.unwrap();
        assert!(matches!(ended, Err(CallFailure::Refused { .. })), "{what}: {arguments} is denied: {ended:?}");
    }
    assert_eq!(count_received_calls(&record), 0, "{what}: nothing was sent");
    pair.assert_good_server_responds(what, "afterwards").await;
    pair.close(what).await;
}

#[tokio::test]
async fn s03_allowed_value_is_within_the_rule() {
    let what = "S03, paths and addresses that only look allowed";
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("secret")).unwrap();
    std::fs::create_dir_all(root.join("public")).unwrap();
    std::os::unix::fs::symlink(root.join("secret"), root.join("public/link")).unwrap();
    let record = folder.path().join("record");
    let pair = GoodAndBadServers::with_undecided_tools(scripted_config(&["--record", record.to_str().unwrap()])).await;
    let first = pair.spawn_call("first", "echo", json!({}));
    let request = pair.wait_for_tool_consent_request(what, |_| true).await;
    pair.app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    assert!(first.await.unwrap().is_ok(), "{what}: an approved call marks the tool as reviewed");
    let own = root.display().to_string();
    for (name, is) in [
        ("a", json!({"glob": "https://api.x/public/*"})),
        ("b", json!({"glob": "https://*.x.com/*"})),
        ("c", json!({"glob": "https://api.x*"})),
        ("d", json!({"path": format!("{own}/public/*")})),
        ("e", json!({"url": "https://api.x"})),
        ("f", json!({"number": "1..10"})),
        ("g", json!({"folder": "/pub"})),
    ] {
        let mut condition = is;
        condition["at"] = json!(format!("/{name}"));
        set_rule(&pair, json!({"effect": "allow", "server": "bad", "arguments": [condition]})).await;
    }
    for (n, arguments) in [
        json!({"a": "https://api.x/public/%2e%2e/admin"}),
        json!({"b": "https://evil/a.x.com/"}),
        json!({"c": "https://api.x@evil/"}),
        json!({"d": format!("{own}/public/link/key")}),
        json!({"d": format!("{own}/public/../secret/key")}),
        json!({"e": "https://api.x@evil/"}),
        json!({"f": "5"}),
        json!({"g": "/pub/%2e%2e/secret/k"}),
        json!({"g": "/pub/..%2fsecret/k"}),
        json!({"g": r"/pub/..\..\secret\k"}),
        json!({"f": [1, 11]}),
    ]
    .into_iter()
    .enumerate()
    {
        let before = count_received_calls(&record);
        let call = pair.spawn_call(&format!("asks {n}"), "echo", arguments.clone());
        let request = pair.wait_for_tool_consent_request(what, |_| true).await;
        assert_eq!(count_received_calls(&record), before, "{what}: {arguments} requires consent");
        pair.app.decide(&request, UserDecision::Deny).await;
        assert!(call.await.unwrap().is_err(), "{what}: {arguments} is denied");
    }
    for (n, arguments) in [
        json!({"a": "https://api.x/public/a"}),
        json!({"b": "https://a.x.com/b"}),
        json!({"c": "https://api.x/a"}),
        json!({"d": format!("{own}/public/new")}),
        json!({"e": "https://API.x:443/any"}),
        json!({"f": [1, 10.0]}),
        json!({"g": "/pub/a%20b"}),
    ]
    .into_iter()
    .enumerate()
    {
        let ended = pair.spawn_call(&format!("allowed {n}"), "echo", arguments.clone()).await.unwrap();
        assert!(ended.is_ok(), "{what}: {arguments} is allowed: {ended:?}");
    }
    pair.assert_good_server_responds(what, "afterwards").await;
    pair.close(what).await;
}
