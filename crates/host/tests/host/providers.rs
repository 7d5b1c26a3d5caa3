//! Model providers in a complete host: they are configured, list their models, receive requests with their keys, and
//! are removed.

use std::sync::atomic::Ordering;

use credentials::providers::ProviderError;
use models::{ModelRef, ModelRequest};
use ports::Document;
use secrecy::SecretString;
use serde_json::json;
use testkit::app::TestApp;
use testkit::model::provider_settings;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::audit::wait_until_delayed;
use crate::audit_retention::host_with_slow_audit_log;

const PROVIDER_KEY: &str = "sk-canary-host-90d1";

/// Starts a model provider that lists one model. Returns the URL of the provider, and a receiver of the API key in each
/// request.
async fn start_provider() -> (String, mpsc::Receiver<Option<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (key_sender, keys) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = vec![0; 64 << 10];
            let length = socket.read(&mut request).await.unwrap_or_default();
            let head = String::from_utf8_lossy(&request[..length]).into_owned();
            let key = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer ").map(str::to_owned));
            let _ = key_sender.send(key).await;
            let body = json!({ "data": [{ "id": "small" }] }).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    });
    (url, keys)
}

async fn refresh_models(app: &TestApp) -> Result<usize, ProviderError> {
    app.host.refresh_models("own".into()).await
}

#[tokio::test]
async fn key_is_sent_only_to_the_address_it_was_entered_for() {
    let app = TestApp::start(Vec::new()).await;
    let (first, mut keys_of_first) = start_provider().await;
    let (second, mut keys_of_second) = start_provider().await;
    app.host.set_provider(provider_settings(&first)).await.expect("the provider is configured");
    app.host.set_provider_key("own".into(), SecretString::from(PROVIDER_KEY)).await.expect("the key is stored");
    refresh_models(&app).await.expect("the provider lists its models");
    assert_eq!(keys_of_first.recv().await.unwrap().as_deref(), Some(PROVIDER_KEY), "the key is sent to its address");
    assert_eq!(app.host.providers_with_key().await.unwrap(), ["own"], "the provider has a key");
    app.host.set_provider(provider_settings(&second)).await.expect("the address is changed");
    refresh_models(&app).await.expect("the other address lists its models");
    assert_eq!(keys_of_second.recv().await.unwrap(), None, "the key is not sent to another address");
    assert!(app.host.providers_with_key().await.unwrap().is_empty(), "the provider has no key for that address");
    app.host.set_provider(provider_settings(&first)).await.expect("the address is changed back");
    refresh_models(&app).await.expect("the first address lists its models again");
    assert_eq!(
        keys_of_first.recv().await.unwrap().as_deref(),
        Some(PROVIDER_KEY),
        "the key of the first address is still stored"
    );
    app.host.close().await;
}

#[tokio::test]
async fn latest_provider_address_applies_while_the_audit_log_is_slow() {
    let (app, disk) = host_with_slow_audit_log(|_| ()).await;
    let (first, second) = ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1");
    app.host.set_provider(provider_settings(first)).await.expect("the provider is configured");
    disk.slow.store(true, Ordering::SeqCst);
    let set = |url: &'static str| {
        let host = app.host.clone();
        tokio::spawn(async move { host.set_provider(provider_settings(url)).await })
    };
    let changed = set(second);
    wait_until_delayed(&disk).await;
    let changed_back = set(first);
    // The host executes requests in order, so the second change is accepted before the log continues.
    while !changed_back.is_finished() && disk.waiting.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    disk.slow.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    changed.await.unwrap().expect("the first change succeeds");
    changed_back.await.unwrap().expect("the second change succeeds");
    let stored = app.host.ports().documents.read(Document::Models).unwrap().expect("the providers");
    assert_eq!(stored["providers"][0]["url"], first, "the latest change is in effect: {stored}");
    app.host.close().await;
}

#[tokio::test]
async fn removed_provider_is_deleted_with_its_keys() {
    let app = TestApp::start(Vec::new()).await;
    let (url, _keys) = start_provider().await;
    app.host.set_provider(provider_settings(&url)).await.expect("the provider is configured");
    app.host.set_provider_key("own".into(), SecretString::from(PROVIDER_KEY)).await.expect("the key is stored");
    refresh_models(&app).await.expect("the provider lists its models");
    let small = ModelRef { provider: "own".into(), model: "small".into() };
    app.host.set_default_model(Some(small.clone())).await.expect("the default model is set");
    let registry = app.host.provider_registry().await.unwrap();
    assert_eq!(registry.model(&small).map(|model| model.id.as_str()), Some("small"), "the list is registered");
    app.host.remove_provider("own".into()).await.expect("the provider is removed");
    let view = app.host.providers().await.unwrap();
    assert!(view.providers.is_empty(), "the provider is no longer listed");
    assert_eq!(view.default, None, "the default model is cleared");
    let secrets = app.host.ports().secrets.clone();
    let remaining = tokio::task::spawn_blocking(move || secrets.keys("model/").unwrap()).await.unwrap();
    assert!(remaining.is_empty(), "its keys are deleted: {remaining:?}");
    let answer = app.host.provider_registry().await.unwrap().stream(&small, ModelRequest::default()).await;
    assert_eq!(answer.err().map(|error| error.code()), Some("noProvider"), "its models are unavailable");
    app.host.close().await;
}

#[tokio::test]
async fn model_lists_persist_and_keys_are_in_no_file() {
    let app = TestApp::start(Vec::new()).await;
    let (url, _keys) = start_provider().await;
    app.host.set_provider(provider_settings(&url)).await.expect("the provider is configured");
    app.host.set_provider_key("own".into(), SecretString::from(PROVIDER_KEY)).await.expect("the key is stored");
    refresh_models(&app).await.expect("the provider lists its models");
    let data = app.folder.path().join("data");
    let lists = std::fs::read_to_string(data.join("model-lists.json")).expect("the lists are stored");
    assert!(lists.contains("small"), "the file contains the model: {lists}");
    for file in std::fs::read_dir(&data).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).unwrap();
        let has_key = bytes.windows(PROVIDER_KEY.len()).any(|part| part == PROVIDER_KEY.as_bytes());
        assert!(!has_key, "the key is not in {}", file.path().display());
    }
    app.host.close().await;
}

#[tokio::test]
async fn invalid_provider_settings_are_rejected_without_a_change() {
    let app = TestApp::start(Vec::new()).await;
    for url in ["http://user:secret@127.0.0.1/v1", "ftp://127.0.0.1/", "http://127.0.0.1/v1?key=secret"] {
        let refused = app.host.set_provider(provider_settings(url)).await;
        assert!(matches!(refused, Err(ProviderError::Settings(_))), "{url}: {refused:?}");
    }
    let (url, _keys) = start_provider().await;
    app.host.set_provider(provider_settings(&url)).await.expect("the provider is configured");
    let path = app.folder.path().join("data").join("models.json");
    std::fs::write(&path, "{ not json").unwrap();
    let refused = app.host.set_provider(provider_settings(&url)).await;
    assert!(matches!(refused, Err(ProviderError::Store(_))), "an invalid file is not overwritten: {refused:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{ not json", "the invalid file is unchanged");
    app.host.close().await;
}
