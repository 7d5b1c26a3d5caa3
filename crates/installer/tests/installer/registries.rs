//! Tests of servers in a registry: offers, installation of exactly what was previewed, and newer versions.

use host::view::ServerState;
use installer::{InstallError, InstallSource, InstallTarget, NotInstallable};
use installs::FillError;
use ports::server_config::ServerOrigin;
use registry::{CachePolicy, ListingStatus};
use serde_json::json;
use testkit::app::TestApp;
use testkit::registry::{TestRegistry, active_registry_metadata, notes_registry_entry};

use crate::{install_draft, preview_and_install, server_names, test_installer};

const SERVER_NAME: &str = "io.github.alice/notes";

fn registry_source(target: Option<InstallTarget>) -> InstallSource {
    InstallSource::Registry { name: SERVER_NAME.to_owned(), version: None, target }
}

fn package_target() -> Option<InstallTarget> {
    Some(InstallTarget::Package { number: 1 })
}

#[tokio::test]
async fn offer_contains_the_exact_version_and_the_choices() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let installer = test_installer(&app, &registry);
    let offer = installer.offer(&registry_source(None), CachePolicy::Now).await.unwrap();
    assert!(
        matches!(offer.plan, Err(NotInstallable::NotChosen)),
        "without a choice there must be no plan: {:?}",
        offer.plan
    );
    let offer = installer.offer(&registry_source(package_target()), CachePolicy::Now).await.unwrap();
    let version = Some("1.2.0".to_owned());
    assert_eq!(
        offer.source,
        InstallSource::Registry { name: SERVER_NAME.to_owned(), version, target: package_target() },
        "the source must name the exact version"
    );
    let plan = offer.plan.as_ref().unwrap();
    let network = offer.proposed_sandbox(plan).to_json()["network"].clone();
    assert_eq!(network, json!(["registry.npmjs.org"]), "the proposed sandbox must allow only the package registry");
    let nothing = Some(InstallTarget::Remote { number: 2 });
    let offer = installer.offer(&registry_source(nothing), CachePolicy::Now).await.unwrap();
    assert!(matches!(offer.plan, Err(NotInstallable::NoTarget)), "{:?}", offer.plan);
}

#[tokio::test]
async fn installed_server_is_stopped_and_its_secret_is_in_the_keychain() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let installer = test_installer(&app, &registry);
    let empty = install_draft(registry_source(package_target()), "notes", &[]);
    let missing = installer.preview(&app.host, &empty, CachePolicy::Usual).await.unwrap_err();
    assert!(matches!(missing, InstallError::Fill(FillError::Inputs(_))), "the secret must be required: {missing}");
    let draft = install_draft(registry_source(package_target()), "notes", &[("NOTES_KEY", "s3cret-value")]);
    let preview = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap();
    assert!(!format!("{preview:?}").contains("s3cret-value"), "the secret must not be in the debug output");
    assert!(server_names(&app).await.is_empty(), "a preview must not add the server");
    installer.install(&app.host, &draft, preview.hash.as_str()).await.unwrap();
    let server = app.server("notes").await;
    assert!(matches!(server.state, ServerState::Stopped), "the server must not be started");
    assert!(!server.approved, "the server must not be approved");
    let file = std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    assert!(file.contains("${secret:notes.NOTES_KEY}") && !file.contains("s3cret-value"), "{file}");
    let again = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap_err();
    assert!(matches!(again, InstallError::Setup(_)), "an existing server must not be replaced: {again}");
}

#[tokio::test]
async fn preview_hash_covers_all_settings() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let installer = test_installer(&app, &registry);
    let shown = install_draft(registry_source(package_target()), "notes", &[("NOTES_KEY", "one")]);
    let sandbox = Some(ports::server_config::SandboxConfig::default());
    let remote = registry_source(Some(InstallTarget::Remote { number: 1 }));
    let others = [
        install_draft(registry_source(package_target()), "notes", &[("NOTES_KEY", "two")]),
        install_draft(registry_source(package_target()), "other", &[("NOTES_KEY", "one")]),
        install_draft(remote, "notes", &[("X-Team", "one")]),
        installer::InstallDraft { sandbox, ..shown.clone() },
    ];
    let hash = |draft| {
        let (installer, host) = (&installer, &app.host);
        async move { installer.preview(host, draft, CachePolicy::Usual).await.map(|preview| preview.hash) }
    };
    let own = hash(&shown).await.unwrap();
    assert_eq!(hash(&shown).await.unwrap(), own, "the hash of the same preview must not change");
    for other in &others {
        match hash(other).await {
            Ok(hash) => assert_ne!(hash, own, "{:?} {}", other.source, other.name),
            // Where no sandbox works, a preview with a sandbox is an error.
            Err(error) => assert!(matches!(error, InstallError::Sandbox(_)), "{error}"),
        }
        let refused = installer.install(&app.host, other, own.as_str()).await.unwrap_err();
        assert!(matches!(refused, InstallError::Stale | InstallError::Sandbox(_)), "{refused}");
    }
    assert!(server_names(&app).await.is_empty(), "nothing must be installed without a preview");
}

#[tokio::test]
async fn listing_changed_since_it_was_shown_is_not_installed() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let installer = test_installer(&app, &registry);
    let draft = install_draft(registry_source(package_target()), "notes", &[("NOTES_KEY", "one")]);
    let shown = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap();
    registry.entries.lock().unwrap()[0]["server"]["packages"][0]["packageArguments"] =
        json!([{ "type": "positional", "value": "--everything" }]);
    let refused = installer.install(&app.host, &draft, shown.hash.as_str()).await.unwrap_err();
    assert!(matches!(refused, InstallError::Stale), "a changed argument must be refused: {refused}");
    registry.entries.lock().unwrap()[0] =
        notes_registry_entry(json!({ "status": "deleted", "statusMessage": "malware" }));
    let refused = installer.install(&app.host, &draft, shown.hash.as_str()).await.unwrap_err();
    assert!(
        matches!(refused, InstallError::NotInstallable(NotInstallable::Deleted)),
        "a deleted server must be refused: {refused}"
    );
    assert!(server_names(&app).await.is_empty());
}

#[tokio::test]
async fn newer_version_is_reported_with_its_changes() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let installer = test_installer(&app, &registry);
    let draft = install_draft(registry_source(package_target()), "mine", &[("NOTES_KEY", "one")]);
    let shown = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap().hash;
    installer.install(&app.host, &draft, shown.as_str()).await.unwrap();
    let version = "1.2.0".to_owned();
    let origin = ServerOrigin::Registry {
        registry: registry.server.url("").trim_end_matches('/').to_owned(),
        name: SERVER_NAME.to_owned(),
        version: version.clone(),
        target: InstallTarget::Package { number: 1 },
        files: None,
    };
    let installed = app.server("mine").await.installed.unwrap();
    assert_eq!((installed.origin, installed.changed), (origin, false));
    assert!(installed.filled_in.values.is_empty(), "a secret must not be stored with the filled-in values");
    let report = installer.version_reports(&app.host, CachePolicy::Now).await.unwrap().remove(0);
    assert_eq!((report.server.as_str(), &report.version, &report.newer), ("mine", &version, &None));
    assert_eq!(report.status, ListingStatus::Active);

    let mut newer = notes_registry_entry(active_registry_metadata());
    newer["server"]["version"] = "1.3.0".into();
    newer["server"]["packages"][0]["version"] = "1.3.0".into();
    let old = notes_registry_entry(json!({ "status": "deleted", "statusMessage": "malware" }));
    *registry.entries.lock().unwrap() = vec![newer, old];
    let report = installer.version_reports(&app.host, CachePolicy::Now).await.unwrap().remove(0);
    assert_eq!((report.status, report.status_message.as_deref()), (ListingStatus::Deleted, Some("malware")));
    assert_eq!(report.newer.unwrap().version, "1.3.0");
    assert_eq!(server_names(&app).await, ["mine"], "a newer version must not be installed");

    drop(registry);
    let report = installer.version_reports(&app.host, CachePolicy::Now).await.unwrap().remove(0);
    assert_eq!(report.status, ListingStatus::Deleted, "the status must be known without the registry");
    assert!(report.problem.is_some(), "the report must contain the error of the registry");
}

#[tokio::test]
async fn deleted_registry_entry_is_detected_despite_a_cached_response() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let draft = install_draft(registry_source(package_target()), "mine", &[("NOTES_KEY", "one")]);
    preview_and_install(&app, &test_installer(&app, &registry), &draft).await.unwrap();
    let first = test_installer(&app, &registry).version_reports(&app.host, CachePolicy::Usual).await.unwrap().remove(0);
    assert_eq!(first.status, ListingStatus::Active);
    *registry.entries.lock().unwrap() =
        vec![notes_registry_entry(json!({ "status": "deleted", "statusMessage": "malware" }))];
    // A new installer, as after a restart. Cached responses are younger than an hour, so only the changes are read
    // again.
    let later = test_installer(&app, &registry).version_reports(&app.host, CachePolicy::Usual).await.unwrap().remove(0);
    assert_eq!((later.status, later.status_message.as_deref()), (ListingStatus::Deleted, Some("malware")));
}

#[tokio::test]
async fn bridge_package_is_offered_as_its_remote_server() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let mut entry = notes_registry_entry(active_registry_metadata());
    entry["server"]["packages"] = json!([{
        "registryType": "npm", "identifier": "mcp-remote", "version": "0.1.29", "transport": { "type": "stdio" },
        "packageArguments": [{ "type": "positional", "value": "https://notes.example/mcp" }],
    }]);
    registry.entries.lock().unwrap()[0] = entry;
    let installer = test_installer(&app, &registry);
    preview_and_install(&app, &installer, &install_draft(registry_source(package_target()), "mine", &[]))
        .await
        .unwrap();
    let config = app.server("mine").await.config;
    assert_eq!(config.as_http().unwrap().url, "https://notes.example/mcp");
}
