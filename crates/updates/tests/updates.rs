//! The steps of an update against a server on this computer, with key pairs made here: what fits is installed, and whatever was tampered
//! with is refused with its reason.
#![allow(clippy::unwrap_used, missing_docs)]

mod server;

use std::sync::Mutex;

use semver::Version;
use server::{FILE, Keys, Served, Server, manifest_of};
use updates::{
    Install, Installation, Refusal, RefusalKind, Release, ReleaseAddress, UpdateLimits, UpdateReport, UpdateStep,
    Updates,
};
use url::Url;

/// What was put in place.
#[derive(Default)]
struct Installed(Mutex<Vec<(Version, Vec<u8>)>>);

impl Install for Installed {
    async fn install(&self, _: Url, release: &Release, file: Vec<u8>) -> Result<(), String> {
        self.0.lock().unwrap().push((release.version.clone(), file));
        Ok(())
    }
}

/// A program of version 1.0.0 that takes updates from this server.
fn program(server: &Server, keys: &Keys) -> Updates {
    let channel = updates::Channel { address: ReleaseAddress::parse(&server.address()).unwrap(), key: keys.public() };
    let limits = UpdateLimits { manifest_bytes: 4096, ..UpdateLimits::default() };
    Updates::new(Version::new(1, 0, 0), server::installation(), Some(channel), limits).unwrap()
}

/// Goes through all steps, as far as they go.
async fn all(updates: &Updates, installed: &Installed) -> Result<(), Refusal> {
    updates.check(&|_| ()).await?;
    updates.download(&|_| ()).await?;
    updates.install(installed, &|_| ()).await
}

/// What all steps come to with what is served. Nothing is installed by an error.
async fn outcome(keys: &Keys, served: Served) -> Result<(), Refusal> {
    let server = Server::start(served).await;
    let (updates, installed) = (program(&server, keys), Installed::default());
    let outcome = all(&updates, &installed).await;
    let count = installed.0.lock().unwrap().len();
    assert_eq!(count, usize::from(outcome.is_ok()), "only what fits is installed");
    if let Err(refusal) = &outcome {
        assert!(
            matches!(updates.report().step, UpdateStep::Refused { ref cause, .. } if *cause == refusal.to_string())
                || *refusal == Refusal::NotReady,
            "the report says why"
        );
    }
    outcome
}

#[tokio::test]
async fn a_signed_release_is_shown_then_downloaded_then_installed() {
    let keys = Keys::new();
    let server = Server::start(Served::release(&keys, "1.1.0")).await;
    let (updates, installed) = (program(&server, &keys), Installed::default());
    let steps = Mutex::new(Vec::new());
    let note = |report: UpdateReport| steps.lock().unwrap().push(report.step);
    assert_eq!(updates.report().step, UpdateStep::Idle, "nothing happens by itself");
    assert!(server.asked().is_empty(), "nobody is asked");
    updates.check(&note).await.unwrap();
    let UpdateStep::Found { release } = updates.report().step else { panic!("{:?}", updates.report()) };
    assert_eq!((release.version.as_str(), release.notes.as_str()), ("1.1.0", "What is <b>new</b>."), "as it is");
    assert_eq!(release.size, FILE.len() as u64, "the size before the download");
    assert_eq!(server.asked(), ["/latest.json", "/latest.json.sig"], "the file is not asked for");
    updates.download(&note).await.unwrap();
    assert!(installed.0.lock().unwrap().is_empty(), "a download installs nothing");
    updates.install(&installed, &note).await.unwrap();
    assert_eq!(*installed.0.lock().unwrap(), [(Version::new(1, 1, 0), FILE.to_vec())], "these bytes");
    let names: Vec<String> = steps.into_inner().unwrap().iter().map(name).collect();
    assert_eq!(
        names,
        ["checking", "found", "downloading", "downloading", "downloaded", "installing", "installed"],
        "each step is told"
    );
}

fn name(step: &UpdateStep) -> String {
    serde_json::to_value(step).unwrap()["is"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_step_needs_the_one_before() {
    let keys = Keys::new();
    let server = Server::start(Served::release(&keys, "1.1.0")).await;
    let (updates, installed) = (program(&server, &keys), Installed::default());
    assert_eq!(updates.download(&|_| ()).await, Err(Refusal::NotReady), "nothing was found yet");
    updates.check(&|_| ()).await.unwrap();
    assert_eq!(updates.install(&installed, &|_| ()).await, Err(Refusal::NotReady), "nothing was downloaded yet");
}

#[tokio::test]
async fn nothing_new_is_no_error() {
    let keys = Keys::new();
    for version in ["1.0.0", "0.9.0"] {
        let server = Server::start(Served::release(&keys, version)).await;
        let updates = program(&server, &keys);
        updates.check(&|_| ()).await.unwrap();
        assert_eq!(updates.report().step, UpdateStep::Current, "{version}");
        assert_eq!(updates.download(&|_| ()).await, Err(Refusal::NotReady), "there is nothing to download");
    }
}

#[tokio::test]
async fn a_changed_byte_of_the_file_is_refused() {
    let keys = Keys::new();
    let mut served = Served::release(&keys, "1.1.0");
    served.file[5] ^= 1;
    let refusal = outcome(&keys, served).await.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the download is not signed by the Drawbridge project: something was changed after it was signed"
    );
}

#[tokio::test]
async fn a_changed_manifest_is_refused_before_it_is_shown() {
    let keys = Keys::new();
    let mut served = Served::release(&keys, "1.1.0");
    served.change = Some(("\"1.1.0\"", "\"9.9.9\""));
    let refusal = outcome(&keys, served).await.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the announcement is not signed by the Drawbridge project: something was changed after it was signed"
    );
    assert_eq!(refusal.kind(), RefusalKind::Signature);
}

#[tokio::test]
async fn a_changed_comment_of_a_signature_is_refused() {
    let keys = Keys::new();
    // The comment of the file's signature names the version.
    let signature = server::with_comment(&keys.sign(FILE, "file:app\tversion:1.0.1"), "version:1.0.1", "version:1.1.0");
    let served = Served::release(&keys, "1.1.0").announcing(manifest_of("1.1.0", &signature, FILE.len()));
    let refusal = outcome(&keys, served).await.unwrap_err();
    assert!(matches!(refusal, Refusal::FileSignature(_)), "{refusal}");
}

/// The project's key did sign both, and the manifest was made to announce an old file as a new one.
#[tokio::test]
async fn an_older_version_with_a_raised_number_is_refused() {
    let keys = Keys::new();
    let old = keys.sign(FILE, "timestamp:1700000000\tfile:app\tversion:0.9.0");
    let served = Served::release(&keys, "1.1.0").announcing(manifest_of("1.1.0", &old, FILE.len()));
    let refusal = outcome(&keys, served).await.unwrap_err();
    assert_eq!(refusal.to_string(), "the download was signed as version 0.9.0, and announced as 1.1.0");
}

#[tokio::test]
async fn a_signature_without_a_version_is_refused() {
    let keys = Keys::new();
    let bare = keys.sign(FILE, "timestamp:1700000000\tfile:app-version:1.1.0");
    let served = Served::release(&keys, "1.1.0").announcing(manifest_of("1.1.0", &bare, FILE.len()));
    assert_eq!(outcome(&keys, served).await, Err(Refusal::NoVersion));
}

#[tokio::test]
async fn a_release_without_this_platform_is_named() {
    let keys = Keys::new();
    let other = manifest_of("1.1.0", "c2ln", 1).replace(&server::platform(), "plan9-x86_64-tar");
    let served = Served::release(&keys, "1.1.0").announcing(other);
    let refusal = outcome(&keys, served).await.unwrap_err();
    let expected = format!("version 1.1.0 is not available for this system ({})", server::platform());
    assert_eq!(refusal.to_string(), expected);
}

#[tokio::test]
async fn another_key_is_refused_for_the_manifest_and_for_the_file() {
    let (keys, others) = (Keys::new(), Keys::new());
    let refusal = outcome(&keys, Served::release(&others, "1.1.0")).await.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the announcement is not signed by the Drawbridge project: it is signed with another key"
    );
    let foreign = others.sign(FILE, "file:app\tversion:1.1.0");
    let served = Served::release(&keys, "1.1.0").announcing(manifest_of("1.1.0", &foreign, FILE.len()));
    let refusal = outcome(&keys, served).await.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the download is not signed by the Drawbridge project: it is signed with another key"
    );
}

#[tokio::test]
async fn a_signed_file_is_no_manifest() {
    let keys = Keys::new();
    let mut served = Served::release(&keys, "1.1.0");
    served.comment = "timestamp:1700000000\tfile:app.AppImage\tversion:1.1.0";
    assert!(matches!(outcome(&keys, served).await, Err(Refusal::ManifestSignature(_))));
}

#[tokio::test]
async fn an_oversized_manifest_is_refused_and_not_read_to_its_end() {
    let keys = Keys::new();
    let long = format!("{}{}", manifest_of("1.1.0", "c2ln", 1), " ".repeat(5000));
    let served = Served::release(&keys, "1.1.0").announcing(long);
    assert_eq!(outcome(&keys, served).await, Err(Refusal::ManifestTooLarge(4096)), "although it is signed");
}

#[tokio::test]
async fn a_file_of_another_size_is_refused() {
    let keys = Keys::new();
    for size in [FILE.len() - 1, FILE.len() + 1] {
        let signature = keys.sign(FILE, "file:app\tversion:1.1.0");
        let served = Served::release(&keys, "1.1.0").announcing(manifest_of("1.1.0", &signature, size));
        assert_eq!(outcome(&keys, served).await, Err(Refusal::Size(size as u64)));
    }
}

#[tokio::test]
async fn a_redirect_to_http_is_not_followed() {
    let keys = Keys::new();
    let elsewhere = Server::start(Served::release(&keys, "1.1.0")).await;
    for path in ["/latest.json", "/file"] {
        let mut served = Served::release(&keys, "1.1.0");
        served.redirect = Some((path, format!("{}{path}", elsewhere.origin())));
        let refusal = outcome(&keys, served).await.unwrap_err();
        assert_eq!(refusal, Refusal::Redirect(format!("to {}", elsewhere.origin())), "{path}");
    }
    assert!(elsewhere.asked().is_empty(), "nobody there is asked");
    let mut served = Served::release(&keys, "1.1.0");
    served.redirect = Some(("/latest.json", "/latest.json".to_owned()));
    let refusal = outcome(&keys, served).await.unwrap_err();
    assert_eq!(refusal, Refusal::Redirect("more than 5 times".to_owned()), "in a circle");
}

#[tokio::test]
async fn a_server_that_fails_is_named() {
    let keys = Keys::new();
    let mut served = Served::release(&keys, "1.1.0");
    served.signature = Some(String::new());
    let refusal = outcome(&keys, served).await.unwrap_err();
    assert!(matches!(refusal, Refusal::ManifestSignature(_)), "an empty signature: {refusal}");
    let mut served = Served::release(&keys, "1.1.0");
    served.file.clear();
    assert_eq!(outcome(&keys, served).await, Err(Refusal::Failed(404)), "no file");
}

#[tokio::test]
async fn a_failed_download_can_be_tried_again() {
    let keys = Keys::new();
    let mut served = Served::release(&keys, "1.1.0");
    served.file[0] ^= 1;
    let server = Server::start(served).await;
    let (updates, installed) = (program(&server, &keys), Installed::default());
    assert!(all(&updates, &installed).await.is_err());
    let UpdateStep::Refused { release, .. } = updates.report().step else { panic!("{:?}", updates.report()) };
    assert_eq!(release.unwrap().version, "1.1.0", "it is still known");
    assert_eq!(updates.install(&installed, &|_| ()).await, Err(Refusal::NotReady), "what was refused is gone");
    server.serve(Served::release(&keys, "1.1.0"));
    updates.download(&|_| ()).await.unwrap();
    updates.install(&installed, &|_| ()).await.unwrap();
}

#[tokio::test]
async fn what_another_updates_asks_nobody() {
    let keys = Keys::new();
    let server = Server::start(Served::release(&keys, "1.1.0")).await;
    let channel =
        || Some(updates::Channel { address: ReleaseAddress::parse(&server.address()).unwrap(), key: keys.public() });
    let of_system =
        Updates::new(Version::new(1, 0, 0), Installation::SystemPackage, channel(), UpdateLimits::default());
    let without_key = Updates::new(Version::new(1, 0, 0), server::installation(), None, UpdateLimits::default());
    for updates in [of_system.unwrap(), without_key.unwrap()] {
        assert!(!updates.report().can_update);
        assert_eq!(updates.check(&|_| ()).await, Err(Refusal::NotHere));
        assert_eq!(updates.report().step, UpdateStep::Idle);
    }
    assert!(server.asked().is_empty(), "nobody is asked");
}
