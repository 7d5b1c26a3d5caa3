//! Tests of an update from the check to the replaced program on disk. They use Tauri's updater as the app's commands
//! do, a local release server, and generated key pairs.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../crates/updates/tests/server/mod.rs"]
mod server;

use std::fs;

use drawbridge::updater::{UpdateInstaller, configure_updater, updater_plugin};
use semver::Version;
use server::{RELEASE_FILE, ReleaseServer, ServedRelease, TestKeys, manifest_text};
use tauri::test::{MockRuntime, mock_builder, mock_context, noop_assets};
use tauri::{App, Manager as _};
use tempfile::TempDir;
use updates::{SignatureProblem, UpdateChannel, UpdateLimits, UpdateRefusal, UpdateStep, Updater};

/// Version that is higher than that of the tested app.
const NEW_VERSION: &str = "900.1.0";
const OLD_PROGRAM: &[u8] = b"the program that runs";

/// An app whose executable is a file in a temporary folder.
struct UpdatableProgram {
    app: App<MockRuntime>,
    folder: TempDir,
    channel: UpdateChannel,
}

impl UpdatableProgram {
    fn new(server: &ReleaseServer, keys: &TestKeys) -> Self {
        let mut context = mock_context(noop_assets());
        configure_updater(&mut context);
        let app = mock_builder().plugin(updater_plugin()).build(context).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("app"), OLD_PROGRAM).unwrap();
        let channel = UpdateChannel::from_build_settings(Some(&server.manifest_url()), Some(keys.public().as_str()))
            .unwrap()
            .unwrap();
        Self { app, folder, channel }
    }

    /// Checks for an update of the program and installs it.
    async fn update(&self) -> Result<(), UpdateRefusal> {
        let version = self.app.package_info().version.clone();
        let channel = Ok(Some(self.channel.clone()));
        let updates = Updater::new(version, server::updatable_installation(), channel, UpdateLimits::default());
        updates.check(&|_| ()).await?;
        let UpdateStep::Found { release } = updates.report().step else { return Ok(()) };
        let program = self.folder.path().join("app");
        let installer = UpdateInstaller::new(self.app.handle(), Ok(Some(self.channel.clone())), Some(program));
        updates.install(&release.version, &installer, &|_| ()).await
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.folder.path().join("app")).unwrap()
    }
}

/// Runs an update to a release that must be rejected, and returns the error.
async fn refusal_of_failed_update(keys: &TestKeys, served: ServedRelease) -> UpdateRefusal {
    let server = ReleaseServer::start(served).await;
    let program = UpdatableProgram::new(&server, keys);
    let refusal = program.update().await.unwrap_err();
    assert_eq!(program.bytes(), OLD_PROGRAM, "the program should be unchanged");
    assert_eq!(fs::read_dir(program.folder.path()).unwrap().count(), 1, "no other file should remain");
    refusal
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn signed_release_replaces_the_program() {
    let keys = TestKeys::new();
    let server = ReleaseServer::start(ServedRelease::release(&keys, NEW_VERSION)).await;
    let program = UpdatableProgram::new(&server, &keys);
    program.update().await.unwrap();
    assert_eq!(program.bytes(), RELEASE_FILE);
}

#[tokio::test]
async fn no_newer_version_changes_nothing() {
    let keys = TestKeys::new();
    let mut none = ServedRelease::release(&keys, NEW_VERSION);
    none.is_empty = true;
    for served in [none, ServedRelease::release(&keys, "0.0.1")] {
        let server = ReleaseServer::start(served).await;
        let program = UpdatableProgram::new(&server, &keys);
        program.update().await.unwrap();
        assert_eq!(program.bytes(), OLD_PROGRAM);
        assert!(!server.requested_paths().contains(&"/file".to_owned()), "nothing should be downloaded");
    }
}

#[tokio::test]
async fn tampered_update_file_is_rejected() {
    let keys = TestKeys::new();
    let mut served = ServedRelease::release(&keys, NEW_VERSION);
    served.file[5] ^= 1;
    assert_eq!(refusal_of_failed_update(&keys, served).await, UpdateRefusal::FileSignature(SignatureProblem::Changed));
}

/// The manifest announces an old file as a new version, and the project's key signed both.
#[tokio::test]
async fn older_signed_file_announced_as_newer_is_rejected() {
    let keys = TestKeys::new();
    let old = keys.sign(RELEASE_FILE, "timestamp:1700000000\tfile:app\tversion:0.9.0");
    let served =
        ServedRelease::release(&keys, NEW_VERSION).with_manifest(manifest_text(NEW_VERSION, &old, RELEASE_FILE.len()));
    let expected = UpdateRefusal::OtherVersion { signed: "0.9.0".to_owned(), announced: NEW_VERSION.to_owned() };
    assert_eq!(refusal_of_failed_update(&keys, served).await, expected);
}

#[tokio::test]
async fn changed_version_in_a_signature_is_rejected() {
    let keys = TestKeys::new();
    let signature = server::replace_comment(
        &keys.sign(RELEASE_FILE, "file:app\tversion:0.9.0"),
        "version:0.9.0",
        NEW_VERSION_FIELD,
    );
    let served = ServedRelease::release(&keys, NEW_VERSION).with_manifest(manifest_text(
        NEW_VERSION,
        &signature,
        RELEASE_FILE.len(),
    ));
    assert_eq!(refusal_of_failed_update(&keys, served).await, UpdateRefusal::FileSignature(SignatureProblem::Changed));
}

const NEW_VERSION_FIELD: &str = "version:900.1.0";

#[tokio::test]
async fn signature_without_a_version_is_rejected() {
    let keys = TestKeys::new();
    let bare = keys.sign(RELEASE_FILE, "timestamp:1700000000\tfile:app-version:900.1.0");
    let served =
        ServedRelease::release(&keys, NEW_VERSION).with_manifest(manifest_text(NEW_VERSION, &bare, RELEASE_FILE.len()));
    assert_eq!(refusal_of_failed_update(&keys, served).await, UpdateRefusal::NoVersion);
}

#[tokio::test]
async fn file_signed_with_another_key_is_rejected() {
    let (keys, others) = (TestKeys::new(), TestKeys::new());
    let foreign = others.sign(RELEASE_FILE, "file:app\tversion:900.1.0");
    let served = ServedRelease::release(&keys, NEW_VERSION).with_manifest(manifest_text(
        NEW_VERSION,
        &foreign,
        RELEASE_FILE.len(),
    ));
    assert_eq!(refusal_of_failed_update(&keys, served).await, UpdateRefusal::FileSignature(SignatureProblem::OtherKey));
}

#[tokio::test]
async fn release_without_this_platform_is_rejected() {
    let keys = TestKeys::new();
    let other = manifest_text(NEW_VERSION, &keys.sign(RELEASE_FILE, NEW_VERSION_FIELD), RELEASE_FILE.len())
        .replace(&server::platform_key(), "plan9-x86_64-tar");
    let refusal =
        refusal_of_failed_update(&keys, ServedRelease::release(&keys, NEW_VERSION).with_manifest(other)).await;
    let expected =
        UpdateRefusal::NoPlatform { version: Version::parse(NEW_VERSION).unwrap(), platform: server::platform_key() };
    assert_eq!(refusal, expected);
}
