//! Tests of forged installation records: nothing outside of the folder of bundles is read or removed because of them,
//! nor another server's bundle.

use std::fs;
use std::path::Path;

use host::HostOptions;
use host::view::ServerState;
use installer::InstallSource;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::bundle_file::Bundle;
use testkit::registry::TestRegistry;

use crate::{bundle_folders, install_draft, preview_and_install, server_names, test_installer};

/// Restarts the app after replacing the installation record of the server "one" by a forged one.
async fn restart_with_forged_record(app: TestApp, one: Value) -> TestApp {
    restart_with_installation_records(app, |origins| {
        let mut origins: Value = serde_json::from_slice(&fs::read(origins).unwrap()).unwrap();
        origins["one"] = one;
        origins.to_string()
    })
    .await
}

/// Restarts the app after replacing the file with its installation records.
async fn restart_with_installation_records(app: TestApp, records: impl FnOnce(&Path) -> String) -> TestApp {
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let origins = folder.path().join("data/origins.json");
    fs::write(&origins, records(&origins)).unwrap();
    TestApp::start_in_folder(folder, Vec::new(), HostOptions::default()).await
}

fn forged_installation_record(folder: &str) -> Value {
    let files = json!({ "sha256": "0".repeat(64), "tree": "0".repeat(64), "folder": folder });
    let origin = json!({ "from": "bundle", "name": "demo", "version": "1", "files": files });
    json!({ "origin": origin, "config": "0".repeat(64) })
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        names.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            names.extend(files_below(&entry.path()));
        }
    }
    names.sort();
    names
}

#[tokio::test]
async fn forged_installation_record_removes_nothing() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    let other = install_draft(InstallSource::Bundle { path: path.into(), sha256: None }, "other", &[]);
    preview_and_install(&app, &test_installer(&app, &registry), &other).await.unwrap();
    let precious = app.folder.path().join("precious");
    fs::create_dir_all(precious.join("inside")).unwrap();
    fs::write(precious.join("inside/letter"), "dear Ann").unwrap();
    let own = bundle_folders(&app).remove(0);
    let precious_text = precious.display().to_string();
    let hostile =
        ["../../precious", "..", ".", "", "../../precious/inside", &precious_text, &own, "a/../../../precious"];
    let mut app = app;
    for folder in hostile {
        let config = testkit::app::local_config("/bin/true".into(), &[&precious_text]);
        let entry = ports::server_config::ServerEntry { name: "one".to_owned(), config };
        app.host.add_server(entry).await.unwrap();
        let before = (files_below(&precious), bundle_folders(&app));
        app = restart_with_forged_record(app, forged_installation_record(folder)).await;
        assert!(app.server("one").await.installed.is_some(), "the record itself must be accepted: {folder:?}");
        app.host.start_server("one".to_owned()).await.unwrap();
        let installer = test_installer(&app, &registry);
        installer.clean_up_after_killed_process(&app.host).await;
        installer.remove(&app.host, "one").await.unwrap();
        assert_eq!((files_below(&precious), bundle_folders(&app)), before, "{folder:?}");
    }
    assert_eq!(server_names(&app).await, ["other"]);
}

#[tokio::test]
async fn installation_record_with_an_outside_path_prevents_the_start() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    let one = install_draft(InstallSource::Bundle { path: path.into(), sha256: None }, "one", &[]);
    preview_and_install(&app, &test_installer(&app, &registry), &one).await.unwrap();
    let own = bundle_folders(&app).remove(0);
    let app = restart_with_forged_record(app, forged_installation_record(&own)).await;
    app.host.start_server("one".to_owned()).await.unwrap();
    app.until("one", "failed", |server| matches!(server.state, ServerState::Failed(_))).await;
}

#[tokio::test]
async fn malformed_or_huge_installation_records_are_ignored() {
    let huge = format!("{{\"one\":\"{}\"}}", "x".repeat(100 << 20));
    for content in [huge.as_str(), "[]", "{\"one\":null}", "{\"one\":{\"origin\":{\"from\":\"moon\"}}}", "\u{0}"] {
        let app = TestApp::start(vec![("one", testkit::app::demo_config(&[]))]).await;
        let app = restart_with_installation_records(app, |_| content.to_owned()).await;
        assert_eq!(app.server("one").await.installed, None, "{}", content.chars().take(40).collect::<String>());
        app.host.close().await;
    }
}
