//! A server of releases, and the keys that sign them. `src-tauri/tests/updater.rs` uses it as well.
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

/// The file of the release. It begins as programs of Linux do and is as long as the shortest of them, as one that is not takes the place
/// of none.
pub(crate) const FILE: &[u8] = b"\x7fELF and then all of the bytes that an app of the project may have";

/// A key pair of a project.
#[derive(Clone)]
pub(crate) struct Keys(Arc<KeyPair>);

impl Keys {
    pub(crate) fn new() -> Self {
        Self(Arc::new(KeyPair::generate_unencrypted_keypair().unwrap()))
    }

    pub(crate) fn public(&self) -> ReleaseKey {
        ReleaseKey::parse(&STANDARD.encode(self.text())).unwrap()
    }

    /// The first line of the public key, which names it.
    pub(crate) fn comment(&self) -> String {
        self.text().lines().next().unwrap().to_owned()
    }

    fn text(&self) -> String {
        self.0.pk.to_box().unwrap().to_string()
    }

    /// A signature as the bundler writes it.
    pub(crate) fn sign(&self, bytes: &[u8], comment: &str) -> String {
        let signature = minisign::sign(None, &self.0.sk, bytes, Some(comment), None).unwrap();
        STANDARD.encode(signature.into_string())
    }
}

/// The signature with other text in its comment.
pub(crate) fn with_comment(signature: &str, from: &str, to: &str) -> String {
    let text = String::from_utf8(STANDARD.decode(signature).unwrap()).unwrap();
    assert!(text.contains(from), "{text}");
    STANDARD.encode(text.replace(from, to))
}

/// An installation of this system that can be updated.
pub(crate) fn installation() -> Installation {
    match std::env::consts::OS {
        "macos" => Installation::MacApp,
        "windows" => Installation::WindowsSetup,
        _ => Installation::AppImage,
    }
}

/// Its key in a manifest.
pub(crate) fn platform() -> String {
    installation().platform(std::env::consts::OS, std::env::consts::ARCH).unwrap()
}

/// The manifest of a release with one file, whose address is filled in as it is served.
pub(crate) fn manifest_of(version: &str, signature: &str, size: usize) -> String {
    let file = json!({"url": "http://origin/file", "signature": signature, "size": size});
    let notes = "What is <b>new</b>.";
    json!({"version": version, "notes": notes, "pub_date": "2026-11-23T20:00:00Z", "platforms": {platform(): file}})
        .to_string()
}

/// What is served.
#[derive(Clone)]
pub(crate) struct Served {
    /// The manifest as it is signed, with `http://origin` where the server's own goes.
    pub(crate) manifest: String,
    /// The comment of its signature.
    pub(crate) comment: &'static str,
    /// What is changed in it after it was signed.
    pub(crate) change: Option<(&'static str, &'static str)>,
    /// There is no manifest: its address answers with status 204.
    pub(crate) is_empty: bool,
    /// What is served instead of its signature.
    pub(crate) signature: Option<String>,
    pub(crate) file: Vec<u8>,
    /// A path, and where it redirects.
    pub(crate) redirect: Option<(&'static str, String)>,
    keys: Keys,
}

impl Served {
    /// A release as the project makes it.
    pub(crate) fn release(keys: &Keys, version: &str) -> Self {
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

    /// The same with another manifest, which the project signs.
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

/// A server on this computer that lives as long as the test's runtime.
pub(crate) struct Server {
    site: Arc<Site>,
}

struct Site {
    origin: String,
    served: Mutex<Served>,
    asked: Mutex<Vec<String>>,
}

impl Server {
    pub(crate) async fn start(served: Served) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let site = Arc::new(Site { origin, served: Mutex::new(served), asked: Mutex::default() });
        let router = Router::new().fallback(answer).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { site }
    }

    pub(crate) fn origin(&self) -> &str {
        &self.site.origin
    }

    /// The address of the manifest.
    pub(crate) fn address(&self) -> String {
        format!("{}/latest.json", self.site.origin)
    }

    /// From now on serves this.
    pub(crate) fn serve(&self, served: Served) {
        *self.site.served.lock().unwrap() = served;
    }

    /// The paths that were asked for.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.site.asked.lock().unwrap().clone()
    }
}

async fn answer(State(site): State<Arc<Site>>, uri: Uri) -> Response {
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
