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
use updates::{Installation, ReleasePublicKey};

/// Content of the file of each release. It looks like a Linux executable of the minimum length, since other files are
/// not installed.
pub(crate) const RELEASE_FILE: &[u8] = b"\x7fELF and then all of the bytes that an app of the project may have";

/// Key pair with which the tests sign releases.
#[derive(Clone)]
pub(crate) struct TestKeys(Arc<KeyPair>);

impl TestKeys {
    pub(crate) fn new() -> Self {
        Self(Arc::new(KeyPair::generate_unencrypted_keypair().unwrap()))
    }

    pub(crate) fn public(&self) -> ReleasePublicKey {
        ReleasePublicKey::parse(&STANDARD.encode(self.public_key_file_text())).unwrap()
    }

    /// Returns the comment line of the public key, which contains the key's identifier.
    pub(crate) fn comment(&self) -> String {
        self.public_key_file_text().lines().next().unwrap().to_owned()
    }

    fn public_key_file_text(&self) -> String {
        self.0.pk.to_box().unwrap().to_string()
    }

    /// Returns the signature of these bytes, in the format of Tauri's bundler.
    pub(crate) fn sign(&self, bytes: &[u8], comment: &str) -> String {
        let signature = minisign::sign(None, &self.0.sk, bytes, Some(comment), None).unwrap();
        STANDARD.encode(signature.into_string())
    }
}

/// Returns a signature in whose comment `from` is replaced by `to`.
pub(crate) fn replace_comment(signature: &str, from: &str, to: &str) -> String {
    let text = String::from_utf8(STANDARD.decode(signature).unwrap()).unwrap();
    assert!(text.contains(from), "{text}");
    STANDARD.encode(text.replace(from, to))
}

/// Returns a kind of installation on this system that the app can update.
pub(crate) fn updatable_installation() -> Installation {
    match std::env::consts::OS {
        "macos" => Installation::MacApp,
        "windows" => Installation::WindowsSetup,
        _ => Installation::AppImage,
    }
}

/// Returns the key of the file for this installation in a release manifest.
pub(crate) fn platform_key() -> String {
    updatable_installation().manifest_platform_key(std::env::consts::OS, std::env::consts::ARCH).unwrap()
}

/// Returns a manifest with one file. The server inserts its own address into the URL of the file.
pub(crate) fn manifest_text(version: &str, signature: &str, size: usize) -> String {
    let file = json!({"url": "http://origin/file", "signature": signature, "size": size});
    let notes = "What is <b>new</b>.";
    json!({"version": version, "notes": notes, "pub_date": "2026-11-23T20:00:00Z", "platforms": {platform_key(): file}})
        .to_string()
}

/// Responses of a release server, of which a test changes one to simulate a fault.
#[derive(Clone)]
pub(crate) struct ServedRelease {
    /// Manifest to sign and serve. `http://origin` in it stands for the server's address.
    pub(crate) manifest: String,
    /// Trusted comment of the manifest's signature, which the signature covers as well.
    pub(crate) comment: &'static str,
    /// Text in the manifest that the server replaces after signing, with its replacement.
    pub(crate) change: Option<(&'static str, &'static str)>,
    /// Set if the server responds with status 204, because there is no manifest.
    pub(crate) is_empty: bool,
    /// Text that is served as the signature, or `None` for a valid signature.
    pub(crate) signature: Option<String>,
    pub(crate) file: Vec<u8>,
    /// Path of a request that is redirected, with the target.
    pub(crate) redirect: Option<(&'static str, String)>,
    keys: TestKeys,
}

impl ServedRelease {
    /// Returns the responses of a server with a valid release.
    pub(crate) fn release(keys: &TestKeys, version: &str) -> Self {
        let signature = keys.sign(RELEASE_FILE, &format!("timestamp:1700000000\tfile:app\tversion:{version}"));
        Self {
            manifest: manifest_text(version, &signature, RELEASE_FILE.len()),
            comment: "timestamp:1700000000\tfile:latest.json",
            change: None,
            is_empty: false,
            signature: None,
            file: RELEASE_FILE.to_vec(),
            redirect: None,
            keys: keys.clone(),
        }
    }

    /// Returns the same responses with another manifest, which the server signs.
    pub(crate) fn with_manifest(self, manifest: String) -> Self {
        Self { manifest, ..self }
    }

    fn response_body(&self, path: &str, origin: &str) -> Option<Vec<u8>> {
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

/// HTTP server on this computer that serves a release until the test's runtime ends.
pub(crate) struct ReleaseServer {
    site: Arc<ServerState>,
}

struct ServerState {
    origin: String,
    served: Mutex<ServedRelease>,
    requests: Mutex<Vec<String>>,
}

impl ReleaseServer {
    pub(crate) async fn start(served: ServedRelease) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let site = Arc::new(ServerState { origin, served: Mutex::new(served), requests: Mutex::default() });
        let router = Router::new().fallback(respond).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { site }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.site.origin
    }

    /// Returns the URL of the server's release manifest.
    pub(crate) fn manifest_url(&self) -> String {
        format!("{}/latest.json", self.site.origin)
    }

    /// Replaces the responses of the server.
    pub(crate) fn serve(&self, served: ServedRelease) {
        *self.site.served.lock().unwrap() = served;
    }

    /// Returns the paths that were requested so far.
    pub(crate) fn requested_paths(&self) -> Vec<String> {
        self.site.requests.lock().unwrap().clone()
    }
}

async fn respond(State(site): State<Arc<ServerState>>, uri: Uri) -> Response {
    site.requests.lock().unwrap().push(uri.path().to_owned());
    let served = site.served.lock().unwrap();
    match &served.redirect {
        Some((path, to)) if *path == uri.path() => {
            (StatusCode::FOUND, [(header::LOCATION, to.clone())]).into_response()
        }
        _ if served.is_empty => StatusCode::NO_CONTENT.into_response(),
        _ => served.response_body(uri.path(), &site.origin).ok_or(StatusCode::NOT_FOUND).into_response(),
    }
}
