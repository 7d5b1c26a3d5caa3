//! Tests of upgrades of an installed server: which settings it keeps, what the preview shows, and that nothing is
//! changed without the user's approval.

use std::sync::Arc;

use host::view::ServerState;
use host::{HostOptions, ReplacedServer, ServerError, SetupError};
use installer::{InstallDraft, InstallError, InstallSource, InstallTarget, Installer};
use ports::Secrets as _;
use ports::secrets::SecretsInMemory;
use ports::server_config::{FilledInputs, NetworkAccess, SandboxConfig, ServerConfig, ServerEntry};
use registry::CachePolicy;
use serde_json::{Value, json};
use testkit::app::TestApp;
use testkit::bundle_file::Bundle;
use testkit::registry::{TestRegistry, active_registry_metadata, notes_registry_entry};

use crate::downloads::add_bundle_to_registry;
use crate::{bundle_folders, install_draft, preview_and_install, server_names, test_installer};

const SERVER_NAME: &str = "io.github.alice/notes";

fn package_source() -> InstallSource {
    let target = Some(InstallTarget::Package { number: 1 });
    InstallSource::Registry { name: SERVER_NAME.to_owned(), version: None, target }
}

/// Returns the registry entry of this version of the notes server, which has an argument that the user fills in.
fn notes_entry_of_version(version: &str) -> Value {
    let mut entry = notes_registry_entry(active_registry_metadata());
    entry["server"]["version"] = version.into();
    let package = &mut entry["server"]["packages"][0];
    package["version"] = version.into();
    package["packageArguments"] = json!([{ "type": "positional", "valueHint": "folder", "isRequired": true }]);
    entry
}

/// Returns a draft that upgrades a server to the offered version.
async fn upgrade_draft(app: &TestApp, installer: &Installer, server: &str) -> InstallDraft {
    let offered = installer.offer_upgrade(&app.host, server, None).await.unwrap();
    InstallDraft { upgrades: Some(server.to_owned()), ..install_draft(offered.offer.source, server, &[]) }
}

fn command_args(config: &ServerConfig) -> &[String] {
    &config.as_stdio().unwrap().args
}

#[tokio::test]
async fn upgrade_keeps_user_values_and_name() {
    let secrets = Arc::new(SecretsInMemory::default());
    let folder = tempfile::tempdir().unwrap();
    let app = TestApp::start_with_secrets(folder, Vec::new(), HostOptions::default(), secrets.clone()).await;
    let registry = TestRegistry::start(vec![notes_entry_of_version("1.2.0")]).await;
    let installer = test_installer(&app, &registry);
    let first = install_draft(package_source(), "notes", &[("NOTES_KEY", "s3cret-value"), ("folder", "/srv")]);
    preview_and_install(&app, &installer, &first).await.unwrap();
    let mut config = app.server("notes").await.config;
    let stdio = config.as_stdio_mut().unwrap();
    stdio.sandbox = Some(SandboxConfig { network: NetworkAccess::Full, ..SandboxConfig::default() });
    stdio.env.insert("MINE".to_owned(), "1".to_owned());
    let entry = ServerEntry { name: "mine".to_owned(), config };
    app.host.update_server("notes".to_owned(), entry).await.unwrap();
    registry.entries.lock().unwrap().insert(0, notes_entry_of_version("1.3.0"));

    let offered = installer.offer_upgrade(&app.host, "mine", None).await.unwrap();
    let folder = Some(vec!["/srv".to_owned()]);
    assert_eq!(offered.current_values, [("NOTES_KEY".to_owned(), None), ("folder".to_owned(), folder)].into());
    assert!(!offered.is_running);
    let upgrade = upgrade_draft(&app, &installer, "mine").await;
    let preview = installer.preview(&app.host, &upgrade, CachePolicy::Usual).await.unwrap();
    let (before, after) = (preview.before.unwrap().entry.config, &preview.server.entry.config);
    assert_eq!(command_args(&before), ["-y", "@alice/notes@1.2.0", "/srv"]);
    assert_eq!(command_args(after), ["-y", "@alice/notes@1.3.0", "/srv"], "only the version must change");
    assert!(
        command_args(&app.server("mine").await.config)[1].ends_with("1.2.0"),
        "a preview must not change the server"
    );

    installer.upgrade(&app.host, &upgrade, preview.hash.as_str(), false).await.unwrap();
    assert_eq!(server_names(&app).await, ["mine"], "the server must retain its name");
    let server = app.server("mine").await;
    assert_eq!(command_args(&server.config)[1], "@alice/notes@1.3.0");
    let stdio = server.config.as_stdio().unwrap();
    assert_eq!(stdio.sandbox.as_ref().unwrap().network, NetworkAccess::Full, "the server must retain its sandbox");
    assert_eq!(stdio.env["MINE"], "1", "the server must retain the variable of the user");
    let name = ports::secrets::referenced_secret_names(&stdio.env["NOTES_KEY"])[0];
    let key = ports::secrets::secret_storage_key(name, &ports::secrets::command_secret_binding(stdio));
    assert_eq!(secrets.get(&key).unwrap().as_deref(), Some("s3cret-value"), "the secret must be retained");
    let keys = secrets.keys("notes.").unwrap().len() + secrets.keys("mine.").unwrap().len();
    assert_eq!(keys, 1, "the secret must not be stored twice");
    let installed = server.installed.unwrap();
    assert_eq!((installed.origin.version(), installed.changed), ("1.3.0", false));
    let again = installer.offer_upgrade(&app.host, "mine", None).await.unwrap_err();
    assert!(matches!(again, InstallError::SameVersion { .. }), "{again}");
}

#[tokio::test]
async fn upgrade_changed_since_it_was_shown_is_rejected() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_entry_of_version("1.2.0")]).await;
    let installer = test_installer(&app, &registry);
    let first = install_draft(package_source(), "notes", &[("NOTES_KEY", "one"), ("folder", "/srv")]);
    preview_and_install(&app, &installer, &first).await.unwrap();
    registry.entries.lock().unwrap().insert(0, notes_entry_of_version("1.3.0"));
    let upgrade = upgrade_draft(&app, &installer, "notes").await;
    let shown = installer.preview(&app.host, &upgrade, CachePolicy::Usual).await.unwrap().hash;
    let as_new = installer.install(&app.host, &upgrade, shown.as_str()).await.unwrap_err();
    assert!(matches!(as_new, InstallError::Setup(_) | InstallError::Stale | InstallError::Fill(_)), "{as_new}");
    let mut config = app.server("notes").await.config;
    config.as_stdio_mut().unwrap().env.insert("MINE".to_owned(), "1".to_owned());
    let entry = ServerEntry { name: "notes".to_owned(), config };
    app.host.update_server("notes".to_owned(), entry).await.unwrap();
    let stale = installer.upgrade(&app.host, &upgrade, shown.as_str(), false).await.unwrap_err();
    assert!(matches!(stale, InstallError::Stale), "a change by the user must be detected: {stale}");
    let shown = installer.preview(&app.host, &upgrade, CachePolicy::Usual).await.unwrap().hash;
    registry.entries.lock().unwrap()[0]["server"]["packages"][0]["identifier"] = "@alice/other".into();
    let stale = installer.upgrade(&app.host, &upgrade, shown.as_str(), false).await.unwrap_err();
    assert!(matches!(stale, InstallError::Stale), "a change in the registry must be detected: {stale}");
    assert!(command_args(&app.server("notes").await.config)[1].ends_with("1.2.0"));
}

#[tokio::test]
async fn concurrent_change_of_the_settings_is_not_overwritten() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_entry_of_version("1.2.0")]).await;
    let installer = test_installer(&app, &registry);
    let first = install_draft(package_source(), "notes", &[("NOTES_KEY", "one"), ("folder", "/srv")]);
    preview_and_install(&app, &installer, &first).await.unwrap();
    let server = app.server("notes").await;
    let (was, installed) = (server.config, server.installed.unwrap());
    let mut newer = was.clone();
    newer.as_stdio_mut().unwrap().args[1] = "@alice/notes@1.3.0".to_owned();
    let newer = ServerEntry { name: "notes".to_owned(), config: newer };

    // The setup has already read the settings here, so it does not notice what the other process writes afterwards.
    let setup = app.host.begin_reloaded_setup().await.unwrap();
    let settings = app.folder.path().join("mcp.json");
    let others = std::fs::read_to_string(&settings).unwrap().replace("/srv", "/elsewhere");
    std::fs::write(&settings, &others).unwrap();
    let was = ReplacedServer { config: was, origin: installed.origin.clone() };
    let upgrade = setup.upgrade(newer.clone().into(), &was, installed.origin.clone(), FilledInputs::default());
    let refused = upgrade.await.unwrap_err();
    assert!(matches!(refused, SetupError::Server(ServerError::Changed(_))), "{refused}");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), others, "the settings of the other process must remain");
    drop(setup);

    let setup = app.host.begin_reloaded_setup().await.unwrap();
    let origins = app.folder.path().join("data/origins.json");
    let upgraded_there = std::fs::read_to_string(&origins).unwrap().replace("1.2.0", "1.2.1");
    std::fs::write(&origins, &upgraded_there).unwrap();
    let was = ReplacedServer { config: setup.config("notes").unwrap().clone(), ..was };
    let upgrade = setup.upgrade(newer.into(), &was, installed.origin, FilledInputs::default());
    let refused = upgrade.await.unwrap_err();
    assert!(
        matches!(refused, SetupError::Server(ServerError::Changed(_))),
        "the changed settings must be refused: {refused}"
    );
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), others, "the settings must not change");
    drop(setup);

    let added = ServerEntry { name: "notes-2".to_owned(), config: testkit::app::demo_config(&[]) };
    let with_another = others.replacen("\"notes\"", "\"notes-2\": { \"command\": \"x\" }, \"notes\"", 1);
    let reading = app.host.begin_reloaded_setup().await.unwrap();
    std::fs::write(&settings, &with_another).unwrap();
    let refused = reading.add(added, Vec::new()).await.unwrap_err();
    assert!(matches!(refused, SetupError::Server(ServerError::BadName { .. })), "{refused}");
    assert_eq!(
        std::fs::read_to_string(&settings).unwrap(),
        with_another,
        "the settings must not change because of a server with the new name"
    );
}

#[tokio::test]
async fn values_entered_for_one_address_are_not_sent_to_another() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let installer = test_installer(&app, &registry);
    let target = Some(InstallTarget::Remote { number: 1 });
    let remote = InstallSource::Registry { name: SERVER_NAME.to_owned(), version: None, target };
    preview_and_install(&app, &installer, &install_draft(remote, "notes", &[("X-Team", "red")])).await.unwrap();
    let mut newer = notes_entry_of_version("1.3.0");
    registry.entries.lock().unwrap().insert(0, newer.clone());
    let offered = installer.offer_upgrade(&app.host, "notes", None).await.unwrap();
    assert_eq!(
        offered.current_values,
        [("X-Team".to_owned(), None)].into(),
        "the values must be carried over, but not shown"
    );
    newer["server"]["remotes"][0]["url"] = "https://elsewhere.example/mcp".into();
    registry.entries.lock().unwrap()[0] = newer;
    let offered = installer.offer_upgrade(&app.host, "notes", None).await.unwrap();
    assert!(offered.current_values.is_empty(), "{:?}", offered.current_values);
}

#[tokio::test]
async fn unrelated_server_is_not_an_upgrade() {
    let app = TestApp::start(vec![("added", testkit::app::demo_config(&[]))]).await;
    let registry = TestRegistry::start(vec![notes_entry_of_version("1.2.0")]).await;
    let installer = test_installer(&app, &registry);
    let first = install_draft(package_source(), "notes", &[("NOTES_KEY", "one"), ("folder", "/srv")]);
    preview_and_install(&app, &installer, &first).await.unwrap();
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    let bundle = InstallSource::Bundle { path: path.into(), sha256: None };
    let other = installer.offer_upgrade(&app.host, "notes", Some(&bundle)).await.unwrap_err();
    assert!(matches!(other, InstallError::OtherServer { .. }), "{other}");
    let added = installer.offer_upgrade(&app.host, "added", None).await.unwrap_err();
    assert!(matches!(added, InstallError::NotInstalled(_)), "{added}");
    preview_and_install(&app, &installer, &install_draft(bundle, "demo", &[])).await.unwrap();
    let unnamed = installer.offer_upgrade(&app.host, "demo", None).await.unwrap_err();
    assert!(matches!(unnamed, InstallError::NoSource(_)), "{unnamed}");
}

#[tokio::test]
async fn bundle_upgrade_replaces_files_and_stops_a_running_server_only_if_allowed() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    add_bundle_to_registry(&app, &registry, "1.2.3", &Bundle::demo());
    preview_and_install(&app, &installer, &install_draft(crate::downloads::registry_source(), "demo", &[]))
        .await
        .unwrap();
    let old = bundle_folders(&app);
    app.ready("demo").await;
    let mut newer = Bundle::demo();
    newer.manifest["version"] = "1.3.0".into();
    add_bundle_to_registry(&app, &registry, "1.3.0", &newer);
    let upgrade = upgrade_draft(&app, &installer, "demo").await;
    let shown = installer.preview(&app.host, &upgrade, CachePolicy::Usual).await.unwrap().hash;
    let refused = installer.upgrade(&app.host, &upgrade, shown.as_str(), false).await.unwrap_err();
    assert!(matches!(refused, InstallError::Running(_)), "{refused}");
    assert_eq!(app.server("demo").await.state, ServerState::Ready, "the server must continue to run");
    assert_eq!(bundle_folders(&app), old, "no bundle must be unpacked");
    installer.upgrade(&app.host, &upgrade, shown.as_str(), true).await.unwrap();
    let server = app.until("demo", "stopped", |server| server.state == ServerState::Stopped).await;
    assert!(!server.approved, "the new command must need an approval");
    let now = bundle_folders(&app);
    assert!(now.len() == 1 && now != old, "the files of the previous version must be removed: {now:?}");
    app.ready("demo").await;
}

#[tokio::test]
async fn modified_bundle_is_not_started() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let path = Bundle::demo().write(&app.folder.path().join("demo.mcpb"));
    let source = InstallSource::Bundle { path: path.into(), sha256: None };
    preview_and_install(&app, &installer, &install_draft(source, "demo", &[])).await.unwrap();
    let folder = app.folder.path().join("data/bundles").join(&bundle_folders(&app)[0]);
    let manifest = folder.join("manifest.json");
    let was = std::fs::read(&manifest).unwrap();
    std::fs::write(&manifest, "{}").unwrap();
    app.host.start_server("demo".to_owned()).await.unwrap();
    let failed = app.until("demo", "failed", |server| matches!(server.state, ServerState::Failed(_))).await;
    let ServerState::Failed(failure) = failed.state else { panic!("{:?}", failed.state) };
    assert!(failure.message.contains("manifest.json has changed"), "{}", failure.message);
    assert!(
        failure.message.contains("install its bundle again"),
        "the message must name the next step: {}",
        failure.message
    );
    assert!(app.consent_requests().await.is_empty(), "no consent must be requested");
    std::fs::write(&manifest, was).unwrap();
    std::fs::write(folder.join("server/added.js"), "").unwrap();
    app.host.start_server("demo".to_owned()).await.unwrap();
    let added = |server: &host::view::ServerView| matches!(&server.state, ServerState::Failed(failure) if failure.message.contains("server/added.js"));
    app.until("demo", "failed for what was added", added).await;
    std::fs::remove_file(folder.join("server/added.js")).unwrap();
    app.ready("demo").await;
}
