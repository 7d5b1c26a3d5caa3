//! Tests of commands for the sign-in: its consent requests, the reported state, and the secrecy of tokens.

use std::sync::atomic::Ordering;
use std::time::Duration;

use api::{Api, ErrorCode, Event, dispatch};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};
use testkit::browser;

use crate::run_command;

/// Executes a command repeatedly until `fits` returns `true` for its response, and returns the response.
async fn run_command_until(api: &Api, command: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let start = std::time::Instant::now();
    loop {
        let request = if command == "read_snapshot" { json!({}) } else { json!({"server": "far"}) };
        let known = run_command(api, command, request).await;
        if fits(&known) {
            return known;
        }
        assert!(start.elapsed() < testkit::app::EVENT_TIMEOUT, "the state was not reached in time: {known}");
        // sleep: polls, because no event reports it.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits for a consent request of this kind, and submits a decision on it.
async fn decide_next_consent_request(api: &Api, kind: &str, answer: Value) -> Value {
    let has = |snapshot: &Value| snapshot["consentRequests"][0]["body"]["kind"] == kind;
    let consent_request = run_command_until(api, "read_snapshot", has).await["consentRequests"][0].clone();
    run_command(
        api,
        "decide_consent_request",
        json!({"id": consent_request["id"], "hash": consent_request["hash"], "answer": answer}),
    )
    .await;
    consent_request
}

fn allow_once_decision() -> Value {
    json!({"action": "allow", "scope": "once"})
}

async fn start_servers(script: ProtectedScript) -> (AuthorizationServer, ProtectedServer, TestApp, Api) {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let server = ProtectedServer::start(script, &[&issuer]).await;
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let config = json!({"type": "http", "url": server.url()});
    run_command(&api, "add_server", json!({"name": "far", "config": config})).await;
    (issuer, server, app, api)
}

#[tokio::test]
async fn sign_in_requests_consent_reports_progress_and_is_removed() {
    let script = ProtectedScript { challenge_scope: Some("openid ships:read".into()), ..ProtectedScript::default() };
    let (issuer, server, app, api) = start_servers(script).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let mut events = api.events();
    run_command(&api, "start_server", json!({"server": "far"})).await;
    decide_next_consent_request(&api, "connect_server", allow_once_decision()).await;
    let request = decide_next_consent_request(&api, "sign_in", allow_once_decision()).await;
    let body = &request["body"];
    assert_eq!(body["issuer"], issuer.issuer().as_str(), "issuer: {body}");
    assert_eq!(body["resource"], server.url().as_str(), "resource");
    assert_eq!(body["scopes"], json!(["openid", "ships:read"]), "scopes");
    assert_eq!(body["reason"], json!({"is": "sign_in"}), "reason");
    assert!(
        body["redirectUri"].as_str().unwrap().starts_with("http://127.0.0.1:"),
        "the redirect URI should be on this computer: {body}"
    );
    assert_eq!(body["authorizationUrl"]["domain"], "127.0.0.1", "the domain should be parsed");
    assert_eq!(request["scopes"], json!(["once"]), "a sign-in should only be approved once: {request}");
    let snapshot = run_command_until(&api, "read_snapshot", |s| s["servers"][0]["state"]["is"] == "ready").await;
    let known = run_command(&api, "read_authorization", json!({"server": "far"})).await;
    let account = &known["account"];
    assert_eq!(account["issuer"], issuer.issuer().as_str(), "issuer of the account: {known}");
    assert_eq!(account["client"], "registered", "client identity of the account");
    assert_eq!(account["canRefresh"], true, "the token should be refreshable");
    assert_eq!(known["tokenStorage"]["where"], "this_run", "a keychain in memory should not persist tokens");
    let steps = known["steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["response"].as_str().is_some_and(|a| a.contains("[redacted]"))), "{steps:?}");
    assert!(steps.iter().all(|step| step["failed"] == false), "no step should have failed");

    let secrets = issuer.secrets();
    let done = run_command(&api, "sign_out", json!({"server": "far"})).await;
    assert_eq!(done, json!({"revoked": "yes"}), "the tokens should be revoked at the authorization server");
    assert_eq!(issuer.valid_token_counts(), (0, 0), "no token should be valid");
    let again = run_command(&api, "sign_out", json!({"server": "far"})).await;
    assert_eq!(again, json!({"revoked": "nobody_signed_in"}), "no account should be signed in");

    // Events are ordered, so all events that could contain a secret precede the event of this command.
    run_command(&api, "add_server", json!({"name": "fence", "config": {"type": "stdio", "command": "true"}})).await;
    let mut reported = format!("{known}{snapshot}");
    let mut is_reported = false;
    while !reported.contains("fence") {
        let batch = events.next().await.expect("the stream should not end");
        is_reported |=
            batch.events.iter().any(|e| matches!(e, Event::AuthorizationChanged { server } if server == "far"));
        reported.push_str(&serde_json::to_string(&batch).unwrap());
    }
    assert!(is_reported, "a change of the authorization should be reported");
    assert!(secrets.iter().all(|secret| !reported.contains(secret)), "no token, code or secret should be reported");
    app.host.close().await;
}

#[tokio::test]
async fn running_sign_in_accepts_a_pasted_redirect_or_is_cancelled() {
    let (_issuer, _server, app, api) = start_servers(ProtectedScript::default()).await;
    let far = || json!({"server": "far"});
    let early = dispatch(&api, "complete_sign_in", json!({"server": "far", "url": "http://127.0.0.1:1/"})).await;
    assert_eq!(early.unwrap_err().code, ErrorCode::NotReady, "no sign-in should wait for a redirect");
    run_command(&api, "sign_in", far()).await;
    decide_next_consent_request(&api, "connect_server", allow_once_decision()).await;
    decide_next_consent_request(&api, "sign_in", allow_once_decision()).await;
    let waits = |known: &Value| known["inProgress"]["phase"] == "awaiting_browser";
    let now = run_command_until(&api, "read_authorization", waits).await["inProgress"].clone();
    assert!(now["endsAt"].as_u64() > now["since"].as_u64(), "the timeout should be reported: {now}");
    run_command(&api, "cancel_sign_in", far()).await;
    let known = run_command_until(&api, "read_authorization", |known| known["inProgress"].is_null()).await;
    assert!(
        known["failureMessage"].as_str().is_some_and(|words| words.contains("cancelled")),
        "the cancellation should be reported: {known}"
    );
    let state = |is: &'static str| move |s: &Value| s["servers"][0]["state"]["is"] == is;
    let snapshot = run_command_until(&api, "read_snapshot", state("needs_sign_in")).await;
    assert_eq!(snapshot["servers"][0]["state"]["signingIn"], false, "the server should require a sign-in: {snapshot}");

    run_command(&api, "sign_in", far()).await;
    decide_next_consent_request(&api, "sign_in", allow_once_decision()).await;
    let now = run_command_until(&api, "read_authorization", waits).await["inProgress"].clone();
    let wrong = json!({"server": "far", "url": "http://127.0.0.1:1/callback?code=a&state=b"});
    let wrong = dispatch(&api, "complete_sign_in", wrong).await.unwrap_err();
    assert_eq!(wrong.code, ErrorCode::Invalid, "another redirect URI should be rejected: {wrong}");
    let page = browser::get(now["authorizationUrl"].as_str().unwrap()).await.unwrap();
    run_command(&api, "complete_sign_in", json!({"server": "far", "url": page.location().unwrap()})).await;
    run_command_until(&api, "read_snapshot", state("ready")).await;
    app.host.close().await;
}

#[tokio::test]
async fn client_id_is_requested_if_no_other_registration_is_possible() {
    let script = AuthorizationScript {
        registration: false,
        clients: [("drawbridge".to_owned(), None)].into(),
        ..AuthorizationScript::default()
    };
    let issuer = AuthorizationServer::start(script).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let app = TestApp::start(vec![("far", testkit::app::remote_config(&server.url()))]).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let api = Api::new(app.host.clone());
    run_command(&api, "sign_in", json!({"server": "far"})).await;
    decide_next_consent_request(&api, "connect_server", allow_once_decision()).await;
    let client = json!({"clientId": "drawbridge", "clientSecret": ""});
    let request = decide_next_consent_request(&api, "client_id", json!({"action": "identify", "client": client})).await;
    assert_eq!(request["body"]["issuer"], issuer.issuer().as_str(), "issuer: {request}");
    let shown = request["body"]["redirectUri"].clone();
    let request = decide_next_consent_request(&api, "sign_in", allow_once_decision()).await;
    assert_eq!(request["body"]["clientId"], "drawbridge", "the entered client identifier should be used");
    assert_eq!(
        request["body"]["redirectUri"], shown,
        "[auth-manual-client-id] the redirect URI should match the one shown with the consent request"
    );
    let known = run_command_until(&api, "read_authorization", |known| !known["account"].is_null()).await;
    assert_eq!(known["account"]["client"], "entered", "the kind of the client should be stored: {known}");
    app.host.close().await;
}

#[tokio::test]
async fn sign_in_settings_are_stored_and_the_secret_is_never_returned() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let config = |url: &str, auth: Value| json!({"type": "http", "url": url, "auth": auth});
    let auth = json!({
        "clientId": " drawbridge ", "clientSecret": "t0psecret", "hasSecret": true,
        "issuer": "https://login.example/7", "scopes": ["ships:read"], "redirectPort": 4321,
    });
    let url = "https://a.example/mcp";
    run_command(&api, "add_server", json!({"name": "far", "config": config(url, auth)})).await;
    let file = || std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    assert!(file().contains("${secret:far.client_secret}") && !file().contains("t0psecret"), "{}", file());
    let snapshot = run_command(&api, "read_snapshot", json!({})).await;
    let shown = snapshot["servers"][0]["config"]["auth"].clone();
    let settings = json!({
        "clientId": "drawbridge", "clientSecret": null, "hasSecret": true,
        "issuer": "https://login.example/7", "scopes": ["ships:read"], "redirectPort": 4321, "secretNames": [], "rest": null,
    });
    assert_eq!(shown, settings, "all settings except the secret should be returned");
    let secret = |origin: &str| {
        app.host.ports().secrets.get(&ports::secrets::secret_storage_key("far.client_secret", origin)).unwrap()
    };
    assert_eq!(secret("https://a.example").as_deref(), Some("t0psecret"), "the secret should be in the keychain");

    let update = |config: Value| json!({"server": "far", "name": "far", "config": config});
    run_command(&api, "update_server", update(config("https://a.example/other", shown.clone()))).await;
    assert!(file().contains("${secret:far.client_secret}"), "another path should keep the secret: {}", file());
    let moved = dispatch(&api, "update_server", update(config("https://b.example/mcp", shown.clone()))).await;
    assert_eq!(moved.unwrap_err().code, ErrorCode::Invalid, "another host should not receive the secret");
    run_command(&api, "update_server", update(json!({"type": "http", "url": url}))).await;
    assert!(file().contains("clientId"), "an update without sign-in settings should keep them: {}", file());
    for bad in [json!({"issuer": "login.example"}), json!({"redirectPort": 0})] {
        let refused = dispatch(&api, "update_server", update(config(url, bad))).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Invalid, "invalid settings should be rejected: {refused}");
    }
    run_command(&api, "update_server", update(config(url, json!({})))).await;
    assert!(!file().contains("auth"), "all sign-in settings should be removed: {}", file());
    assert_eq!(secret("https://a.example"), None, "the secret should be removed too");
    app.host.close().await;
}

#[tokio::test]
async fn pasted_settings_keep_all_sign_in_settings() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let auth = json!({
        "clientId": "drawbridge", "clientSecret": "t0psecret", "issuer": "https://login.example/7",
        "scopes": ["ships:read"], "grant": "enterprise_managed", "redirectPort": 4321, "dpop": true,
        "privateKey": "${secret:key}", "algorithm": "ES256",
        "identityProvider": {"issuer": "https://idp.example", "clientId": "at-idp", "idToken": "${secret:id-token}"},
    });
    let pasted = json!({"mcpServers": {"far": {"url": "https://a.example/mcp", "auth": auth}}}).to_string();
    let found = run_command(&api, "parse_import", json!({ "text": pasted })).await["servers"][0].clone();
    assert_eq!(
        (&found["usable"], &found["notes"]),
        (&json!(true), &json!([])),
        "all settings should be recognized: {found}"
    );
    let request = json!({"name": "far", "config": found["config"]});
    run_command(&api, "add_server", request.clone()).await;
    let file =
        || -> Value { serde_json::from_slice(&std::fs::read(app.folder.path().join("mcp.json")).unwrap()).unwrap() };
    let mut expected = auth.clone();
    expected["clientSecret"] = json!("${secret:far.client_secret}");
    assert_eq!(
        file()["mcpServers"]["far"]["auth"],
        expected,
        "all settings should be stored, with a reference to the secret"
    );
    let key = ports::secrets::secret_storage_key("far.client_secret", "https://a.example");
    assert_eq!(
        app.host.ports().secrets.get(&key).unwrap().as_deref(),
        Some("t0psecret"),
        "the secret should be in the keychain"
    );
    let snapshot = run_command(&api, "read_snapshot", json!({})).await;
    let shown = &snapshot["servers"][0]["config"];
    assert_eq!(shown["auth"]["rest"], json!(null), "the remaining settings should not be returned: {shown}");
    run_command(&api, "update_server", json!({"server": "far", "name": "far", "config": shown})).await;
    assert_eq!(file()["mcpServers"]["far"]["auth"], expected, "an update should keep the settings");

    assert_eq!(
        shown["auth"]["secretNames"],
        json!(["key", "id-token"]),
        "the names of the secrets should be returned: {shown}"
    );
    const PRIVATE_KEY_PEM: &str = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n";
    let enter = |name: &str, value: &str| json!({"server": "far", "header": name, "value": value});
    run_command(&api, "set_secret", enter("key", PRIVATE_KEY_PEM)).await;
    let secrets = &app.host.ports().secrets;
    let key = ports::secrets::secret_storage_key("key", "https://a.example");
    assert_eq!(
        secrets.get(&key).unwrap().as_deref(),
        Some(PRIVATE_KEY_PEM),
        "a secret with several lines should be stored"
    );
    for (name, value) in [("key", " "), ("other", "x")] {
        assert!(
            dispatch(&api, "set_secret", enter(name, value)).await.is_err(),
            "{name:?} should not accept {value:?}"
        );
    }

    // Pasted settings that already reference a stored secret.
    let again = json!({"mcpServers": {"two": {"url": "https://a.example/two", "auth": expected}}}).to_string();
    let found = run_command(&api, "parse_import", json!({ "text": again })).await["servers"][0].clone();
    run_command(&api, "add_server", json!({"name": "two", "config": found["config"]})).await;
    assert_eq!(file()["mcpServers"]["two"]["auth"], expected, "the name of the secret should be kept");
    let mut bad = request;
    bad["name"] = json!("three");
    bad["config"]["auth"]["rest"]["grant"] = json!("password");
    let bad = dispatch(&api, "add_server", bad).await.unwrap_err();
    assert_eq!(bad.code, ErrorCode::Invalid, "an unknown grant type should be rejected: {bad}");
    app.host.close().await;
}

#[tokio::test]
async fn declined_sign_in_is_reported_and_is_not_a_failure() {
    let (_issuer, _server, app, api) = start_servers(ProtectedScript::default()).await;
    run_command(&api, "start_server", json!({"server": "far"})).await;
    decide_next_consent_request(&api, "connect_server", allow_once_decision()).await;
    decide_next_consent_request(&api, "sign_in", json!({"action": "deny"})).await;
    let known = run_command_until(&api, "read_authorization", |known| !known["failureMessage"].is_null()).await;
    assert_eq!(known["failureMessage"], "You declined the sign-in.", "message for the user");
    assert_eq!(known["failure"], "declined", "the user declined");
    let last = known["steps"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["conclusion"], &last["failed"]), (&json!("you declined the sign-in"), &json!(false)), "{last}");
    let snapshot = run_command(&api, "read_snapshot", json!({})).await;
    let state = &snapshot["servers"][0]["state"];
    assert_eq!(state["cause"], "You declined the sign-in.", "the state should contain the cause: {state}");
    app.host.close().await;
}

#[tokio::test]
async fn unavailable_sign_in_is_reported_with_its_reason() {
    let app = TestApp::start(vec![("here", testkit::app::demo_config(&[]))]).await;
    let api = Api::new(app.host.clone());
    let here = || json!({"server": "here"});
    let known = run_command(&api, "read_authorization", here()).await;
    assert!(known["unsupportedReason"].is_string(), "the reason should be reported: {known}");
    let refused = dispatch(&api, "sign_in", here()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Unsupported, "a local server has no sign-in: {refused}");
    let unknown = dispatch(&api, "sign_in", json!({"server": "none"})).await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::NotFound, "the server should be unknown: {unknown}");
    let headers = json!([{"name": "authorization", "value": "Bearer k", "secret": true}]);
    let config = json!({"type": "http", "url": "https://a.example/mcp", "headers": headers});
    run_command(&api, "add_server", json!({"name": "far", "config": config})).await;
    let known = run_command(&api, "read_authorization", json!({"server": "far"})).await;
    assert!(
        known["unsupportedReason"].as_str().is_some_and(|why| why.contains("header")),
        "a configured header should disable the sign-in: {known}"
    );
    app.host.close().await;
}
