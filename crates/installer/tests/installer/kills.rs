//! Tests of a process that is killed while it installs a bundle: directly before or after the settings are written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use host::view::ServerState;
use host::{Host, HostOptions};
use installer::{InstallDraft, InstallSource, Installer, RegistryChoice, open_registry_catalog};
use ports::ServerSettings;
use ports::secrets::SecretsInMemory;
use ports::server_config::{ConfigProblem, PastedServer, ServerConfig, ServerEntry};
use registry::CachePolicy;
use store::CacheFolder;
use testkit::app::{TestApp, TestPlatform};
use testkit::bundle_file::Bundle;
use testkit::registry::TestRegistry;
use tokio::sync::mpsc;

use crate::{bundle_folders, install_draft, preview_and_install, server_names, test_installer};

/// Environment variable with the app's folder for a child process that will be killed. The child is another run of this
/// test program.
const KILLED_APP_FOLDER_VARIABLE: &str = "DRAWBRIDGE_TEST_KILLED_IN";
/// Environment variable that makes the child process write the settings before it is killed.
const KILL_AFTER_WRITE_VARIABLE: &str = "DRAWBRIDGE_TEST_KILLED_AFTER";
/// Environment variable that makes the child process upgrade a server instead of installing one.
const KILL_DURING_UPGRADE_VARIABLE: &str = "DRAWBRIDGE_TEST_KILLED_UPGRADE";

/// Server settings that kill the process at their next change.
struct SettingsThatKillOnWrite(Arc<dyn ServerSettings>);

impl SettingsThatKillOnWrite {
    fn kill(&self, write: impl FnOnce(&dyn ServerSettings)) -> ! {
        if std::env::var_os(KILL_AFTER_WRITE_VARIABLE).is_some() {
            write(self.0.as_ref());
        }
        std::process::abort()
    }
}

impl ServerSettings for SettingsThatKillOnWrite {
    fn path(&self) -> PathBuf {
        self.0.path()
    }

    fn load(&self) -> Result<Vec<ServerEntry>, ConfigProblem> {
        self.0.load()
    }

    fn put(&self, entry: &ServerEntry, former_name: Option<&str>) -> Result<(), ConfigProblem> {
        self.kill(|settings| settings.put(entry, former_name).unwrap())
    }

    fn put_if_unchanged(&self, entry: &ServerEntry, before: Option<&ServerConfig>) -> Result<bool, ConfigProblem> {
        self.kill(|settings| assert!(settings.put_if_unchanged(entry, before).unwrap()))
    }

    fn remove(&self, name: &str) -> Result<(), ConfigProblem> {
        self.0.remove(name)
    }

    fn parse_pasted(&self, text: &str, taken: &[String]) -> Result<Vec<PastedServer>, ConfigProblem> {
        self.0.parse_pasted(text, taken)
    }

    fn watch(&self, changed: mpsc::Sender<()>) {
        self.0.watch(changed);
    }
}

#[tokio::test]
async fn child_process_that_is_killed() {
    let Some(folder) = std::env::var_os(KILLED_APP_FOLDER_VARIABLE).map(PathBuf::from) else { return };
    let (config, data) = (folder.join("mcp.json"), folder.join("data"));
    let secrets = Arc::new(SecretsInMemory::default());
    let mut ports = store::open_with(&config, &data, Arc::new(TestPlatform::default()), secrets).unwrap();
    ports.servers = Arc::new(SettingsThatKillOnWrite(ports.servers));
    let host = Host::start(ports, HostOptions::default()).await;
    let cache_folder = folder.join("kept");
    let installer = Installer::new(data, RegistryChoice::Official, move |address, header| {
        open_registry_catalog(address, header, Arc::new(CacheFolder::open(&cache_folder)?))
    });
    let upgrades = std::env::var_os(KILL_DURING_UPGRADE_VARIABLE).map(|_| "demo".to_owned());
    let file = if upgrades.is_some() { "newer.mcpb" } else { "demo.mcpb" };
    let draft = InstallDraft { upgrades, ..install_draft(demo_bundle_source(&folder, file), "demo", &[]) };
    let shown = installer.preview(&host, &draft, CachePolicy::Usual).await.unwrap().hash;
    match draft.upgrades {
        Some(_) => drop(installer.upgrade(&host, &draft, shown.as_str(), true).await),
        None => drop(installer.install(&host, &draft, shown.as_str()).await),
    }
    unreachable!("the process should have been killed");
}

fn demo_bundle_source(folder: &Path, file: &str) -> InstallSource {
    InstallSource::Bundle { path: folder.join(file), sha256: None }
}

/// Runs a child process that is killed while it uses the folder of an app, and then restarts the app.
#[allow(clippy::disallowed_methods, reason = "starts a test of this program once more, not a server")]
async fn restart_after_kill(app: TestApp, variables: &[&str]) -> TestApp {
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let mut killed = Command::new(std::env::current_exe().unwrap());
    killed.args(["--exact", "kills::child_process_that_is_killed"]).env(KILLED_APP_FOLDER_VARIABLE, folder.path());
    let output = killed.envs(variables.iter().map(|name| (name, "yes"))).output().unwrap();
    let output_text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), None, "the process must be killed by a signal: {output_text}");
    TestApp::start_in_folder(folder, Vec::new(), HostOptions::default()).await
}

fn installation_records(app: &TestApp) -> String {
    fs::read_to_string(app.folder.path().join("data/origins.json")).unwrap_or_default()
}

/// Changes a file of the only unpacked bundle, and asserts that its server can't be started.
async fn assert_bundle_change_is_detected(app: &TestApp) {
    let [folder] = &bundle_folders(app)[..] else { panic!("{:?}", bundle_folders(app)) };
    fs::write(app.folder.path().join("data/bundles").join(folder).join("manifest.json"), "{}").unwrap();
    app.host.start_server("demo".to_owned()).await.unwrap();
    let failed = app.until("demo", "failed", |server| matches!(server.state, ServerState::Failed(_))).await;
    let ServerState::Failed(failure) = failed.state else { panic!("{:?}", failed.state) };
    assert!(failure.message.contains("manifest.json has changed"), "{}", failure.message);
}

#[tokio::test]
async fn completed_installation_is_verified_after_a_kill() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    Bundle::demo().write(&app.folder.path().join("demo.mcpb"));
    let app = restart_after_kill(app, &[KILL_AFTER_WRITE_VARIABLE]).await;
    let installed = app.server("demo").await.installed.expect("the server must have an installation record");
    assert!(!installed.changed, "the server must match its installation record");
    test_installer(&app, &registry).clean_up_after_killed_process(&app.host).await;
    assert_eq!(app.server("demo").await.installed, Some(installed), "the record must remain after the clean-up");
    assert_bundle_change_is_detected(&app).await;
    app.host.close().await;
    assert!(!installation_records(&app).contains("pending"), "{}", installation_records(&app));
}

#[tokio::test]
async fn incomplete_installation_leaves_nothing_after_a_kill() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    Bundle::demo().write(&app.folder.path().join("demo.mcpb"));
    let app = restart_after_kill(app, &[]).await;
    assert!(server_names(&app).await.is_empty());
    test_installer(&app, &registry).clean_up_after_killed_process(&app.host).await;
    assert!(bundle_folders(&app).is_empty(), "the unused files must be removed: {:?}", bundle_folders(&app));
    app.host.close().await;
    assert!(!installation_records(&app).contains("demo"), "{}", installation_records(&app));
}

#[tokio::test]
async fn upgrade_is_atomic_after_a_kill() {
    for (variables, version) in [
        (&[KILL_DURING_UPGRADE_VARIABLE][..], "1.2.3"),
        (&[KILL_DURING_UPGRADE_VARIABLE, KILL_AFTER_WRITE_VARIABLE], "1.3.0"),
    ] {
        let app = TestApp::start(Vec::new()).await;
        let registry = TestRegistry::start(Vec::new()).await;
        Bundle::demo().write(&app.folder.path().join("demo.mcpb"));
        let first = install_draft(demo_bundle_source(app.folder.path(), "demo.mcpb"), "demo", &[]);
        preview_and_install(&app, &test_installer(&app, &registry), &first).await.unwrap();
        let mut newer = Bundle::demo();
        newer.manifest["version"] = "1.3.0".into();
        newer.write(&app.folder.path().join("newer.mcpb"));
        let app = restart_after_kill(app, variables).await;
        let version_now = async || {
            let installed = app.server("demo").await.installed.unwrap();
            assert!(!installed.changed, "the server must match its installation record");
            installed.origin.version().to_owned()
        };
        assert_eq!(version_now().await, version);
        test_installer(&app, &registry).clean_up_after_killed_process(&app.host).await;
        assert_eq!(version_now().await, version, "the version must not change after the clean-up");
        assert_eq!(bundle_folders(&app).len(), 1, "the files of the other version must be removed");
        app.ready("demo").await;
    }
}
