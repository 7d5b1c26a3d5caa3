//! Tests of an update from the check to the replaced program on disk. They use Tauri's updater as the app's commands
//! do, a local release server, and generated key pairs.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../crates/updates/tests/server/mod.rs"]
mod server;

use std::fs;

use drawbridge::updater::{UpdateInstall, configure, plugin};
use semver::Version;
use server::{FILE, ReleaseServer, ServedRelease, TestKeys, manifest_of};
use tauri::test::{MockRuntime, mock_builder, mock_context, noop_assets};
use tauri::{App, Manager as _};
use tempfile::TempDir;
use updates::{SignatureProblem, UpdateChannel, UpdateLimits, UpdateRefusal, UpdateStep, Updater};

/// Version that is higher than that of the tested app.
const NEW: &str = "900.1.0";
const OLD: &[u8] = b"the program that runs";

/// App whose executable is a file in a temporary folder.
struct Program {
    app: App<MockRuntime>,
    folder: TempDir,
    channel: UpdateChannel,
}

impl Program {
    fn new(server: &ReleaseServer, keys: &TestKeys) -> Self {
        let mut context = mock_context(noop_assets());
        configure(&mut context);
        let app = mock_builder().plugin(plugin()).build(context).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("app"), OLD).unwrap();
        let channel =
            UpdateChannel::from_build_settings(Some(&server.address()), Some(keys.public().as_str())).unwrap().unwrap();
        Self { app, folder, channel }
    }

    /// Checks for an update and installs it.
    async fn update(&self) -> Result<(), UpdateRefusal> {
        let version = self.app.package_info().version.clone();
        let channel = Ok(Some(self.channel.clone()));
        let updates = Updater::new(version, server::installation(), channel, UpdateLimits::default());
        updates.check(&|_| ()).await?;
        let UpdateStep::Found { release } = updates.report().step else { return Ok(()) };
        let program = self.folder.path().join("app");
        let installer = UpdateInstall::new(self.app.handle(), Ok(Some(self.channel.clone())), Some(program));
        updates.install(&release.version, &installer, &|_| ()).await
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.folder.path().join("app")).unwrap()
    }
}

/// Runs an update that must fail, and returns the error.
async fn refused(keys: &TestKeys, served: ServedRelease) -> UpdateRefusal {
    let server = ReleaseServer::start(served).await;
    let program = Program::new(&server, keys);
    let refusal = program.update().await.unwrap_err();
    assert_eq!(program.bytes(), OLD, "the program should be unchanged");
    assert_eq!(fs::read_dir(program.folder.path()).unwrap().count(), 1, "no other file should remain");
    refusal
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn signed_release_replaces_the_program() {
    let keys = TestKeys::new();
    let server = ReleaseServer::start(ServedRelease::release(&keys, NEW)).await;
    let program = Program::new(&server, &keys);
    program.update().await.unwrap();
    assert_eq!(program.bytes(), FILE);
}

#[tokio::test]
async fn no_newer_version_changes_nothing() {
    let keys = TestKeys::new();
    let mut none = ServedRelease::release(&keys, NEW);
    none.is_empty = true;
    for served in [none, ServedRelease::release(&keys, "0.0.1")] {
        let server = ReleaseServer::start(served).await;
        let program = Program::new(&server, &keys);
        program.update().await.unwrap();
        assert_eq!(program.bytes(), OLD);
        assert!(!server.asked().contains(&"/file".to_owned()), "nothing should be downloaded");
    }
}

#[tokio::test]
async fn tampered_file_is_rejected() {
    let keys = TestKeys::new();
    let mut served = ServedRelease::release(&keys, NEW);
    served.file[5] ^= 1;
    assert_eq!(refused(&keys, served).await, UpdateRefusal::FileSignature(SignatureProblem::Changed));
}

/// The manifest announces an old file as a new version, and the project's key signed both.
#[tokio::test]
async fn older_file_announced_as_newer_is_rejected() {
    let keys = TestKeys::new();
    let old = keys.sign(FILE, "timestamp:1700000000\tfile:app\tversion:0.9.0");
    let served = ServedRelease::release(&keys, NEW).announcing(manifest_of(NEW, &old, FILE.len()));
    let expected = UpdateRefusal::OtherVersion { signed: "0.9.0".to_owned(), announced: NEW.to_owned() };
    assert_eq!(refused(&keys, served).await, expected);
}

#[tokio::test]
async fn changed_version_in_a_signature_is_rejected() {
    let keys = TestKeys::new();
    let signature = server::with_comment(&keys.sign(FILE, "file:app\tversion:0.9.0"), "version:0.9.0", NEW_FIELD);
    let served = ServedRelease::release(&keys, NEW).announcing(manifest_of(NEW, &signature, FILE.len()));
    assert_eq!(refused(&keys, served).await, UpdateRefusal::FileSignature(SignatureProblem::Changed));
}

const NEW_FIELD: &str = "version:900.1.0";

#[tokio::test]
async fn signature_without_a_version_is_rejected() {
    let keys = TestKeys::new();
    let bare = keys.sign(FILE, "timestamp:1700000000\tfile:app-version:900.1.0");
    let served = ServedRelease::release(&keys, NEW).announcing(manifest_of(NEW, &bare, FILE.len()));
    assert_eq!(refused(&keys, served).await, UpdateRefusal::NoVersion);
}

#[tokio::test]
async fn file_signed_with_another_key_is_rejected() {
    let (keys, others) = (TestKeys::new(), TestKeys::new());
    let foreign = others.sign(FILE, "file:app\tversion:900.1.0");
    let served = ServedRelease::release(&keys, NEW).announcing(manifest_of(NEW, &foreign, FILE.len()));
    assert_eq!(refused(&keys, served).await, UpdateRefusal::FileSignature(SignatureProblem::OtherKey));
}

#[tokio::test]
async fn release_without_this_platform_is_rejected() {
    let keys = TestKeys::new();
    let other =
        manifest_of(NEW, &keys.sign(FILE, NEW_FIELD), FILE.len()).replace(&server::platform(), "plan9-x86_64-tar");
    let refusal = refused(&keys, ServedRelease::release(&keys, NEW).announcing(other)).await;
    let expected = UpdateRefusal::NoPlatform { version: Version::parse(NEW).unwrap(), platform: server::platform() };
    assert_eq!(refusal, expected);
}
