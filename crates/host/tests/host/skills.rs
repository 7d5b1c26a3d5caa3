//! Skills of a server: listed without being read, loaded when they are what was listed.

use host::skills::SkillError;
use offers::skills::Mismatch;
use policy::Hash;
use serde_json::{Value, json};
use testkit::app::{App, scripted};

const URI: &str = "skill://demo/SKILL.md";
const OTHER: &str = "skill://demo/more.md";
const TEXT: &str = "---\nname: demo\ndescription: Shows it\n---\nDo this.\n";

fn entry() -> Value {
    let file = |uri: &str, text: &str| json!({ "uri": uri, "digest": format!("sha256:{}", Hash::of_bytes(text.as_bytes())), "size": text.len() });
    let frontmatter = json!({ "name": "demo", "description": "Shows it" });
    json!({ "uri": URI, "frontmatter": frontmatter, "resources": [file(URI, TEXT), file(OTHER, "more")] })
}

/// A server with the extension that answers these methods, each time with the next of its results.
async fn with(replies: &[(&str, Value)]) -> App {
    let opened = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {}, "resources": {}, "extensions": { "io.modelcontextprotocol/skills": {} } },
        "serverInfo": { "name": "skilled", "version": "1" },
    });
    let mut arguments = vec!["--reply".to_owned(), format!("initialize={opened}")];
    for (method, result) in replies {
        arguments.extend(["--reply".to_owned(), format!("{method}={result}")]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let app = App::start(vec![("s", scripted(&arguments))]).await;
    app.ready("s").await;
    app
}

fn contents(uri: &str, text: &str) -> (&'static str, Value) {
    ("resources/read", json!({ "contents": [{ "uri": uri, "text": text }] }))
}

async fn reads(app: &App) -> usize {
    let activity = app.host.activity("s".into()).await.unwrap();
    let activity = activity.lock().unwrap();
    activity.after(0, usize::MAX).filter(|e| e.sent && e.method.as_deref() == Some("resources/read")).count()
}

#[tokio::test]
async fn a_skill_is_listed_loaded_and_its_files_are_read() {
    let broken = json!({ "uri": "skill://other/SKILL.md" });
    let first = ("skills/list", json!({ "skills": [broken], "nextCursor": "2" }));
    let second = ("skills/list", json!({ "skills": [entry(), entry()] }));
    let app = with(&[first, second, contents(URI, TEXT), contents(OTHER, "more")]).await;
    let list = app.host.skills("s".into()).await.unwrap();
    assert_eq!(list.skills.len(), 1, "one can be loaded: {list:?}");
    assert_eq!(list.dropped.len(), 2, "one breaks a rule, one stands there twice: {list:?}");
    assert_eq!(reads(&app).await, 0, "listing reads no file");
    let loaded = app.host.load_skill("1".into(), "s".into(), list.skills[0].clone()).await.unwrap();
    assert_eq!((loaded.text.as_str(), loaded.server.as_str()), (TEXT, "s"), "its text, and whose it is");
    assert_eq!(reads(&app).await, 1, "loading reads one file");
    let more = app.host.read_skill_file("2".into(), &loaded, OTHER).await.unwrap();
    assert_eq!(more, b"more", "another file of it");
    let foreign = app.host.read_skill_file("3".into(), &loaded, "file:///etc/passwd").await;
    assert!(
        matches!(foreign, Err(SkillError::Mismatch { cause: Mismatch::Unlisted, .. })),
        "no other file: {foreign:?}"
    );
    assert_eq!(reads(&app).await, 2, "what is not listed is not asked for");
    app.host.close().await;
}

#[tokio::test]
async fn what_is_not_as_listed_is_not_used() {
    let changed = TEXT.replace("this", "that");
    let app = with(&[("skills/get", json!({ "skill": entry() })), contents(URI, &changed)]).await;
    let skill = app.host.skill("s".into(), URI.into()).await.unwrap();
    let loaded = app.host.load_skill("1".into(), "s".into(), skill).await;
    let Err(SkillError::Mismatch { server, uri, cause: Mismatch::Digest }) = &loaded else { panic!("{loaded:?}") };
    assert_eq!((server.as_str(), uri.as_str()), ("s", URI), "server and file are named");
    let other = app.host.skill("s".into(), "skill://x/SKILL.md".into()).await;
    assert!(matches!(other, Err(SkillError::Unusable { .. })), "the answer is about another skill: {other:?}");
    app.host.close().await;
}

#[tokio::test]
async fn a_server_without_the_extension_is_not_asked() {
    let app = App::start(vec![("s", scripted(&[]))]).await;
    app.ready("s").await;
    let list = app.host.skills("s".into()).await;
    assert!(matches!(&list, Err(SkillError::Call(_))), "it has none: {list:?}");
    assert!(!app.activity("s").await.contains("skills/list"), "and is not asked");
    app.host.close().await;
}
