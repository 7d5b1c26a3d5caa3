//! Tests of the `models` commands with an independent fake provider.

use std::process::Stdio;

use serde_json::json;

use crate::chat::start_aimock;
use crate::program::{TestFolder, parse_output};

#[test]
fn provider_is_added_tested_made_the_default_and_removed() {
    let folder = TestFolder::new();
    let aimock = start_aimock(&folder, &json!([{"match": {"userMessage": "hello"}, "response": {"content": "Hi."}}]));
    let url = format!("{}/v1", aimock.url);
    let added = folder.run(&["models", "add", "fake", "--url", &url]);
    assert_eq!(added.value()["url"], url.as_str(), "the provider should have the given URL: {:?}", added.value());
    let tried = folder.run(&["models", "test", "fake", "--model", "gpt-4o"]);
    assert_eq!(tried.value()["said"], "Hi.", "the model should reply: {:?}", tried.value());
    let listed = folder.run(&["models", "list", "fake"]);
    let models = listed.value()["models"].as_array().expect("a list");
    assert!(!models.is_empty(), "the list of models should be stored: {models:?}");
    folder.run(&["models", "default", "fake/gpt-4o"]).value();
    let all = folder.run(&["models"]);
    assert_eq!(all.value()["default"], json!({"provider": "fake", "model": "gpt-4o"}), "the default should be stored");
    folder.run(&["models", "remove", "fake"]).value();
    let all = folder.run(&["models", "list"]);
    assert_eq!(all.value()["providers"], json!([]), "the provider should be removed");
    assert_eq!(all.value()["default"], json!(null), "the default should be removed");
    let removed = folder.run(&["models", "test", "fake"]);
    assert_eq!(removed.error(1).0, "not_found", "a missing provider should not be tested");
}

#[test]
fn invalid_provider_is_rejected() {
    let folder = TestFolder::new();
    let unknown = folder.run(&["models", "add", "somewhere"]);
    assert!(unknown.error(2).1.contains("--url"), "an unknown provider should need a URL");
    for url in ["ftp://example.com", "https://user:secret@example.com/v1", "https://example.com/v1?key=secret"] {
        let refused = folder.run(&["models", "add", "x", "--url", url]);
        let (code, message) = refused.error(1);
        assert_eq!(code, "invalid", "{url}: {message}");
        assert!(!message.contains("secret"), "{url}: the URL should not be repeated: {message}");
    }
    let refused = folder.run(&["models", "add", "a b", "--url", "https://example.com"]);
    assert_eq!(refused.error(1).0, "invalid", "an id with spaces should be rejected");
}

#[test]
fn provider_key_is_never_an_argument_and_never_printed() {
    let key = "sk-canary-cli-31c8";
    let folder = TestFolder::new();
    // Without a keychain the key is stored only until the program exits, which is reported.
    let mut command = folder.command();
    let command = command.args(["--json", "models", "add", "openai"]).env("DRAWBRIDGE_MODEL_KEY", key);
    let output = command.stdin(Stdio::null()).output().expect("the program runs");
    assert!(!String::from_utf8_lossy(&output.stderr).contains(key), "the key should not be in the errors");
    assert!(!String::from_utf8_lossy(&output.stdout).contains(key), "the key should not be in the output");
    assert!(parse_output(output).error(1).1.contains("could not be stored"), "the missing keychain should be reported");
    let none = folder.run(&["models", "key", "openai"]);
    assert!(none.error(2).1.contains("DRAWBRIDGE_MODEL_KEY"), "the message should name the variable");
    let data = std::fs::read_dir(folder.path("data")).expect("the data folder");
    for file in data.flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).expect("a file");
        let has_key = bytes.windows(key.len()).any(|part| part == key.as_bytes());
        assert!(!has_key, "the key should not be in {}", file.path().display());
    }
}
