//! A server for releases, and the keys that sign them. Also used by `src-tauri/tests/updater.rs`.
#![allow(dead_code, reason = "not every test uses all of it")]

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minisign::KeyPair;
use serde_json::json;
use updates::{Installation, ReleaseKey};

/// The file of the release. It begins like a Linux program and has the minimum length of one, since other files are
/// not installed.
pub(crate) const FILE: &[u8] = b"\x7fELF and then all of the bytes that an app of the project may have";

/// The key pair of a project.
#[derive(Clone)]
pub(crate) struct TestKeys(Arc<KeyPair>);

impl TestKeys {
    pub(crate) fn new() -> Self {
        Self(Arc::new(KeyPair::generate_unencrypted_keypair().unwrap()))
    }

    pub(crate) fn public(&self) -> ReleaseKey {
        ReleaseKey::parse(&STANDARD.encode(self.text())).unwrap()
    }

    /// Returns the first line of the public key, which contains its id.
    pub(crate) fn comment(&self) -> String {
        self.text().lines().next().unwrap().to_owned()
    }

    fn text(&self) -> String {
        self.0.pk.to_box().unwrap().to_string()
    }

    /// Returns a signature in the bundler's format.
    pub(crate) fn sign(&self, bytes: &[u8], comment: &str) -> String {
        let signature = minisign::sign(None, &self.0.sk, bytes, Some(comment), None).unwrap();
        STANDARD.encode(signature.into_string())
    }
}

/// Returns the signature with a changed comment.
pub(crate) fn with_comment(signature: &str, from: &str, to: &str) -> String {
    let text = String::from_utf8(STANDARD.decode(signature).unwrap()).unwrap();
    assert!(text.contains(from), "{text}");
    STANDARD.encode(text.replace(from, to))
}

/// Returns an installation of this system that can be updated.
pub(crate) fn installation() -> Installation {
    match std::env::consts::OS {
        "macos" => Installation::MacApp,
        "windows" => Installation::WindowsSetup,
        _ => Installation::AppImage,
    }
}

/// Returns the key of the installation in a manifest.
pub(crate) fn platform() -> String {
    installation().platform(std::env::consts::OS, std::env::consts::ARCH).unwrap()
}

/// Returns the manifest of a release with one file, whose address is filled in when it is served.
pub(crate) fn manifest_of(version: &str, signature: &str, size: usize) -> String {
    let file = json!({"url": "http://origin/file", "signature": signature, "size": size});
    let notes = "What is <b>new</b>.";
    json!({"version": version, "notes": notes, "pub_date": "2026-11-23T20:00:00Z", "platforms": {platform(): file}})
        .to_string()
}

/// The content of a test server.
#[derive(Clone)]
pub(crate) struct ServedRelease {
    /// Signed manifest, with `http://origin` in place of the server's own address.
    pub(crate) manifest: String,
    /// Comment of the signature.
    pub(crate) comment: &'static str,
    /// Replacement made after signing.
    pub(crate) change: Option<(&'static str, &'static str)>,
    /// Set if there is no manifest, so its address returns status 204.
    pub(crate) is_empty: bool,
    /// Text served instead of the signature.
    pub(crate) signature: Option<String>,
    pub(crate) file: Vec<u8>,
    /// Path, and the target that it redirects to.
    pub(crate) redirect: Option<(&'static str, String)>,
    keys: TestKeys,
}

impl ServedRelease {
    /// Returns a valid release.
    pub(crate) fn release(keys: &TestKeys, version: &str) -> Self {
        let signature = keys.sign(FILE, &format!("timestamp:1700000000\tfile:app\tversion:{version}"));
        Self {
            manifest: manifest_of(version, &signature, FILE.len()),
            comment: "timestamp:1700000000\tfile:latest.json",
            change: None,
            is_empty: false,
            signature: None,
            file: FILE.to_vec(),
            redirect: None,
            keys: keys.clone(),
        }
    }

    /// Returns the content with another signed manifest.
    pub(crate) fn announcing(self, manifest: String) -> Self {
        Self { manifest, ..self }
    }

    fn body(&self, path: &str, origin: &str) -> Option<Vec<u8>> {
        let signed = self.manifest.replace("http://origin", origin);
        match path {
            "/latest.json" => {
                let (from, to) = self.change.unwrap_or_default();
                Some(if from.is_empty() { signed } else { signed.replace(from, to) }.into_bytes())
            }
            "/latest.json.sig" => {
                let signature = || self.keys.sign(signed.as_bytes(), self.comment);
                Some(self.signature.clone().unwrap_or_else(signature).into_bytes())
            }
            "/file" => Some(self.file.clone()).filter(|file| !file.is_empty()),
            _ => None,
        }
    }
}

/// A server on this computer, which runs as long as the test's runtime.
pub(crate) struct ReleaseServer {
    site: Arc<ServerState>,
}

struct ServerState {
    origin: String,
    served: Mutex<ServedRelease>,
    asked: Mutex<Vec<String>>,
}

impl ReleaseServer {
    pub(crate) async fn start(served: ServedRelease) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let site = Arc::new(ServerState { origin, served: Mutex::new(served), asked: Mutex::default() });
        let router = Router::new().fallback(answer).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { site }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.site.origin
    }

    /// Returns the address of the manifest.
    pub(crate) fn address(&self) -> String {
        format!("{}/latest.json", self.site.origin)
    }

    /// Replaces the served content.
    pub(crate) fn serve(&self, served: ServedRelease) {
        *self.site.served.lock().unwrap() = served;
    }

    /// Returns the requested paths.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.site.asked.lock().unwrap().clone()
    }
}

async fn answer(State(site): State<Arc<ServerState>>, uri: Uri) -> Response {
    site.asked.lock().unwrap().push(uri.path().to_owned());
    let served = site.served.lock().unwrap();
    match &served.redirect {
        Some((path, to)) if *path == uri.path() => {
            (StatusCode::FOUND, [(header::LOCATION, to.clone())]).into_response()
        }
        _ if served.is_empty => StatusCode::NO_CONTENT.into_response(),
        _ => served.body(uri.path(), &site.origin).ok_or(StatusCode::NOT_FOUND).into_response(),
    }
}
