//! Tests of commands for remote servers, whose header values are never returned.

use api::{Api, ErrorCode, dispatch};
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::http::{HttpServer, ordinary};

use crate::run_command;

async fn ready_server_view(app: &TestApp, api: &Api) -> Value {
    app.ready("far").await;
    run_command(api, "read_snapshot", json!({})).await["servers"][0].clone()
}

fn header_json(name: &str, value: &str, secret: bool) -> Value {
    json!({"name": name, "value": value, "secret": secret})
}

#[tokio::test]
async fn secret_header_values_are_never_returned() {
    let server =
        HttpServer::start(|request, answer| async move { ordinary::respond("2025-11-25", &request, answer).await })
            .await;
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let mut events = api.events();
    let headers =
        json!([header_json("Authorization", "Bearer t0psecret", true), header_json("X-Team", "blu3team", false)]);
    let config = json!({"type": "http", "url": server.url("/mcp"), "headers": headers});
    let response = run_command(&api, "add_server", json!({"name": "far", "config": config})).await;
    assert!(response["onlyThisRun"].is_string(), "the missing keychain should be reported: {response}");
    let file = std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    assert!(
        file.contains("${secret:far.Authorization}") && !file.contains("t0psecret"),
        "the file should contain no secret: {file}"
    );
    assert!(file.contains("blu3team"), "plain values should be in the file: {file}");
    let shown = ready_server_view(&app, &api).await;
    for request in server.received_requests() {
        assert_eq!(request.header("authorization"), Some("Bearer t0psecret"), "the secret should be sent");
        assert_eq!(request.header("x-team"), Some("blu3team"), "the other header should be sent");
    }
    let expected = json!([
        {"name": "Authorization", "value": null, "secret": true},
        {"name": "X-Team", "value": null, "secret": false},
    ]);
    assert_eq!(shown["config"]["headers"], expected, "headers should be returned without values");
    assert_eq!(shown["transport"], "streamable-http", "the transport should be reported");
    assert!(
        shown["detection"].as_str().unwrap().contains("initialize"),
        "the detection method should be reported: {}",
        shown["detection"]
    );
    assert_eq!(shown["url"]["domain"], "127.0.0.1", "the URL should be parsed");
    // Events are ordered, so all events that could contain a secret precede the event of this command.
    run_command(&api, "add_server", json!({"name": "fence", "config": {"type": "stdio", "command": "true"}})).await;
    let mut events_text = String::new();
    while !events_text.contains("fence") {
        let batch = events.next().await.expect("the stream should not end");
        events_text.push_str(&serde_json::to_string(&batch).unwrap());
    }
    assert!(events_text.contains("connect_server"), "the consent request should be reported");
    for value in ["t0psecret", "blu3team"] {
        assert!(!events_text.contains(value), "no event should contain a header value");
        assert!(!shown.to_string().contains(value), "the snapshot should contain no header value");
    }
    app.host.close().await;
}

#[tokio::test]
async fn update_keeps_header_values_for_the_same_address_only() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let http = |url: &str, headers: Value| json!({"type": "http", "url": url, "headers": headers});
    let add =
        json!({"name": "far", "config": http("https://a.example/mcp", json!([header_json("X-Key", "one", true)]))});
    run_command(&api, "add_server", add).await;
    let header_list = json!([{"name": "X-Key", "value": null}]);
    let update =
        |url: &str, headers: &Value| json!({"server": "far", "name": "far", "config": http(url, headers.clone())});
    run_command(&api, "update_server", update("https://a.example/other", &header_list)).await;
    let file = std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    assert!(
        file.contains("${secret:far.X-Key}") && file.contains("/other"),
        "another path should keep the value: {file}"
    );
    let moved = dispatch(&api, "update_server", update("https://b.example/mcp", &header_list)).await.unwrap_err();
    assert_eq!(moved.code, ErrorCode::Invalid, "another host should not receive the value: {moved}");
    let unknown = json!([{"name": "X-Other", "value": null}]);
    let none = dispatch(&api, "update_server", update("https://a.example/mcp", &unknown)).await.unwrap_err();
    assert_eq!(none.code, ErrorCode::Invalid, "an unknown header has no value to keep: {none}");
    run_command(&api, "set_secret", json!({"server": "far", "header": "X-Key", "value": "two"})).await;
    let missing = json!({"server": "far", "header": "X-None", "value": "two"});
    let missing = dispatch(&api, "set_secret", missing).await.unwrap_err();
    assert_eq!(missing.code, ErrorCode::NotFound, "an unknown header has no secret: {missing}");
    let key = ports::secrets::secret_storage_key("far.X-Key", "https://a.example");
    let secret = || app.host.ports().secrets.get(&key).unwrap();
    assert_eq!(secret().as_deref(), Some("two"), "the secret should be replaced");
    run_command(&api, "remove_server", json!({"server": "far"})).await;
    assert_eq!(secret(), None, "the secrets of a removed server should be deleted");
    app.host.close().await;
}

#[tokio::test]
async fn concurrently_added_servers_have_separate_secrets() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let added = |name: &str, value: &str| {
        let headers = json!([header_json("X-Key", value, true)]);
        let config = json!({"type": "http", "url": "https://a.example/mcp", "headers": headers});
        json!({"name": name, "config": config})
    };
    // Names of secrets are ASCII, and both server names are converted to the same ASCII text.
    tokio::join!(
        run_command(&api, "add_server", added("ü", "one")),
        run_command(&api, "add_server", added("ä", "two"))
    );
    let secret = |name: &str| {
        app.host.ports().secrets.get(&ports::secrets::secret_storage_key(name, "https://a.example")).unwrap()
    };
    let mut secrets = [secret("_.X-Key"), secret("_.X-Key-2")];
    secrets.sort();
    assert_eq!(
        secrets,
        ["one", "two"].map(|secret| Some(secret.to_owned())),
        "the secrets should not overwrite each other"
    );
    app.host.close().await;
}

#[tokio::test]
async fn new_secret_never_overwrites_the_secret_of_another_server() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let keyed = |value: &str| {
        let headers = json!([header_json("X-Key", value, true)]);
        json!({"type": "http", "url": "https://a.example/mcp", "headers": headers})
    };
    let keep = json!({"type": "http", "url": "https://a.example/mcp", "headers": [{"name": "X-Key", "value": null}]});
    let secret = |name: &str| {
        app.host.ports().secrets.get(&ports::secrets::secret_storage_key(name, "https://a.example")).unwrap()
    };
    run_command(&api, "add_server", json!({"name": "ü", "config": keyed("one")})).await;
    run_command(&api, "add_server", json!({"name": "ä", "config": keyed("two")})).await;
    assert_eq!(
        secret("_.X-Key").as_deref(),
        Some("one"),
        "server names that are equal in ASCII should have separate secrets"
    );
    assert_eq!(secret("_.X-Key-2").as_deref(), Some("two"), "the second server should have its own secret");
    run_command(&api, "update_server", json!({"server": "ä", "name": "ä", "config": keyed("three")})).await;
    assert_eq!(secret("_.X-Key-2").as_deref(), Some("three"), "a replaced secret should keep its name");
    assert_eq!(secret("_.X-Key-3"), None, "no second secret should be created");

    run_command(&api, "add_server", json!({"name": "work", "config": keyed("four")})).await;
    run_command(&api, "update_server", json!({"server": "work", "name": "old", "config": keep})).await;
    run_command(&api, "add_server", json!({"name": "work", "config": keyed("five")})).await;
    assert_eq!(secret("work.X-Key").as_deref(), Some("four"), "a renamed server should keep its secret");
    assert_eq!(
        secret("work.X-Key-2").as_deref(),
        Some("five"),
        "the new server of this name should have another secret"
    );

    let two = json!([header_json("A!", "six", true), header_json("A_", "seven", true)]);
    let two = json!({"type": "http", "url": "https://a.example/mcp", "headers": two});
    run_command(&api, "add_server", json!({"name": "both", "config": two})).await;
    let secrets = ["both.A_", "both.A_-2"].map(|name| secret(name).unwrap_or_default());
    assert_eq!(secrets, ["six", "seven"], "two headers of one server should have separate secrets");
    app.host.close().await;
}

#[tokio::test]
async fn replacing_a_shared_secret_affects_one_server_only() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let named = |name: &str, url: &str| {
        let headers = json!([header_json("Authorization", "Bearer ${secret:team}", false)]);
        json!({"name": name, "config": {"type": "http", "url": url, "headers": headers}})
    };
    run_command(&api, "add_server", named("one", "https://a.example/one")).await;
    run_command(&api, "add_server", named("elsewhere", "https://b.example/mcp")).await;
    let enter = |value: &str| json!({"server": "one", "header": "Authorization", "value": value});
    let secret = |name: &str| {
        app.host.ports().secrets.get(&ports::secrets::secret_storage_key(name, "https://a.example")).unwrap()
    };
    let file = || std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    run_command(&api, "set_secret", enter("first")).await;
    assert_eq!(
        secret("team").as_deref(),
        Some("first"),
        "a secret of the same name for another URL should be separate"
    );

    run_command(&api, "add_server", named("two", "https://a.example/two")).await;
    run_command(&api, "set_secret", enter("second")).await;
    assert_eq!(secret("team").as_deref(), Some("first"), "the other server should keep the shared secret");
    assert_eq!(secret("one.Authorization").as_deref(), Some("second"), "this server should have its own secret");
    let text = file();
    assert!(text.contains("Bearer ${secret:one.Authorization}"), "the header should refer to the new secret: {text}");
    assert_eq!(text.matches("Bearer ${secret:team}").count(), 2, "the other references should be unchanged: {text}");
    app.host.close().await;
}

#[tokio::test]
async fn unreadable_entry_of_a_listed_catalog_is_reported() {
    let server = HttpServer::start(|request, mut answer| async move {
        if request.rpc_method() != "tools/list" {
            return ordinary::respond("2025-11-25", &request, answer).await;
        }
        let mut message = ordinary::response_message("2025-11-25", &request.json());
        let schema = json!({"type": "object", "maximum": "TOO LARGE"});
        let odd = json!({"name": "odd", "inputSchema": schema});
        message["result"]["tools"].as_array_mut().expect("a list").push(odd);
        let text = message.to_string().replace("\"TOO LARGE\"", "1e999");
        answer.respond(200, "content-type: application/json\r\n", text.as_bytes()).await
    })
    .await;
    let app = TestApp::start(vec![("far", testkit::app::remote_config(&server.url("/mcp")))]).await;
    let api = Api::new(app.host.clone());
    app.ready("far").await;
    let catalog = run_command(&api, "read_catalog", json!({"server": "far"})).await;
    let names: Vec<_> = catalog["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["echo"], "readable entries should be listed");
    let notes = catalog["notes"].to_string();
    assert!(
        notes.contains("odd") && notes.contains("out of range"),
        "unreadable entries should be reported with the cause: {notes}"
    );
    app.host.close().await;
}

#[tokio::test]
async fn invalid_server_url_is_rejected_before_anything_is_written() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let cases = [
        (json!({"type": "http", "url": "ftp://x.example"}), "https://"),
        (json!({"type": "http", "url": "https://ann:pw@x.example"}), "user name"),
        (json!({"type": "http", "url": "https://x.example", "headers": [header_json("Host", "y", false)]}), "Host"),
        (
            json!({"type": "http", "url": "https://x.example", "headers": [header_json("A", "b\r\nC: d", true)]}),
            "line break",
        ),
        (json!({"type": "http", "url": "https://x.example", "revision": "1999"}), "no known protocol revision"),
    ];
    for (config, words) in cases {
        let request = json!({"name": "far", "config": config});
        let error = dispatch(&api, "add_server", request.clone()).await.expect_err("the server should be rejected");
        assert_eq!(error.code, ErrorCode::Invalid, "{request}: {error}");
        assert!(error.message.contains(words), "the message for {request} should contain {words:?}: {error}");
    }
    assert!(!app.folder.path().join("mcp.json").exists(), "no file should be written");
    app.host.close().await;
}
