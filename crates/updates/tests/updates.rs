//! Tests of the steps of an update up to the handover of the file, with a local server and generated key pairs. The
//! file's signature is verified when it is put in place; those tests are in `src-tauri/tests/updater.rs`.
#![allow(clippy::unwrap_used, missing_docs)]

mod server;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::Poll;

use semver::Version;
use server::{RELEASE_FILE, ReleaseServer, ServedRelease, TestKeys, manifest_text};
use updates::{
    Installation, Release, ReleaseInstaller, UpdateChannel, UpdateLimits, UpdateRefusal, UpdateRefusalKind,
    UpdateReport, UpdateSource, UpdateStep, Updater,
};

/// Version of the releases in these tests.
const RELEASE_VERSION: &str = "1.1.0";

/// An installer that records the versions and files that are passed to it.
#[derive(Default)]
struct RecordingInstaller(Mutex<Vec<(Version, Vec<u8>)>>);

impl ReleaseInstaller for RecordingInstaller {
    async fn install(&self, release: &Release, file: Vec<u8>) -> Result<(), UpdateRefusal> {
        self.0.lock().unwrap().push((release.version.clone(), file));
        Ok(())
    }
}

/// Creates the updater of an app of version 1.0.0 that uses this server.
fn test_updater(server: &ReleaseServer, keys: &TestKeys) -> Updater {
    let limits = UpdateLimits { manifest_bytes: 4096, ..UpdateLimits::default() };
    Updater::new(Version::new(1, 0, 0), server::updatable_installation(), update_channel(server, keys), limits)
}

fn update_channel(server: &ReleaseServer, keys: &TestKeys) -> Result<Option<UpdateChannel>, UpdateRefusal> {
    UpdateChannel::from_build_settings(Some(&server.manifest_url()), Some(keys.public().as_str()))
}

/// Checks for a release, and installs the release that was found. Returns the first error.
async fn check_and_install(updates: &Updater, installed: &RecordingInstaller) -> Result<(), UpdateRefusal> {
    updates.check(&|_| ()).await?;
    updates.install(RELEASE_VERSION, installed, &|_| ()).await
}

/// Runs all steps with these responses and returns the result. Asserts that nothing is installed after an error.
async fn update_from_release(keys: &TestKeys, served: ServedRelease) -> Result<(), UpdateRefusal> {
    let server = ReleaseServer::start(served).await;
    let (updates, installed) = (test_updater(&server, keys), RecordingInstaller::default());
    let outcome = check_and_install(&updates, &installed).await;
    let count = installed.0.lock().unwrap().len();
    assert_eq!(count, usize::from(outcome.is_ok()), "a file must be installed only after success");
    if let Err(refusal) = &outcome {
        assert!(
            matches!(updates.report().step, UpdateStep::Refused { ref cause, .. } if *cause == refusal.to_string())
                || *refusal == UpdateRefusal::NotReady,
            "the report must contain the cause"
        );
    }
    outcome
}

#[tokio::test]
async fn signed_release_is_shown_and_then_installed() {
    let keys = TestKeys::new();
    let server = ReleaseServer::start(ServedRelease::release(&keys, RELEASE_VERSION)).await;
    let (updates, installed) = (test_updater(&server, &keys), RecordingInstaller::default());
    let steps = Mutex::new(Vec::new());
    let note = |report: UpdateReport| steps.lock().unwrap().push(report.step);
    assert_eq!(updates.report().step, UpdateStep::Idle, "no step must run without a request");
    assert!(server.requested_paths().is_empty(), "no request must be sent");
    updates.check(&note).await.unwrap();
    let UpdateStep::Found { release } = updates.report().step else { panic!("{:?}", updates.report()) };
    assert_eq!(
        (release.version.as_str(), release.notes.as_str()),
        ("1.1.0", "What is <b>new</b>."),
        "the notes must not change"
    );
    assert_eq!(release.size, RELEASE_FILE.len() as u64, "the size must be known before the download");
    assert_eq!(server.requested_paths(), ["/latest.json", "/latest.json.sig"], "the file must not be downloaded yet");
    updates.install(RELEASE_VERSION, &installed, &note).await.unwrap();
    assert_eq!(
        *installed.0.lock().unwrap(),
        [(Version::new(1, 1, 0), RELEASE_FILE.to_vec())],
        "the downloaded bytes must be installed"
    );
    let names: Vec<String> = steps.into_inner().unwrap().iter().map(step_name).collect();
    assert_eq!(
        names,
        ["checking", "found", "downloading", "downloading", "installing", "installed"],
        "each step must be reported"
    );
}

/// Polls a future once, and returns `true` if it is pending.
async fn is_pending(mut step: Pin<&mut impl Future>) -> bool {
    poll_fn(|context| Poll::Ready(step.as_mut().poll(context).is_pending())).await
}

fn step_name(step: &UpdateStep) -> String {
    serde_json::to_value(step).unwrap()["is"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn only_the_release_that_was_shown_is_installed() {
    let keys = TestKeys::new();
    let server = ReleaseServer::start(ServedRelease::release(&keys, RELEASE_VERSION)).await;
    let (updates, installed) = (test_updater(&server, &keys), RecordingInstaller::default());
    let install = async |version| updates.install(version, &installed, &|_| ()).await;
    assert_eq!(install(RELEASE_VERSION).await, Err(UpdateRefusal::NotReady), "nothing can be installed before a check");
    updates.check(&|_| ()).await.unwrap();
    server.serve(ServedRelease::release(&keys, "1.2.0"));
    updates.check(&|_| ()).await.unwrap();
    assert_eq!(
        install(RELEASE_VERSION).await,
        Err(UpdateRefusal::NotReady),
        "a release that is no longer the newest must be refused"
    );
    assert!(matches!(updates.report().step, UpdateStep::Found { .. }), "the found release must still be reported");
}

/// If the future of a step is dropped, as when its task ends, the next step can still run.
#[tokio::test]
async fn dropped_update_step_can_be_repeated() {
    let keys = TestKeys::new();
    let server = ReleaseServer::start(ServedRelease::release(&keys, RELEASE_VERSION)).await;
    let (updates, installed) = (test_updater(&server, &keys), RecordingInstaller::default());
    {
        let mut check = pin!(updates.check(&|_| ()));
        assert!(is_pending(check.as_mut()).await, "the check must wait for the server");
        assert_eq!(updates.report().step, UpdateStep::Checking);
        assert_eq!(updates.check(&|_| ()).await, Err(UpdateRefusal::NotReady), "only one step may run at a time");
    }
    assert_eq!(updates.report().step, UpdateStep::Idle, "the previous state must be restored");
    updates.check(&|_| ()).await.unwrap();
    {
        let mut install = pin!(updates.install(RELEASE_VERSION, &installed, &|_| ()));
        assert!(is_pending(install.as_mut()).await, "the installation must wait for the file");
    }
    assert!(
        matches!(updates.report().step, UpdateStep::Found { .. }),
        "the previous state must be restored: {:?}",
        updates.report()
    );
    updates.install(RELEASE_VERSION, &installed, &|_| ()).await.unwrap();
}

#[tokio::test]
async fn stopped_download_can_be_repeated() {
    let keys = TestKeys::new();
    let server = ReleaseServer::start(ServedRelease::release(&keys, RELEASE_VERSION)).await;
    let (updates, installed) = (test_updater(&server, &keys), RecordingInstaller::default());
    updates.check(&|_| ()).await.unwrap();
    {
        let mut install = pin!(updates.install(RELEASE_VERSION, &installed, &|_| ()));
        assert!(is_pending(install.as_mut()).await, "the installation must wait for the file");
        updates.stop_download();
        assert_eq!(install.await, Err(UpdateRefusal::Stopped));
    }
    assert!(
        matches!(updates.report().step, UpdateStep::Found { .. }),
        "a stopped download must not be a failure: {:?}",
        updates.report()
    );
    assert!(installed.0.lock().unwrap().is_empty(), "no file must be installed");
    updates.install(RELEASE_VERSION, &installed, &|_| ()).await.unwrap();
}

#[tokio::test]
async fn no_newer_version_is_not_an_error() {
    let keys = TestKeys::new();
    for version in ["1.0.0", "0.9.0"] {
        let server = ReleaseServer::start(ServedRelease::release(&keys, version)).await;
        let updates = test_updater(&server, &keys);
        updates.check(&|_| ()).await.unwrap();
        assert_eq!(updates.report().step, UpdateStep::Current, "{version}");
        let installed = RecordingInstaller::default();
        assert_eq!(
            updates.install(version, &installed, &|_| ()).await,
            Err(UpdateRefusal::NotReady),
            "there must be no release to install"
        );
    }
}

#[tokio::test]
async fn url_without_a_manifest_has_no_update() {
    let keys = TestKeys::new();
    let mut served = ServedRelease::release(&keys, RELEASE_VERSION);
    served.is_empty = true;
    let server = ReleaseServer::start(served).await;
    let updates = test_updater(&server, &keys);
    updates.check(&|_| ()).await.unwrap();
    assert_eq!(updates.report().step, UpdateStep::Current, "status 204 must mean that there is no newer version");
    assert_eq!(server.requested_paths(), ["/latest.json"], "no further request must be sent");
}

#[tokio::test]
async fn manifest_changed_after_signing_is_rejected() {
    let keys = TestKeys::new();
    let mut served = ServedRelease::release(&keys, RELEASE_VERSION);
    served.change = Some(("\"1.1.0\"", "\"9.9.9\""));
    let refusal = update_from_release(&keys, served).await.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the announcement is not signed by the Drawbridge project: something was changed after it was signed"
    );
    assert_eq!(refusal.kind(), UpdateRefusalKind::Signature);
}

#[tokio::test]
async fn release_without_a_file_for_this_platform_is_reported() {
    let keys = TestKeys::new();
    let other = manifest_text(RELEASE_VERSION, "c2ln", 1).replace(&server::platform_key(), "plan9-x86_64-tar");
    let served = ServedRelease::release(&keys, RELEASE_VERSION).with_manifest(other);
    let refusal = update_from_release(&keys, served).await.unwrap_err();
    let expected = format!("version 1.1.0 is not available for this system ({})", server::platform_key());
    assert_eq!(refusal.to_string(), expected);
}

#[tokio::test]
async fn manifest_signed_with_another_key_is_rejected() {
    let (keys, others) = (TestKeys::new(), TestKeys::new());
    let refusal = update_from_release(&keys, ServedRelease::release(&others, RELEASE_VERSION)).await.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the announcement is not signed by the Drawbridge project: it is signed with another key"
    );
}

#[tokio::test]
async fn signature_of_a_file_is_not_valid_for_a_manifest() {
    let keys = TestKeys::new();
    let mut served = ServedRelease::release(&keys, RELEASE_VERSION);
    served.comment = "timestamp:1700000000\tfile:app.AppImage\tversion:1.1.0";
    assert!(matches!(update_from_release(&keys, served).await, Err(UpdateRefusal::ManifestSignature(_))));
}

#[tokio::test]
async fn oversized_manifest_is_rejected_without_reading_it_completely() {
    let keys = TestKeys::new();
    let long = format!("{}{}", manifest_text(RELEASE_VERSION, "c2ln", 1), " ".repeat(5000));
    let served = ServedRelease::release(&keys, RELEASE_VERSION).with_manifest(long);
    assert_eq!(
        update_from_release(&keys, served).await,
        Err(UpdateRefusal::ManifestTooLarge(4096)),
        "an oversized manifest must be refused even if it is signed"
    );
}

#[tokio::test]
async fn file_of_another_size_is_rejected() {
    let keys = TestKeys::new();
    for size in [RELEASE_FILE.len() - 1, RELEASE_FILE.len() + 1] {
        let signature = keys.sign(RELEASE_FILE, "file:app\tversion:1.1.0");
        let served = ServedRelease::release(&keys, RELEASE_VERSION).with_manifest(manifest_text(
            RELEASE_VERSION,
            &signature,
            size,
        ));
        assert_eq!(update_from_release(&keys, served).await, Err(UpdateRefusal::Size(size as u64)));
    }
}

#[tokio::test]
async fn redirect_to_http_is_not_followed() {
    let keys = TestKeys::new();
    let elsewhere = ReleaseServer::start(ServedRelease::release(&keys, RELEASE_VERSION)).await;
    for path in ["/latest.json", "/file"] {
        let mut served = ServedRelease::release(&keys, RELEASE_VERSION);
        served.redirect = Some((path, format!("{}{path}", elsewhere.origin())));
        let refusal = update_from_release(&keys, served).await.unwrap_err();
        assert_eq!(refusal, UpdateRefusal::Redirect(format!("to {}", elsewhere.origin())), "{path}");
    }
    assert!(elsewhere.requested_paths().is_empty(), "no request must be sent to the other server");
    let mut served = ServedRelease::release(&keys, RELEASE_VERSION);
    served.redirect = Some(("/latest.json", "/latest.json".to_owned()));
    let refusal = update_from_release(&keys, served).await.unwrap_err();
    assert_eq!(refusal, UpdateRefusal::Redirect("more than 5 times".to_owned()), "a redirect loop must be refused");
}

#[tokio::test]
async fn release_server_failure_is_reported() {
    let keys = TestKeys::new();
    let mut served = ServedRelease::release(&keys, RELEASE_VERSION);
    served.signature = Some(String::new());
    let refusal = update_from_release(&keys, served).await.unwrap_err();
    assert!(matches!(refusal, UpdateRefusal::ManifestSignature(_)), "an empty signature must be refused: {refusal}");
    let mut served = ServedRelease::release(&keys, RELEASE_VERSION);
    served.file.clear();
    assert_eq!(
        update_from_release(&keys, served).await,
        Err(UpdateRefusal::Failed(404)),
        "a missing file must be reported"
    );
}

#[tokio::test]
async fn failed_download_can_be_repeated() {
    let keys = TestKeys::new();
    let mut served = ServedRelease::release(&keys, RELEASE_VERSION);
    served.file.clear();
    let server = ReleaseServer::start(served).await;
    let (updates, installed) = (test_updater(&server, &keys), RecordingInstaller::default());
    assert!(check_and_install(&updates, &installed).await.is_err());
    let UpdateStep::Refused { release, .. } = updates.report().step else { panic!("{:?}", updates.report()) };
    assert_eq!(release.unwrap().version, RELEASE_VERSION, "the release must still be known");
    server.serve(ServedRelease::release(&keys, RELEASE_VERSION));
    updates.install(RELEASE_VERSION, &installed, &|_| ()).await.unwrap();
}

#[tokio::test]
async fn externally_updated_installation_sends_no_request() {
    let keys = TestKeys::new();
    let server = ReleaseServer::start(ServedRelease::release(&keys, RELEASE_VERSION)).await;
    let of =
        |installation, channel| Updater::new(Version::new(1, 0, 0), installation, channel, UpdateLimits::default());
    let bad =
        UpdateChannel::from_build_settings(Some("http://releases.example/latest.json"), Some(keys.public().as_str()));
    let unusable = UpdateSource::Unusable { cause: bad.as_ref().unwrap_err().to_string() };
    for (updates, source) in [
        (of(Installation::SystemPackage, update_channel(&server, &keys)), UpdateSource::PackageManager),
        (of(Installation::SystemPackage, Ok(None)), UpdateSource::PackageManager),
        (of(Installation::Flatpak, update_channel(&server, &keys)), UpdateSource::Flatpak),
        (of(Installation::Unknown, update_channel(&server, &keys)), UpdateSource::UnknownInstallation),
        (of(server::updatable_installation(), Ok(None)), UpdateSource::NotInBuild),
        (of(server::updatable_installation(), bad), unusable),
    ] {
        assert_eq!(updates.report().source, source);
        assert_eq!(updates.check(&|_| ()).await, Err(UpdateRefusal::NotHere));
        assert_eq!(updates.report().step, UpdateStep::Idle);
    }
    assert!(server.requested_paths().is_empty(), "no request must be sent");
}

#[test]
fn build_with_url_and_key_has_an_update_channel() {
    let keys = TestKeys::new();
    let (address, key) = ("https://releases.example/latest.json", keys.public().as_str().to_owned());
    let of = |address, key| UpdateChannel::from_build_settings(address, key).map(|channel| channel.is_some());
    assert_eq!(of(Some(address), Some(&key)), Ok(true));
    for (address, key) in [(None, None), (Some(address), None), (None, Some(key.as_str())), (Some(address), Some(" "))]
    {
        assert_eq!(of(address, key), Ok(false), "a build without settings must have no updates");
    }
    assert!(of(Some(address), Some("a2V5")).is_err(), "an invalid key must be an error");
}

#[test]
fn key_id_matches_minisign() {
    let keys = TestKeys::new();
    assert!(keys.comment().ends_with(keys.public().id()), "{} {}", keys.comment(), keys.public().id());
}
