//! Tests of commands that install servers from a registry or a bundle.

use std::fs;
use std::sync::Arc;

use api::{Api, ErrorCode, dispatch};
use installer::{Installer, RegistryChoice, open_registry_catalog};
use serde_json::{Value, json};
use store::CacheFolder;
use testkit::app::TestApp;
use testkit::bundle_file::Bundle;
use testkit::registry::{TestRegistry, active_registry_metadata, notes_registry_entry};

use crate::run_command;

const SERVER_NAME: &str = "io.github.alice/notes";

fn api_with_registry(app: &TestApp, registry: &TestRegistry) -> Api {
    let (registry, cache_folder) = (RegistryChoice::Named(registry.server.url("")), app.folder.path().join("kept"));
    let installer = Installer::new(app.folder.path().join("data"), registry, move |address, header| {
        open_registry_catalog(address, header, Arc::new(CacheFolder::open(&cache_folder)?))
    });
    Api::new(app.host.clone()).with_installer(installer)
}

/// Starts a registry with two versions of one server.
async fn start_registry() -> TestRegistry {
    let mut old = notes_registry_entry(json!({ "status": "deprecated", "statusMessage": "Use 1.2" }));
    old["server"]["version"] = "1.1.0".into();
    TestRegistry::start(vec![notes_registry_entry(active_registry_metadata()), old]).await
}

async fn run_failing_command(api: &Api, command: &str, request: Value) -> (ErrorCode, String) {
    let error = dispatch(api, command, request).await.unwrap_err();
    (error.code, error.message)
}

#[tokio::test]
async fn registry_server_is_found_and_shown_with_its_versions() {
    let app = TestApp::start(Vec::new()).await;
    let registry = start_registry().await;
    let api = api_with_registry(&app, &registry);
    let page = run_command(&api, "search_registry", json!({ "text": "notes" })).await;
    let found = &page["servers"][0];
    assert_eq!((&found["name"], &found["status"]), (&json!(SERVER_NAME), &json!("active")), "{page}");
    assert_eq!(found["publishedAt"], 1_769_904_000_000_u64);
    let alice = json!({ "kind": "github_account", "name": "alice", "checked": false });
    assert_eq!(found["publisher"], alice, "owner of the name");
    assert!(!found["description"].as_str().unwrap().contains('\u{1b}'), "the description should be sanitized: {found}");
    assert_eq!(page["answer"]["fromCache"], false, "the response should not be cached: {page}");
    let again = run_command(&api, "search_registry", json!({ "text": "notes" })).await;
    assert_eq!(again["answer"]["fetchedAt"], page["answer"]["fetchedAt"], "the response should be cached");
    let shown = run_command(&api, "read_registry_server", json!({ "name": SERVER_NAME })).await;
    let kinds: Vec<&Value> = shown["choices"].as_array().unwrap().iter().map(|choice| &choice["kind"]).collect();
    assert_eq!(kinds, ["npm", "streamable-http"]);
    assert_eq!(shown["choices"][1]["target"], json!({ "kind": "remote", "number": 1 }));
    assert_eq!(shown["versions"][1]["statusMessage"], "Use 1.2", "{shown}");
    drop(registry);
    let offline = run_command(&api, "search_registry", json!({ "text": "notes", "refresh": true })).await;
    assert_eq!(offline["servers"], page["servers"], "the cached response should be used without the registry");
    assert!(offline["answer"]["offlineReason"].is_string() && offline["answer"]["fromCache"] == true, "{offline}");
}

#[tokio::test]
async fn package_is_offered_previewed_and_installed() {
    let app = TestApp::start(Vec::new()).await;
    let registry = start_registry().await;
    let api = api_with_registry(&app, &registry);
    let offer = run_command(&api, "plan_install", json!({ "from": "registry", "name": SERVER_NAME })).await;
    assert_eq!((&offer["plan"], &offer["problem"]), (&Value::Null, &Value::Null), "a target has to be chosen: {offer}");
    let source = json!({ "from": "registry", "name": SERVER_NAME, "target": offer["choices"][0]["target"] });
    let offer = run_command(&api, "plan_install", source).await;
    assert_eq!(offer["source"]["version"], "1.2.0", "the source should contain the exact version: {offer}");
    let plan = &offer["plan"];
    assert_eq!((&plan["name"], &plan["target"]["command"]), (&json!("notes"), &json!("npx")), "{plan}");
    assert_eq!(plan["target"]["env"], json!({ "NOTES_KEY": [{ "input": "NOTES_KEY" }] }));
    assert_eq!(plan["inputs"][0]["secret"], true);
    let mut draft = json!({ "source": offer["source"], "name": "notes", "sandbox": plan["sandbox"] });
    let preview = run_command(&api, "preview_install", draft.clone()).await;
    assert_eq!(preview["inputProblems"], json!({ "NOTES_KEY": "missing" }), "{preview}");
    assert_eq!(preview["hash"], Value::Null);
    draft["values"] = json!({ "NOTES_KEY": ["s3cret-value"] });
    let preview = run_command(&api, "preview_install", draft.clone()).await;
    assert_eq!(preview["server"]["args"], json!(["-y", "@alice/notes@1.2.0"]), "{preview}");
    assert_eq!(preview["server"]["env"], json!({ "NOTES_KEY": ["secret"] }), "the secret should be masked");
    assert!(!preview.to_string().contains("s3cret-value"));
    let other = json!({ "draft": draft, "hash": "0".repeat(64) });
    assert_eq!(run_failing_command(&api, "install_server", other).await.0, ErrorCode::Stale);
    let install = json!({ "draft": draft, "hash": preview["hash"] });
    let response = run_command(&api, "install_server", install).await;
    assert!(response["onlyThisRun"].is_string(), "the missing keychain should be reported: {response}");
    let servers = run_command(&api, "read_snapshot", json!({})).await["servers"].clone();
    assert_eq!((&servers[0]["name"], &servers[0]["state"]["is"]), (&json!("notes"), &json!("stopped")));
    let taken = run_command(&api, "preview_install", draft.clone()).await;
    assert!(taken["problem"].as_str().unwrap().contains("another server has it"), "{taken}");
    let offer = run_command(&api, "plan_install", draft["source"].clone()).await;
    assert_eq!(offer["plan"]["name"], "notes-2", "a free name should be suggested");
}

#[tokio::test]
async fn bundle_is_offered_and_installed() {
    let app = TestApp::start(Vec::new()).await;
    let registry = start_registry().await;
    let api = api_with_registry(&app, &registry);
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    let offer = run_command(&api, "plan_install", json!({ "from": "bundle", "path": path })).await;
    let origin = &offer["origin"];
    assert_eq!(
        (&origin["file"], &origin["files"], &origin["signature"]),
        (&json!("demo.mcpb"), &json!(2), &json!({ "state": "absent" }))
    );
    assert_eq!(offer["source"]["sha256"], origin["sha256"], "the source should be pinned to the hash");
    let draft = json!({ "source": offer["source"], "name": "demo", "sandbox": offer["plan"]["sandbox"] });
    let preview = run_command(&api, "preview_install", draft.clone()).await;
    assert!(!app.folder.path().join("data/bundles").exists(), "nothing should be unpacked yet");
    run_command(&api, "install_server", json!({ "draft": draft, "hash": preview["hash"] })).await;
    let command = preview["server"]["command"].as_str().unwrap();
    assert!(fs::metadata(command).unwrap().is_file(), "{command}");
    let (code, message) =
        run_failing_command(&api, "plan_install", json!({ "from": "bundle", "path": "demo.mcpb" })).await;
    assert_eq!(code, ErrorCode::BadRequest, "a relative path should be rejected: {message}");
}

#[tokio::test]
async fn failed_install_offers_report_the_cause() {
    let app = TestApp::start(Vec::new()).await;
    let registry = start_registry().await;
    let api = api_with_registry(&app, &registry);
    let source = json!({ "from": "registry", "name": "io.github.alice/other" });
    assert_eq!(run_failing_command(&api, "plan_install", source).await.0, ErrorCode::NotFound);
    registry.entries.lock().unwrap()[0] =
        notes_registry_entry(json!({ "status": "deleted", "statusMessage": "malware" }));
    let source = json!({ "from": "registry", "name": SERVER_NAME, "target": { "kind": "package", "number": 1 } });
    let offer = run_command(&api, "plan_install", source).await;
    assert!(offer["problem"].as_str().unwrap().contains("deleted"), "{offer}");
    assert_eq!(offer["origin"]["listing"]["statusMessage"], "malware");
    let without = Api::new(app.host.clone());
    assert_eq!(run_failing_command(&without, "search_registry", json!({})).await.0, ErrorCode::NotFound);
}

#[tokio::test]
async fn installed_server_reports_its_origin_and_updates() {
    let app = TestApp::start(Vec::new()).await;
    let registry = start_registry().await;
    let api = api_with_registry(&app, &registry);
    let target = json!({ "kind": "remote", "number": 1 });
    let source = json!({ "from": "registry", "name": SERVER_NAME, "version": "1.1.0", "target": target });
    let draft = json!({ "source": source, "name": "far", "values": { "X-Team": ["red"] } });
    let preview = run_command(&api, "preview_install", draft.clone()).await;
    assert_eq!(preview["server"]["headers"], json!({ "X-Team": [{ "text": "red" }] }), "{preview}");
    run_command(&api, "install_server", json!({ "draft": draft, "hash": preview["hash"] })).await;
    let server = run_command(&api, "read_snapshot", json!({})).await["servers"][0].clone();
    let origin = &server["installed"]["origin"];
    assert_eq!(
        (&origin["name"], &origin["version"], &origin["target"]),
        (&json!(SERVER_NAME), &json!("1.1.0"), &target)
    );
    assert_eq!(server["installed"]["changed"], false);
    let mut newest = notes_registry_entry(active_registry_metadata());
    newest["server"]["remotes"][0]["url"] = "https://notes.example/v2".into();
    registry.entries.lock().unwrap()[0] = newest;
    let reports = run_command(&api, "list_newer_versions", json!({ "refresh": true })).await;
    let report = &reports["servers"][0];
    assert_eq!((&report["status"], &report["statusMessage"]), (&json!("deprecated"), &json!("Use 1.2")), "{reports}");
    assert_eq!(report["newer"]["version"], "1.2.0");

    let upgrade = run_command(&api, "plan_upgrade", json!({ "server": "far" })).await;
    assert_eq!(upgrade["currentValues"], json!({ "X-Team": null }), "header values should not be returned: {upgrade}");
    assert_eq!(upgrade["running"], false);
    let draft = json!({ "source": upgrade["offer"]["source"], "name": "far", "upgrades": "far" });
    let preview = run_command(&api, "preview_install", draft.clone()).await;
    let (before, after) = (&preview["before"], &preview["server"]);
    assert_eq!(
        (&before["url"], &after["url"]),
        (&json!("https://notes.example/mcp"), &json!("https://notes.example/v2"))
    );
    assert_eq!(after["headers"], json!({ "X-Team": ["kept"] }), "{preview}");
    assert_eq!(before["headers"], after["headers"]);
    run_command(&api, "install_server", json!({ "draft": draft, "hash": preview["hash"] })).await;
    let servers = run_command(&api, "read_snapshot", json!({})).await["servers"].clone();
    assert_eq!(servers.as_array().map(Vec::len), Some(1));
    assert_eq!(servers[0]["config"]["url"], "https://notes.example/v2");
    assert_eq!(servers[0]["installed"]["origin"]["version"], "1.2.0");
}
