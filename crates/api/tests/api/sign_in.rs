//! Signing in as the page does it: what is asked, what is told, and what is never told.

use std::sync::atomic::Ordering;
use std::time::Duration;

use api::{Api, ErrorCode, Event, dispatch};
use serde_json::{Value, json};
use testkit::app::App;
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};
use testkit::browser;

use crate::call;

/// Asks until what is known fits.
async fn until(api: &Api, command: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let start = std::time::Instant::now();
    loop {
        let request = if command == "snapshot" { json!({}) } else { json!({"server": "far"}) };
        let known = call(api, command, request).await;
        if fits(&known) {
            return known;
        }
        assert!(start.elapsed() < testkit::app::PATIENCE, "in time: {known}");
        // sleep: looks again until it holds; no event tells of it.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits for a question of this kind, and answers it.
async fn answer(api: &Api, kind: &str, answer: Value) -> Value {
    let has = |snapshot: &Value| snapshot["questions"][0]["body"]["kind"] == kind;
    let question = until(api, "snapshot", has).await["questions"][0].clone();
    call(api, "answer_question", json!({"id": question["id"], "hash": question["hash"], "answer": answer})).await;
    question
}

fn once() -> Value {
    json!({"action": "allow", "scope": "once"})
}

async fn servers(script: ProtectedScript) -> (AuthorizationServer, ProtectedServer, App, Api) {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let server = ProtectedServer::start(script, &[&issuer]).await;
    let app = App::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let config = json!({"type": "http", "url": server.url()});
    call(&api, "add_server", json!({"name": "far", "config": config})).await;
    (issuer, server, app, api)
}

#[tokio::test]
async fn a_sign_in_is_asked_about_told_step_by_step_and_ended() {
    let script = ProtectedScript { challenge_scope: Some("openid ships:read".into()), ..ProtectedScript::default() };
    let (issuer, server, app, api) = servers(script).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let mut events = api.events();
    call(&api, "start_server", json!({"server": "far"})).await;
    answer(&api, "connect_server", once()).await;
    let asked = answer(&api, "sign_in", once()).await;
    let body = &asked["body"];
    assert_eq!(body["issuer"], issuer.issuer().as_str(), "who would issue the token: {body}");
    assert_eq!(body["resource"], server.url().as_str(), "for what");
    assert_eq!(body["scopes"], json!(["openid", "ships:read"]), "what it would allow");
    assert_eq!(body["reason"], json!({"is": "sign_in"}), "why");
    assert!(body["redirectUri"].as_str().unwrap().starts_with("http://127.0.0.1:"), "back to this computer: {body}");
    assert_eq!(body["authorizationUrl"]["domain"], "127.0.0.1", "the page's host is marked");
    assert_eq!(asked["scopes"], json!(["once"]), "it is never allowed for longer: {asked}");
    let snapshot = until(&api, "snapshot", |s| s["servers"][0]["state"]["is"] == "ready").await;
    let known = call(&api, "authorization", json!({"server": "far"})).await;
    let account = &known["account"];
    assert_eq!(account["issuer"], issuer.issuer().as_str(), "who is signed in where: {known}");
    assert_eq!(account["client"], "registered", "and known how");
    assert_eq!(account["canRefresh"], true, "and for how long");
    assert_eq!(known["kept"]["where"], "this_run", "a keychain in memory keeps nothing for longer");
    let steps = known["steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["answer"].as_str().is_some_and(|a| a.contains("[redacted]"))), "{steps:?}");
    assert!(steps.iter().all(|step| step["failed"] == false), "none failed");

    let secrets = issuer.secrets();
    let done = call(&api, "sign_out", json!({"server": "far"})).await;
    assert_eq!(done, json!({"revoked": "yes"}), "the tokens are void there as well");
    assert_eq!(issuer.good_tokens(), (0, 0), "indeed");
    let again = call(&api, "sign_out", json!({"server": "far"})).await;
    assert_eq!(again, json!({"revoked": "nobody_signed_in"}), "nobody is signed in any more");

    // Events come in order, so this one comes behind all that could tell a secret.
    call(&api, "add_server", json!({"name": "fence", "config": {"type": "stdio", "command": "true"}})).await;
    let mut told = format!("{known}{snapshot}");
    let mut is_told = false;
    while !told.contains("fence") {
        let batch = events.next().await.expect("the stream goes on");
        is_told |= batch.events.iter().any(|e| matches!(e, Event::AuthorizationChanged { server } if server == "far"));
        told.push_str(&serde_json::to_string(&batch).unwrap());
    }
    assert!(is_told, "the page is told that there is something new");
    assert!(secrets.iter().all(|secret| !told.contains(secret)), "no token, code or secret is told");
    app.host.close().await;
}

#[tokio::test]
async fn one_under_way_shows_its_way_takes_the_pasted_address_or_is_cancelled() {
    let (_issuer, _server, app, api) = servers(ProtectedScript::default()).await;
    let far = || json!({"server": "far"});
    let early = dispatch(&api, "paste_redirect", json!({"server": "far", "url": "http://127.0.0.1:1/"})).await;
    assert_eq!(early.unwrap_err().code, ErrorCode::NotReady, "nothing waits for it yet");
    call(&api, "sign_in", far()).await;
    answer(&api, "connect_server", once()).await;
    answer(&api, "sign_in", once()).await;
    let waits = |known: &Value| known["inProgress"]["phase"] == "awaiting_browser";
    let now = until(&api, "authorization", waits).await["inProgress"].clone();
    assert!(now["endsAt"].as_u64() > now["since"].as_u64(), "for how long it waits: {now}");
    call(&api, "cancel_sign_in", far()).await;
    let known = until(&api, "authorization", |known| known["inProgress"].is_null()).await;
    assert!(known["failed"].as_str().is_some_and(|words| words.contains("cancelled")), "its end is told: {known}");
    let state = |is: &'static str| move |s: &Value| s["servers"][0]["state"]["is"] == is;
    let snapshot = until(&api, "snapshot", state("needs_sign_in")).await;
    assert_eq!(snapshot["servers"][0]["state"]["signingIn"], false, "and what is needed: {snapshot}");

    call(&api, "sign_in", far()).await;
    answer(&api, "sign_in", once()).await;
    let now = until(&api, "authorization", waits).await["inProgress"].clone();
    let wrong = json!({"server": "far", "url": "http://127.0.0.1:1/callback?code=a&state=b"});
    let wrong = dispatch(&api, "paste_redirect", wrong).await.unwrap_err();
    assert_eq!(wrong.code, ErrorCode::Invalid, "another address is refused: {wrong}");
    let page = browser::get(now["authorizationUrl"].as_str().unwrap()).await.unwrap();
    call(&api, "paste_redirect", json!({"server": "far", "url": page.location().unwrap()})).await;
    until(&api, "snapshot", state("ready")).await;
    app.host.close().await;
}

#[tokio::test]
async fn a_client_id_is_asked_for_where_there_is_no_other_way() {
    let script = AuthorizationScript {
        registration: false,
        clients: [("drawbridge".to_owned(), None)].into(),
        ..AuthorizationScript::default()
    };
    let issuer = AuthorizationServer::start(script).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let app = App::start(vec![("far", testkit::app::remote(&server.url()))]).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    let api = Api::new(app.host.clone());
    call(&api, "sign_in", json!({"server": "far"})).await;
    answer(&api, "connect_server", once()).await;
    let client = json!({"clientId": "drawbridge", "clientSecret": ""});
    let asked = answer(&api, "client_id", json!({"action": "identify", "client": client})).await;
    assert_eq!(asked["body"]["issuer"], issuer.issuer().as_str(), "whom it is for: {asked}");
    let shown = asked["body"]["redirectUri"].clone();
    let asked = answer(&api, "sign_in", once()).await;
    assert_eq!(asked["body"]["clientId"], "drawbridge", "it is what the page is told");
    assert_eq!(
        asked["body"]["redirectUri"], shown,
        "[auth-manual-client-id] what to register was told with the question"
    );
    let known = until(&api, "authorization", |known| !known["account"].is_null()).await;
    assert_eq!(known["account"]["client"], "entered", "and how it came to be is kept: {known}");
    app.host.close().await;
}

#[tokio::test]
async fn what_the_user_knows_about_signing_in_is_set_up_and_its_secret_never_comes_out() {
    let app = App::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let config = |url: &str, auth: Value| json!({"type": "http", "url": url, "auth": auth});
    let auth = json!({
        "clientId": " drawbridge ", "clientSecret": "t0psecret", "hasSecret": true,
        "issuer": "https://login.example/7", "scopes": ["ships:read"], "redirectPort": 4321,
    });
    let url = "https://a.example/mcp";
    call(&api, "add_server", json!({"name": "far", "config": config(url, auth)})).await;
    let file = || std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    assert!(file().contains("${secret:far.client_secret}") && !file().contains("t0psecret"), "{}", file());
    let snapshot = call(&api, "snapshot", json!({})).await;
    let shown = snapshot["servers"][0]["config"]["auth"].clone();
    let wanted = json!({
        "clientId": "drawbridge", "clientSecret": null, "hasSecret": true,
        "issuer": "https://login.example/7", "scopes": ["ships:read"], "redirectPort": 4321, "secretNames": [], "rest": null,
    });
    assert_eq!(shown, wanted, "all but the secret is shown");
    let secret =
        |origin: &str| app.host.ports().secrets.get(&ports::secrets::key("far.client_secret", origin)).unwrap();
    assert_eq!(secret("https://a.example").as_deref(), Some("t0psecret"), "it lies in the keychain");

    let update = |config: Value| json!({"server": "far", "name": "far", "config": config});
    call(&api, "update_server", update(config("https://a.example/other", shown.clone()))).await;
    assert!(file().contains("${secret:far.client_secret}"), "another path keeps it: {}", file());
    let moved = dispatch(&api, "update_server", update(config("https://b.example/mcp", shown.clone()))).await;
    assert_eq!(moved.unwrap_err().code, ErrorCode::Invalid, "another host does not get it");
    call(&api, "update_server", update(json!({"type": "http", "url": url}))).await;
    assert!(file().contains("clientId"), "who says nothing of it changes nothing: {}", file());
    for bad in [json!({"issuer": "login.example"}), json!({"redirectPort": 0})] {
        let refused = dispatch(&api, "update_server", update(config(url, bad))).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Invalid, "what can't be used is said: {refused}");
    }
    call(&api, "update_server", update(config(url, json!({})))).await;
    assert!(!file().contains("auth"), "all of it is taken back: {}", file());
    assert_eq!(secret("https://a.example"), None, "the secret with it");
    app.host.close().await;
}

#[tokio::test]
async fn pasted_settings_are_added_with_all_that_they_say_of_signing_in() {
    let app = App::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let auth = json!({
        "clientId": "drawbridge", "clientSecret": "t0psecret", "issuer": "https://login.example/7",
        "scopes": ["ships:read"], "grant": "enterprise_managed", "redirectPort": 4321, "dpop": true,
        "privateKey": "${secret:key}", "algorithm": "ES256",
        "identityProvider": {"issuer": "https://idp.example", "clientId": "at-idp", "idToken": "${secret:id-token}"},
    });
    let pasted = json!({"mcpServers": {"far": {"url": "https://a.example/mcp", "auth": auth}}}).to_string();
    let found = call(&api, "check_import", json!({ "text": pasted })).await["servers"][0].clone();
    assert_eq!((&found["usable"], &found["notes"]), (&json!(true), &json!([])), "all of it is understood: {found}");
    let request = json!({"name": "far", "config": found["config"]});
    call(&api, "add_server", request.clone()).await;
    let file =
        || -> Value { serde_json::from_slice(&std::fs::read(app.folder.path().join("mcp.json")).unwrap()).unwrap() };
    let mut wanted = auth.clone();
    wanted["clientSecret"] = json!("${secret:far.client_secret}");
    assert_eq!(file()["mcpServers"]["far"]["auth"], wanted, "nothing is lost, and the secret is elsewhere");
    let key = ports::secrets::key("far.client_secret", "https://a.example");
    assert_eq!(app.host.ports().secrets.get(&key).unwrap().as_deref(), Some("t0psecret"), "it lies in the keychain");
    let snapshot = call(&api, "snapshot", json!({})).await;
    let shown = &snapshot["servers"][0]["config"];
    assert_eq!(shown["auth"]["rest"], json!(null), "what is set up is not told: {shown}");
    call(&api, "update_server", json!({"server": "far", "name": "far", "config": shown})).await;
    assert_eq!(file()["mcpServers"]["far"]["auth"], wanted, "and stays when the page saves the server");

    assert_eq!(shown["auth"]["secretNames"], json!(["key", "id-token"]), "but which secrets it needs: {shown}");
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n";
    let enter = |name: &str, value: &str| json!({"server": "far", "header": name, "value": value});
    call(&api, "set_secret", enter("key", PEM)).await;
    let secrets = &app.host.ports().secrets;
    let key = ports::secrets::key("key", "https://a.example");
    assert_eq!(secrets.get(&key).unwrap().as_deref(), Some(PEM), "each can be entered, with all of its lines");
    for (name, value) in [("key", " "), ("other", "x")] {
        assert!(dispatch(&api, "set_secret", enter(name, value)).await.is_err(), "{name:?} can't be {value:?}");
    }

    // One that names its secret already.
    let again = json!({"mcpServers": {"two": {"url": "https://a.example/two", "auth": wanted}}}).to_string();
    let found = call(&api, "check_import", json!({ "text": again })).await["servers"][0].clone();
    call(&api, "add_server", json!({"name": "two", "config": found["config"]})).await;
    assert_eq!(file()["mcpServers"]["two"]["auth"], wanted, "the name is kept");
    let mut bad = request;
    bad["name"] = json!("three");
    bad["config"]["auth"]["rest"]["grant"] = json!("password");
    let bad = dispatch(&api, "add_server", bad).await.unwrap_err();
    assert_eq!(bad.code, ErrorCode::Invalid, "a grant that there is not: {bad}");
    app.host.close().await;
}

#[tokio::test]
async fn that_the_user_declined_is_told_and_is_no_failure() {
    let (_issuer, _server, app, api) = servers(ProtectedScript::default()).await;
    call(&api, "start_server", json!({"server": "far"})).await;
    answer(&api, "connect_server", once()).await;
    answer(&api, "sign_in", json!({"action": "deny"})).await;
    let known = until(&api, "authorization", |known| !known["failed"].is_null()).await;
    assert_eq!(known["failed"], "You declined the sign-in.", "in plain words");
    assert_eq!(known["failure"], "declined", "whose doing it was");
    let last = known["steps"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["conclusion"], &last["failed"]), (&json!("you declined the sign-in"), &json!(false)), "{last}");
    let snapshot = call(&api, "snapshot", json!({})).await;
    let state = &snapshot["servers"][0]["state"];
    assert_eq!(state["cause"], "You declined the sign-in.", "the server waits, and says why: {state}");
    app.host.close().await;
}

#[tokio::test]
async fn where_there_is_no_signing_in_that_is_said() {
    let app = App::start(vec![("here", testkit::app::demo(&[]))]).await;
    let api = Api::new(app.host.clone());
    let here = || json!({"server": "here"});
    let known = call(&api, "authorization", here()).await;
    assert!(known["notOffered"].is_string(), "why not: {known}");
    let refused = dispatch(&api, "sign_in", here()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Unsupported, "it can't be begun: {refused}");
    let unknown = dispatch(&api, "sign_in", json!({"server": "none"})).await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::NotFound, "there is none of that name: {unknown}");
    let headers = json!([{"name": "authorization", "value": "Bearer k", "secret": true}]);
    let config = json!({"type": "http", "url": "https://a.example/mcp", "headers": headers});
    call(&api, "add_server", json!({"name": "far", "config": config})).await;
    let known = call(&api, "authorization", json!({"server": "far"})).await;
    assert!(known["notOffered"].as_str().is_some_and(|why| why.contains("header")), "the user's own key wins: {known}");
    app.host.close().await;
}
