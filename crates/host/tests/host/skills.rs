//! Skills of a server: listed without being read, loaded when they are what was listed.

use domain::call::CallFailure;
use host::skills::{SkillError, SkillFileRead};
use host::view::HostEvent;
use offers::catalog::MAX_ITEMS;
use offers::skills::{Mismatch, SkillFiles};
use policy::Hash;
use serde_json::{Value, json};
use testkit::app::{App, PATIENCE, demo, scripted};

use crate::kept::of_kind;
use crate::rules::set;

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
    started(&[&[("initialize", opened)], replies].concat()).await
}

async fn started(replies: &[(&str, Value)]) -> App {
    misbehaving(replies, &[]).await
}

async fn misbehaving(replies: &[(&str, Value)], rules: &[&str]) -> App {
    let replies = replies.iter().flat_map(|(method, result)| ["--reply".to_owned(), format!("{method}={result}")]);
    let rules = rules.iter().flat_map(|rule| ["--misbehave".to_owned(), (*rule).to_owned()]);
    let arguments: Vec<String> = replies.chain(rules).collect();
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

#[tokio::test]
async fn the_demo_server_has_a_skill_in_both_eras() {
    for era in ["legacy", "modern"] {
        let app = App::start(vec![("harbour", demo(&["--era", era]))]).await;
        app.ready("harbour").await;
        let list = app.host.skills("harbour".into()).await.unwrap();
        assert_eq!((list.skills.len(), list.dropped.len()), (1, 0), "{era}: it is as the extension says: {list:?}");
        let uri = list.skills[0].uri.clone();
        let read = app.host.read_skill("1".into(), "harbour".into(), (uri.clone(), None), None).await.unwrap();
        assert_eq!(read.contents.mime_type.as_deref(), Some("text/markdown"), "{era}: instructions are Markdown");
        let SkillFiles::Listed(files) = &list.skills[0].files else { panic!("{era}: its files are listed") };
        let file = files.last().map(|file| file.uri.clone());
        let read = app
            .host
            .read_skill("2".into(), "harbour".into(), (uri.clone(), Some(list.skills[0].hash())), file.clone())
            .await
            .unwrap();
        assert!(read.contents.text.is_some_and(|text| text.contains("Rules of thumb")), "{era}: a file of it");
        let subjects: Vec<String> = of_kind(&app, "resource").into_iter().map(|entry| entry.subject).collect();
        assert_eq!(
            subjects,
            [Some(uri), file].map(Option::unwrap_or_default),
            "{era}: each reading is in the audit log"
        );
        app.host.close().await;
    }
}

#[tokio::test]
async fn a_skill_is_not_read_against_a_rule_or_outside_of_the_list() {
    let app = with(&[("skills/list", json!({ "skills": [entry()] })), contents(URI, TEXT)]).await;
    let read = |id: &str, uri: &str, file: Option<&str>| {
        app.host.read_skill(id.into(), "s".into(), (uri.into(), None), file.map(str::to_owned))
    };
    let unlisted = read("1", "skill://other/SKILL.md", None).await;
    assert!(matches!(unlisted, Err(SkillError::NotListed { .. })), "another skill is not asked for: {unlisted:?}");
    let outside = read("2", URI, Some("file:///etc/passwd")).await;
    assert!(matches!(outside, Err(SkillError::Mismatch { cause: Mismatch::Unlisted, .. })), "nor a file: {outside:?}");
    set(&app, json!({ "effect": "deny", "server": "s" })).await;
    let denied = read("3", URI, None).await;
    assert!(matches!(denied, Err(SkillError::Call(CallFailure::Refused(_)))), "nor against a rule: {denied:?}");
    assert_eq!(reads(&app).await, 0, "nothing was sent");
    app.host.close().await;
}

#[tokio::test]
async fn a_skill_that_changed_since_it_was_shown_is_not_read() {
    let mut other = entry();
    other["resources"][1]["size"] = json!(7);
    let lists = [entry(), other.clone(), other].map(|entry| ("skills/list", json!({ "skills": [entry] })));
    let app = with(&[&lists[..], &[contents(URI, TEXT)]].concat()).await;
    let list = app.host.skills("s".into()).await.unwrap();
    let shown = Some(list.skills[0].hash());
    let read = app.host.read_skill("1".into(), "s".into(), (URI.into(), shown.clone()), None).await;
    assert!(matches!(read, Err(SkillError::Changed { .. })), "one of its files is another: {read:?}");
    assert_eq!(reads(&app).await, 0, "nothing was sent");
    let read = app.host.read_skill("2".into(), "s".into(), (URI.into(), None), None).await.unwrap();
    assert_ne!(Some(read.skill.hash()), shown, "as it is now, for who saw none");
    app.host.close().await;
}

#[tokio::test]
async fn a_reading_can_be_cancelled_while_the_list_is_read() {
    let opened = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "resources": {}, "extensions": { "io.modelcontextprotocol/skills": {} } },
        "serverInfo": { "name": "skilled", "version": "1" },
    });
    let app = misbehaving(&[("initialize", opened), contents(URI, TEXT)], &["silent@skills/list"]).await;
    let read = || app.host.read_skill("1".into(), "s".into(), (URI.into(), None), None);
    let cancel = async {
        let again = read().await;
        assert!(matches!(again, Err(SkillError::Call(CallFailure::IdInUse(_)))), "the id is taken: {again:?}");
        app.host.cancel_call("1".into()).await
    };
    let (read, cancelled) = tokio::join!(read(), cancel);
    assert_eq!(cancelled, Ok(()), "there is something to cancel");
    assert!(matches!(read, Err(SkillError::Call(CallFailure::Cancelled))), "{read:?}");
    assert_eq!(reads(&app).await, 0, "nothing is read");
    assert!(app.host.cancel_call("1".into()).await.is_err(), "nothing is left of it");
    app.host.close().await;
}

#[tokio::test]
async fn a_list_without_end_is_cut() {
    let page = json!({ "skills": [entry()], "nextCursor": "again" });
    let next = json!({ "skills": (0..1_000).map(|i| json!({ "uri": format!("skill://{i}") })).collect::<Vec<_>>(), "nextCursor": "more" });
    let mut replies = vec![("skills/list", page)];
    replies.extend((0..6).map(|i| {
        let mut page = next.clone();
        page["nextCursor"] = json!(i.to_string());
        ("skills/list", page)
    }));
    let app = with(&replies).await;
    let list = app.host.skills("s".into()).await.unwrap();
    assert!(list.is_cut, "it is said that there are more");
    assert_eq!(list.skills.len() + list.dropped.len(), MAX_ITEMS, "and no more are kept");
    app.host.close().await;
}

/// A modern server with the extension: its answers may be retained for a minute.
async fn retained(replies: &[(&str, Value)]) -> App {
    let cached = |mut result: Value| {
        result["resultType"] = json!("complete");
        result["ttlMs"] = json!(60_000);
        result["cacheScope"] = json!("private");
        result
    };
    let discovered = json!({
        "supportedVersions": ["2026-07-28"],
        "capabilities": { "tools": {}, "resources": {}, "extensions": { "io.modelcontextprotocol/skills": {} } },
        "serverInfo": { "name": "skilled", "version": "1" },
    });
    let replies = [&[("server/discover", discovered)], replies].concat();
    let replies =
        replies.into_iter().flat_map(|(method, result)| ["--reply".to_owned(), format!("{method}={}", cached(result))]);
    let arguments: Vec<String> =
        ["--revision".to_owned(), "2026-07-28".to_owned()].into_iter().chain(replies).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let app = App::start(vec![("s", scripted(&arguments))]).await;
    app.ready("s").await;
    app
}

/// The entry of the same skill with other instructions.
fn entry_of(text: &str) -> Value {
    let mut changed = entry();
    changed["resources"][0]["digest"] = json!(format!("sha256:{}", Hash::of_bytes(text.as_bytes())));
    changed["resources"][0]["size"] = json!(text.len());
    changed
}

#[tokio::test]
async fn retained_contents_that_no_longer_match_are_read_again() {
    let (second, third) = (TEXT.replace("this", "that"), TEXT.replace("this", "both"));
    let lists =
        [entry(), entry_of(&second), entry_of(&third)].map(|entry| ("skills/list", json!({ "skills": [entry] })));
    // The server changes its contents once only: the third list promises what never comes.
    let app = retained(&[&lists[..], &[contents(URI, TEXT), contents(URI, &second)]].concat()).await;
    let read = |id: &str| app.host.read_skill(id.into(), "s".into(), (URI.into(), None), None);
    let text = |read: Result<SkillFileRead, SkillError>| read.unwrap().contents.text;
    assert_eq!(text(read("1").await).as_deref(), Some(TEXT), "as it was listed first");
    assert_eq!(reads(&app).await, 1, "from the server");
    assert_eq!(text(read("2").await), Some(second), "the retained contents are older than the list");
    assert_eq!(reads(&app).await, 2, "so the server is asked again, once");
    let third = read("3").await;
    assert!(
        matches!(third, Err(SkillError::Mismatch { cause: Mismatch::Digest, .. })),
        "what the second read brings is checked as well: {third:?}"
    );
    assert_eq!(reads(&app).await, 3, "and there is no further one");
    app.host.close().await;
}

/// Of the files of a dynamic skill nothing can be compared but the head of its `SKILL.md`.
#[tokio::test]
async fn retained_files_of_a_dynamic_skill_are_used_until_its_head_is_another() {
    let dynamic = |description: &str| {
        let mut entry = entry();
        entry["resources"] = json!("dynamic");
        entry["frontmatter"]["description"] = json!(description);
        ("skills/list", json!({ "skills": [entry] }))
    };
    let [old, new] = ["Shows it", "Shows more"];
    let second = TEXT.replace(old, new);
    let lists = [old, old, old, old, new].map(dynamic);
    let files = [contents(URI, TEXT), contents(OTHER, "more"), contents(URI, &second)];
    let app = retained(&[&lists[..], &files].concat()).await;
    let read = async |id: &str, file: Option<&str>| {
        let read = app.host.read_skill(id.into(), "s".into(), (URI.into(), None), file.map(str::to_owned)).await;
        (read.unwrap().contents.text.unwrap(), reads(&app).await)
    };
    assert_eq!(read("1", None).await, (TEXT.to_owned(), 1), "its instructions come from the server");
    assert_eq!(read("2", None).await, (TEXT.to_owned(), 1), "then they are retained");
    assert_eq!(read("3", Some(OTHER)).await, ("more".to_owned(), 2), "another file comes from the server");
    assert_eq!(read("4", Some(OTHER)).await, ("more".to_owned(), 2), "and is retained, too");
    assert_eq!(read("5", None).await, (second, 3), "what is retained has another head than the list by now");
    app.host.close().await;
}

#[tokio::test]
async fn a_binary_file_is_given_as_it_is_and_text_as_what_was_checked() {
    let mut listed = entry();
    let digest = format!("sha256:{}", Hash::of_bytes(&[0, 255]));
    let image = "skill://demo/a.png";
    let file = json!({ "uri": image, "digest": digest, "size": 2 });
    listed["resources"].as_array_mut().unwrap().push(file);
    let answer = |content: Value| ("resources/read", json!({ "contents": [content] }));
    let answers = [
        answer(json!({ "uri": image, "blob": "AP8=", "mimeType": "image/png" })),
        answer(json!({ "uri": OTHER, "text": "more", "blob": "AP8=" })),
        answer(json!({ "uri": image, "blob": "no base64" })),
    ];
    let app = with(&[&[("skills/list", json!({ "skills": [listed] }))][..], &answers].concat()).await;
    let read = |id: &str, file: &str| app.host.read_skill(id.into(), "s".into(), (URI.into(), None), Some(file.into()));
    let binary = read("1", image).await.unwrap().contents;
    assert_eq!((binary.text, binary.blob.as_deref()), (None, Some("AP8=")), "its bytes, and no text");
    assert_eq!(binary.mime_type.as_deref(), Some("image/png"), "of the type that the server names");
    let both = read("2", OTHER).await.unwrap().contents;
    assert_eq!((both.text.as_deref(), both.blob), (Some("more"), None), "bytes that nobody compared are left out");
    let broken = read("3", image).await;
    assert!(
        matches!(broken, Err(SkillError::Mismatch { cause: Mismatch::OtherContents, .. })),
        "what can't be decoded is not used: {broken:?}"
    );
    app.host.close().await;
}

#[tokio::test]
async fn a_file_that_is_not_as_listed_is_not_read_as_part_of_a_skill() {
    let cases = [
        ("of another length", json!([{ "uri": OTHER, "text": "more!" }]), Mismatch::Size { listed: 4, found: 5 }),
        ("other bytes", json!([{ "uri": OTHER, "text": "mire" }]), Mismatch::Digest),
        ("another file", json!([{ "uri": URI, "text": "more" }]), Mismatch::OtherContents),
        ("nothing", json!([]), Mismatch::OtherContents),
    ];
    let answers = cases.clone().map(|(_, contents, _)| ("resources/read", json!({ "contents": contents })));
    let app = with(&[&[("skills/list", json!({ "skills": [entry()] }))][..], &answers].concat()).await;
    for (number, (what, _, expected)) in cases.into_iter().enumerate() {
        let read = app.host.read_skill(what.into(), "s".into(), (URI.into(), None), Some(OTHER.into())).await;
        let Err(SkillError::Mismatch { server, uri, cause }) = read else { panic!("{what}: {read:?}") };
        assert_eq!((server.as_str(), uri.as_str(), cause), ("s", OTHER, expected), "{what}: server and file are named");
        assert_eq!(reads(&app).await, number + 1, "{what}: what was not retained is asked for once");
    }
    app.host.close().await;
}

/// The page lists skills again upon this event, as the extension has none of its own.
#[tokio::test]
async fn an_announced_change_of_resources_is_told_even_if_their_list_stays_the_same() {
    let announced = json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed" });
    let answer = r#"{"jsonrpc":"2.0","id":$ID,"result":{"contents":[]}}"#;
    let app = App::start(vec![("s", scripted(&["--raw", &format!("resources/read={announced}\n{answer}")]))]).await;
    app.ready("s").await;
    let mut events = app.host.events();
    while !app.host.catalog("s".into()).await.unwrap().is_read {
        tokio::time::timeout(PATIENCE, events.next()).await.expect("its lists are read");
    }
    let mut events = app.host.events();
    app.host.read("1".into(), "s".into(), "test://one".into(), false).await.unwrap();
    let told = async {
        while let Some(event) = events.next().await {
            if matches!(&event.event, HostEvent::CatalogChanged(server) if server == "s") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, told).await.expect("it is told");
    app.host.close().await;
}
