//! Providers of models on the whole host: set up, listed, asked with their keys, and forgotten.

use std::sync::atomic::Ordering;

use credentials::providers::ProviderError;
use models::{Conversions, ModelRef, ProviderKind, ProviderSettings, Request};
use ports::Document;
use secrecy::SecretString;
use serde_json::json;
use testkit::app::App;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::audit::until_held;
use crate::kept::with_slow_log;

const KEY: &str = "sk-canary-host-90d1";

/// A provider that lists one model, and tells with which key it was asked.
async fn provider() -> (String, mpsc::Receiver<Option<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (asked, keys) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = vec![0; 64 << 10];
            let length = socket.read(&mut request).await.unwrap_or_default();
            let head = String::from_utf8_lossy(&request[..length]).into_owned();
            let key = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer ").map(str::to_owned));
            let _ = asked.send(key).await;
            let body = json!({ "data": [{ "id": "small" }] }).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    });
    (url, keys)
}

/// A provider at this address.
pub(crate) fn settings(url: &str) -> ProviderSettings {
    ProviderSettings {
        id: "own".into(),
        name: "Own".into(),
        kind: ProviderKind::OpenAi,
        url: url.parse().unwrap(),
        conversions: Conversions::default(),
        silence_seconds: None,
    }
}

async fn list(app: &App) -> Result<usize, ProviderError> {
    app.host.refresh_models("own".into()).await
}

#[tokio::test]
async fn a_key_goes_only_to_the_address_it_was_entered_for() {
    let app = App::start(Vec::new()).await;
    let (first, mut keys_of_first) = provider().await;
    let (second, mut keys_of_second) = provider().await;
    app.host.set_provider(settings(&first)).await.expect("it is set up");
    app.host.set_provider_key("own".into(), SecretString::from(KEY)).await.expect("the key is kept");
    list(&app).await.expect("it lists its models");
    assert_eq!(keys_of_first.recv().await.unwrap().as_deref(), Some(KEY), "its own address gets the key");
    assert_eq!(app.host.providers_with_key().await.unwrap(), ["own"], "and it is known to have one");
    app.host.set_provider(settings(&second)).await.expect("it is changed");
    list(&app).await.expect("the other lists, too");
    assert_eq!(keys_of_second.recv().await.unwrap(), None, "another address gets none");
    assert!(app.host.providers_with_key().await.unwrap().is_empty(), "and it is known to have none");
    app.host.set_provider(settings(&first)).await.expect("it is changed back");
    list(&app).await.expect("the first lists again");
    assert_eq!(keys_of_first.recv().await.unwrap().as_deref(), Some(KEY), "what was entered for it is still there");
    app.host.close().await;
}

#[tokio::test]
async fn the_latest_address_holds_also_while_the_log_is_slow() {
    let (app, disk) = with_slow_log(|_| ()).await;
    let (first, second) = ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1");
    app.host.set_provider(settings(first)).await.expect("it is set up");
    disk.slow.store(true, Ordering::SeqCst);
    let set = |url: &'static str| {
        let host = app.host.clone();
        tokio::spawn(async move { host.set_provider(settings(url)).await })
    };
    let changed = set(second);
    until_held(&disk).await;
    let changed_back = set(first);
    // The host takes commands in order, so the change back is taken up before the log goes on.
    while !changed_back.is_finished() && disk.waiting.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    disk.slow.store(false, Ordering::SeqCst);
    disk.go_on();
    changed.await.unwrap().expect("it is changed");
    changed_back.await.unwrap().expect("and changed back");
    let kept = app.host.ports().documents.read(Document::Models).unwrap().expect("the providers");
    assert_eq!(kept["providers"][0]["url"], first, "what the user said last holds: {kept}");
    app.host.close().await;
}

#[tokio::test]
async fn what_is_removed_is_forgotten_with_its_keys() {
    let app = App::start(Vec::new()).await;
    let (url, _keys) = provider().await;
    app.host.set_provider(settings(&url)).await.expect("it is set up");
    app.host.set_provider_key("own".into(), SecretString::from(KEY)).await.expect("the key is kept");
    list(&app).await.expect("it lists its models");
    let small = ModelRef { provider: "own".into(), model: "small".into() };
    app.host.set_default_model(Some(small.clone())).await.expect("it is the default");
    let registry = app.host.models().await.unwrap();
    assert_eq!(registry.model(&small).map(|model| model.id.as_str()), Some("small"), "the list is known to all");
    app.host.remove_provider("own".into()).await.expect("it is removed");
    let view = app.host.providers().await.unwrap();
    assert!(view.providers.is_empty(), "it is gone");
    assert_eq!(view.default, None, "and is no default any more");
    let secrets = app.host.ports().secrets.clone();
    let kept = tokio::task::spawn_blocking(move || secrets.keys("model/").unwrap()).await.unwrap();
    assert!(kept.is_empty(), "no key of it is left: {kept:?}");
    let asked = app.host.models().await.unwrap().stream(&small, Request::default()).await;
    assert_eq!(asked.err().map(|error| error.code()), Some("noProvider"), "and its models can't be asked");
    app.host.close().await;
}

#[tokio::test]
async fn lists_outlast_the_host_and_keys_are_in_no_file() {
    let app = App::start(Vec::new()).await;
    let (url, _keys) = provider().await;
    app.host.set_provider(settings(&url)).await.expect("it is set up");
    app.host.set_provider_key("own".into(), SecretString::from(KEY)).await.expect("the key is kept");
    list(&app).await.expect("it lists its models");
    let data = app.folder.path().join("data");
    let lists = std::fs::read_to_string(data.join("model-lists.json")).expect("the lists are kept");
    assert!(lists.contains("small"), "with the model: {lists}");
    for file in std::fs::read_dir(&data).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).unwrap();
        let has_key = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
        assert!(!has_key, "the key is not in {}", file.path().display());
    }
    app.host.close().await;
}

#[tokio::test]
async fn settings_that_can_not_be_used_change_nothing() {
    let app = App::start(Vec::new()).await;
    for url in ["http://user:secret@127.0.0.1/v1", "ftp://127.0.0.1/", "http://127.0.0.1/v1?key=secret"] {
        let refused = app.host.set_provider(settings(url)).await;
        assert!(matches!(refused, Err(ProviderError::Settings(_))), "{url}: {refused:?}");
    }
    let (url, _keys) = provider().await;
    app.host.set_provider(settings(&url)).await.expect("it is set up");
    let path = app.folder.path().join("data").join("models.json");
    std::fs::write(&path, "{ not json").unwrap();
    let refused = app.host.set_provider(settings(&url)).await;
    assert!(matches!(refused, Err(ProviderError::Store(_))), "a broken file is not written over: {refused:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{ not json", "and stays as it is");
    app.host.close().await;
}
