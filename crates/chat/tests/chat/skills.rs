//! Tests of a server's skills: listing reads no files, and a file is used only if it matches its entry in the list.

use chat::skills::{SkillError, SkillReader, VerifiedSkillFile};
use domain::call::CallFailure;
use host::view::HostEvent;
use offers::catalog::MAX_CATALOG_LIST_ITEMS;
use offers::skills::{SkillFiles, SkillMismatch};
use policy::Hash;
use serde_json::{Value, json};
use testkit::app::{EVENT_TIMEOUT, TestApp, demo_config, scripted_config};

const SKILL_URI: &str = "skill://demo/SKILL.md";
const SECOND_SKILL_FILE_URI: &str = "skill://demo/more.md";
const SKILL_TEXT: &str = "---\nname: demo\ndescription: Shows it\n---\nDo this.\n";

fn skill_entry() -> Value {
    let file = |uri: &str, text: &str| json!({ "uri": uri, "digest": format!("sha256:{}", Hash::of_bytes(text.as_bytes())), "size": text.len() });
    let frontmatter = json!({ "name": "demo", "description": "Shows it" });
    let resources = [file(SKILL_URI, SKILL_TEXT), file(SECOND_SKILL_FILE_URI, "more")];
    json!({ "uri": SKILL_URI, "frontmatter": frontmatter, "resources": resources })
}

fn skill_reader(app: &TestApp) -> SkillReader<'_> {
    SkillReader::new(&app.host)
}

/// Starts a server with the skills extension. `replies` are pairs of a method and a result: the server responds to the
/// requests of a method with the results of that method, in order.
async fn start_app_with_skills_server(replies: &[(&str, Value)]) -> TestApp {
    let opened = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {}, "resources": {}, "extensions": { "io.modelcontextprotocol/skills": {} } },
        "serverInfo": { "name": "skilled", "version": "1" },
    });
    start_app_with_scripted_replies(&[&[("initialize", opened)], replies].concat()).await
}

async fn start_app_with_scripted_replies(replies: &[(&str, Value)]) -> TestApp {
    start_app_with_replies_and_rules(replies, &[]).await
}

async fn start_app_with_replies_and_rules(replies: &[(&str, Value)], rules: &[&str]) -> TestApp {
    let replies = replies.iter().flat_map(|(method, result)| ["--reply".to_owned(), format!("{method}={result}")]);
    let rules = rules.iter().flat_map(|rule| ["--misbehave".to_owned(), (*rule).to_owned()]);
    let arguments: Vec<String> = replies.chain(rules).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let app = TestApp::start(vec![("s", scripted_config(&arguments))]).await;
    app.ready("s").await;
    app
}

fn resource_contents_reply(uri: &str, text: &str) -> (&'static str, Value) {
    ("resources/read", json!({ "contents": [{ "uri": uri, "text": text }] }))
}

async fn resource_read_count(app: &TestApp) -> usize {
    let page = app.host.activity_page("s".into(), 0, usize::MAX).await.unwrap();
    page.entries.iter().filter(|e| e.sent && e.method.as_deref() == Some("resources/read")).count()
}

#[tokio::test]
async fn skill_is_listed_loaded_and_its_files_are_read() {
    let broken = json!({ "uri": "skill://other/SKILL.md" });
    let first = ("skills/list", json!({ "skills": [broken], "nextCursor": "2" }));
    let second = ("skills/list", json!({ "skills": [skill_entry(), skill_entry()] }));
    let app = start_app_with_skills_server(&[
        first,
        second,
        resource_contents_reply(SKILL_URI, SKILL_TEXT),
        resource_contents_reply(SECOND_SKILL_FILE_URI, "more"),
    ])
    .await;
    let list = skill_reader(&app).list("s".into()).await.unwrap();
    assert_eq!(list.skills.len(), 1, "one skill can be loaded: {list:?}");
    assert_eq!(list.dropped.len(), 2, "an invalid and a duplicate entry are dropped: {list:?}");
    assert_eq!(resource_read_count(&app).await, 0, "listing reads no file");
    let loaded = skill_reader(&app).load("1".into(), "s".into(), list.skills[0].clone()).await.unwrap();
    assert_eq!(
        (loaded.text.as_str(), loaded.server.as_str()),
        (SKILL_TEXT, "s"),
        "the skill has its text and its server"
    );
    assert_eq!(resource_read_count(&app).await, 1, "loading reads one file");
    let more = skill_reader(&app).read_file("2".into(), &loaded, SECOND_SKILL_FILE_URI).await.unwrap();
    assert_eq!(more, b"more", "another file of the skill can be read");
    let foreign = skill_reader(&app).read_file("3".into(), &loaded, "file:///etc/passwd").await;
    assert!(
        matches!(foreign, Err(SkillError::Mismatch { cause: SkillMismatch::Unlisted, .. })),
        "an unlisted file is refused: {foreign:?}"
    );
    assert_eq!(resource_read_count(&app).await, 2, "no request is sent for an unlisted file");
    app.host.close().await;
}

#[tokio::test]
async fn skill_text_that_differs_from_its_listed_hash_is_rejected() {
    let changed = SKILL_TEXT.replace("this", "that");
    let app = start_app_with_skills_server(&[
        ("skills/get", json!({ "skill": skill_entry() })),
        resource_contents_reply(SKILL_URI, &changed),
    ])
    .await;
    let skill = skill_reader(&app).get("s".into(), SKILL_URI.into()).await.unwrap();
    let loaded = skill_reader(&app).load("1".into(), "s".into(), skill).await;
    let Err(SkillError::Mismatch { server, uri, cause: SkillMismatch::Digest }) = &loaded else { panic!("{loaded:?}") };
    assert_eq!((server.as_str(), uri.as_str()), ("s", SKILL_URI), "the error names the server and the file");
    let other = skill_reader(&app).get("s".into(), "skill://x/SKILL.md".into()).await;
    assert!(matches!(other, Err(SkillError::Unusable { .. })), "a response about another skill is refused: {other:?}");
    app.host.close().await;
}

#[tokio::test]
async fn server_without_skills_extension_receives_no_skill_request() {
    let app = TestApp::start(vec![("s", scripted_config(&[]))]).await;
    app.ready("s").await;
    let list = skill_reader(&app).list("s".into()).await;
    assert!(matches!(&list, Err(SkillError::Call(_))), "the server has no skills: {list:?}");
    assert!(!app.activity("s").await.contains("skills/list"), "no request is sent");
    app.host.close().await;
}

#[tokio::test]
async fn demo_server_has_a_skill_in_both_eras() {
    for era in ["legacy", "modern"] {
        let app = TestApp::start(vec![("harbour", demo_config(&["--era", era]))]).await;
        app.ready("harbour").await;
        let list = skill_reader(&app).list("harbour".into()).await.unwrap();
        assert_eq!((list.skills.len(), list.dropped.len()), (1, 0), "{era}: the skill follows the extension: {list:?}");
        let uri = list.skills[0].uri.clone();
        let read = skill_reader(&app).read("1".into(), "harbour".into(), (uri.clone(), None), None).await.unwrap();
        assert_eq!(read.contents.mime_type.as_deref(), Some("text/markdown"), "{era}: instructions are Markdown");
        let SkillFiles::Listed(files) = &list.skills[0].files else { panic!("{era}: the files are not listed") };
        let file = files.last().map(|file| file.uri.clone());
        let read = skill_reader(&app)
            .read("2".into(), "harbour".into(), (uri.clone(), Some(list.skills[0].hash())), file.clone())
            .await
            .unwrap();
        assert!(read.contents.text.is_some_and(|text| text.contains("Rules of thumb")), "{era}: the file is returned");
        let subjects: Vec<String> = app.entries_of_kind("resource").into_iter().map(|entry| entry.subject).collect();
        assert_eq!(
            subjects,
            [Some(uri), file].map(Option::unwrap_or_default),
            "{era}: each reading is in the audit log"
        );
        app.host.close().await;
    }
}

#[tokio::test]
async fn skill_denied_by_a_rule_or_unlisted_is_not_read() {
    let app = start_app_with_skills_server(&[
        ("skills/list", json!({ "skills": [skill_entry()] })),
        resource_contents_reply(SKILL_URI, SKILL_TEXT),
    ])
    .await;
    let read = |id: &str, uri: &str, file: Option<&str>| {
        skill_reader(&app).read(id.into(), "s".into(), (uri.into(), None), file.map(str::to_owned))
    };
    let unlisted = read("1", "skill://other/SKILL.md", None).await;
    assert!(matches!(unlisted, Err(SkillError::NotListed { .. })), "an unlisted skill is refused: {unlisted:?}");
    let outside = read("2", SKILL_URI, Some("file:///etc/passwd")).await;
    assert!(
        matches!(outside, Err(SkillError::Mismatch { cause: SkillMismatch::Unlisted, .. })),
        "an unlisted file is refused: {outside:?}"
    );
    app.add_rule(json!({ "effect": "deny", "server": "s" })).await;
    let denied = read("3", SKILL_URI, None).await;
    assert!(
        matches!(denied, Err(SkillError::Call(CallFailure::Refused { .. }))),
        "a rule denies the skill: {denied:?}"
    );
    assert_eq!(resource_read_count(&app).await, 0, "nothing was sent");
    app.host.close().await;
}

#[tokio::test]
async fn skill_changed_since_it_was_shown_is_not_read() {
    let mut other = skill_entry();
    other["resources"][1]["size"] = json!(7);
    let lists = [skill_entry(), other.clone(), other].map(|entry| ("skills/list", json!({ "skills": [entry] })));
    let app =
        start_app_with_skills_server(&[&lists[..], &[resource_contents_reply(SKILL_URI, SKILL_TEXT)]].concat()).await;
    let list = skill_reader(&app).list("s".into()).await.unwrap();
    let shown = Some(list.skills[0].hash());
    let read = skill_reader(&app).read("1".into(), "s".into(), (SKILL_URI.into(), shown.clone()), None).await;
    assert!(matches!(read, Err(SkillError::Changed { .. })), "a changed skill is refused: {read:?}");
    assert_eq!(resource_read_count(&app).await, 0, "nothing was sent");
    let read = skill_reader(&app).read("2".into(), "s".into(), (SKILL_URI.into(), None), None).await.unwrap();
    assert_ne!(Some(read.skill.hash()), shown, "without a displayed entry the current one is used");
    app.host.close().await;
}

#[tokio::test]
async fn skill_read_can_be_cancelled_while_the_skill_list_is_read() {
    let opened = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "resources": {}, "extensions": { "io.modelcontextprotocol/skills": {} } },
        "serverInfo": { "name": "skilled", "version": "1" },
    });
    let app = start_app_with_replies_and_rules(
        &[("initialize", opened), resource_contents_reply(SKILL_URI, SKILL_TEXT)],
        &["silent@skills/list"],
    )
    .await;
    let read = || skill_reader(&app).read("1".into(), "s".into(), (SKILL_URI.into(), None), None);
    let cancel = async {
        let again = read().await;
        assert!(matches!(again, Err(SkillError::Call(CallFailure::IdInUse(_)))), "the id is in use: {again:?}");
        app.host.cancel_call("1".into()).await
    };
    let (read, cancelled) = tokio::join!(read(), cancel);
    assert_eq!(cancelled, Ok(false), "the list is read before the call is sent");
    assert!(matches!(read, Err(SkillError::Call(CallFailure::Cancelled))), "{read:?}");
    assert_eq!(resource_read_count(&app).await, 0, "no file is read");
    assert!(app.host.cancel_call("1".into()).await.is_err(), "the cancelled reading has ended");
    app.host.close().await;
}

#[tokio::test]
async fn endless_skill_list_is_truncated() {
    let page = json!({ "skills": [skill_entry()], "nextCursor": "again" });
    let next = json!({ "skills": (0..1_000).map(|i| json!({ "uri": format!("skill://{i}") })).collect::<Vec<_>>(), "nextCursor": "more" });
    let mut replies = vec![("skills/list", page)];
    replies.extend((0..6).map(|i| {
        let mut page = next.clone();
        page["nextCursor"] = json!(i.to_string());
        ("skills/list", page)
    }));
    let app = start_app_with_skills_server(&replies).await;
    let list = skill_reader(&app).list("s".into()).await.unwrap();
    assert!(list.is_cut, "the list is marked as truncated");
    assert_eq!(list.skills.len() + list.dropped.len(), MAX_CATALOG_LIST_ITEMS, "the number of entries is limited");
    app.host.close().await;
}

/// Starts a server of revision 2026-07-28 with the skills extension, whose responses may be cached for a minute.
async fn start_caching_server(replies: &[(&str, Value)]) -> TestApp {
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
    let app = TestApp::start(vec![("s", scripted_config(&arguments))]).await;
    app.ready("s").await;
    app
}

/// Returns a list entry of the test skill whose `SKILL.md` contains this text.
fn skill_entry_with_text(text: &str) -> Value {
    let mut changed = skill_entry();
    changed["resources"][0]["digest"] = json!(format!("sha256:{}", Hash::of_bytes(text.as_bytes())));
    changed["resources"][0]["size"] = json!(text.len());
    changed
}

#[tokio::test]
async fn cached_skill_contents_that_no_longer_match_are_read_again() {
    let (second, third) = (SKILL_TEXT.replace("this", "that"), SKILL_TEXT.replace("this", "both"));
    let lists = [skill_entry(), skill_entry_with_text(&second), skill_entry_with_text(&third)]
        .map(|entry| ("skills/list", json!({ "skills": [entry] })));
    // The server's file changes only once: it never matches the third list.
    let app = start_caching_server(
        &[&lists[..], &[resource_contents_reply(SKILL_URI, SKILL_TEXT), resource_contents_reply(SKILL_URI, &second)]]
            .concat(),
    )
    .await;
    let read = |id: &str| skill_reader(&app).read(id.into(), "s".into(), (SKILL_URI.into(), None), None);
    let text = |read: Result<VerifiedSkillFile, SkillError>| read.unwrap().contents.text;
    assert_eq!(text(read("1").await).as_deref(), Some(SKILL_TEXT), "the file matches the first list");
    assert_eq!(resource_read_count(&app).await, 1, "the file is requested from the server");
    assert_eq!(text(read("2").await), Some(second), "the retained contents are older than the list");
    assert_eq!(resource_read_count(&app).await, 2, "the file is requested once more");
    let third = read("3").await;
    assert!(
        matches!(third, Err(SkillError::Mismatch { cause: SkillMismatch::Digest, .. })),
        "the second response is verified too: {third:?}"
    );
    assert_eq!(resource_read_count(&app).await, 3, "no third request is sent");
    app.host.close().await;
}

/// Cached files of a dynamic skill are used until the skill's frontmatter changes. The list entry of such a skill has
/// no digests, so only the frontmatter of its `SKILL.md` can be compared.
#[tokio::test]
async fn cached_files_of_a_dynamic_skill_are_used_until_its_frontmatter_changes() {
    let dynamic = |description: &str| {
        let mut entry = skill_entry();
        entry["resources"] = json!("dynamic");
        entry["frontmatter"]["description"] = json!(description);
        ("skills/list", json!({ "skills": [entry] }))
    };
    let [old, new] = ["Shows it", "Shows more"];
    let second = SKILL_TEXT.replace(old, new);
    let lists = [old, old, old, old, new].map(dynamic);
    let files = [
        resource_contents_reply(SKILL_URI, SKILL_TEXT),
        resource_contents_reply(SECOND_SKILL_FILE_URI, "more"),
        resource_contents_reply(SKILL_URI, &second),
    ];
    let app = start_caching_server(&[&lists[..], &files].concat()).await;
    let read = async |id: &str, file: Option<&str>| {
        let read =
            skill_reader(&app).read(id.into(), "s".into(), (SKILL_URI.into(), None), file.map(str::to_owned)).await;
        (read.unwrap().contents.text.unwrap(), resource_read_count(&app).await)
    };
    assert_eq!(read("1", None).await, (SKILL_TEXT.to_owned(), 1), "the instructions are requested from the server");
    assert_eq!(read("2", None).await, (SKILL_TEXT.to_owned(), 1), "the instructions are cached");
    assert_eq!(
        read("3", Some(SECOND_SKILL_FILE_URI)).await,
        ("more".to_owned(), 2),
        "another file is requested from the server"
    );
    assert_eq!(read("4", Some(SECOND_SKILL_FILE_URI)).await, ("more".to_owned(), 2), "the other file is cached");
    assert_eq!(read("5", None).await, (second, 3), "cached instructions with another head are requested again");
    app.host.close().await;
}

#[tokio::test]
async fn binary_skill_file_is_unmodified_and_text_has_no_unverified_bytes() {
    let mut listed = skill_entry();
    let digest = format!("sha256:{}", Hash::of_bytes(&[0, 255]));
    let image = "skill://demo/a.png";
    let file = json!({ "uri": image, "digest": digest, "size": 2 });
    listed["resources"].as_array_mut().unwrap().push(file);
    let answer = |content: Value| ("resources/read", json!({ "contents": [content] }));
    let answers = [
        answer(json!({ "uri": image, "blob": "AP8=", "mimeType": "image/png" })),
        answer(json!({ "uri": SECOND_SKILL_FILE_URI, "text": "more", "blob": "AP8=" })),
        answer(json!({ "uri": image, "blob": "no base64" })),
    ];
    let app =
        start_app_with_skills_server(&[&[("skills/list", json!({ "skills": [listed] }))][..], &answers].concat()).await;
    let read = |id: &str, file: &str| {
        skill_reader(&app).read(id.into(), "s".into(), (SKILL_URI.into(), None), Some(file.into()))
    };
    let binary = read("1", image).await.unwrap().contents;
    assert_eq!((binary.text, binary.blob.as_deref()), (None, Some("AP8=")), "a binary file has bytes and no text");
    assert_eq!(binary.mime_type.as_deref(), Some("image/png"), "the media type is the server's");
    let both = read("2", SECOND_SKILL_FILE_URI).await.unwrap().contents;
    assert_eq!((both.text.as_deref(), both.blob), (Some("more"), None), "unverified bytes are dropped");
    let broken = read("3", image).await;
    assert!(
        matches!(broken, Err(SkillError::Mismatch { cause: SkillMismatch::OtherContents, .. })),
        "invalid base64 is refused: {broken:?}"
    );
    app.host.close().await;
}

#[tokio::test]
async fn skill_file_that_differs_from_its_listed_hash_is_rejected() {
    let cases = [
        (
            "of another length",
            json!([{ "uri": SECOND_SKILL_FILE_URI, "text": "more!" }]),
            SkillMismatch::Size { listed: 4, found: 5 },
        ),
        ("other bytes", json!([{ "uri": SECOND_SKILL_FILE_URI, "text": "mire" }]), SkillMismatch::Digest),
        ("another file", json!([{ "uri": SKILL_URI, "text": "more" }]), SkillMismatch::OtherContents),
        ("nothing", json!([]), SkillMismatch::OtherContents),
    ];
    let answers = cases.clone().map(|(_, contents, _)| ("resources/read", json!({ "contents": contents })));
    let app = start_app_with_skills_server(
        &[&[("skills/list", json!({ "skills": [skill_entry()] }))][..], &answers].concat(),
    )
    .await;
    for (number, (what, _, expected)) in cases.into_iter().enumerate() {
        let read = skill_reader(&app)
            .read(what.into(), "s".into(), (SKILL_URI.into(), None), Some(SECOND_SKILL_FILE_URI.into()))
            .await;
        let Err(SkillError::Mismatch { server, uri, cause }) = read else { panic!("{what}: {read:?}") };
        assert_eq!(
            (server.as_str(), uri.as_str(), cause),
            ("s", SECOND_SKILL_FILE_URI, expected),
            "{what}: the error names the server and the file"
        );
        assert_eq!(resource_read_count(&app).await, number + 1, "{what}: an uncached file is requested once");
    }
    app.host.close().await;
}

/// A notification that the list of resources changed is reported to observers even if the list turns out to be equal.
/// The page lists skills again after this event, since the extension defines no notification about changed skills.
#[tokio::test]
async fn resource_list_change_is_reported_even_if_the_new_list_is_equal() {
    let announced = json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed" });
    let answer = r#"{"jsonrpc":"2.0","id":$ID,"result":{"contents":[]}}"#;
    let app =
        TestApp::start(vec![("s", scripted_config(&["--raw", &format!("resources/read={announced}\n{answer}")]))])
            .await;
    app.ready("s").await;
    let mut events = app.host.events();
    while !app.host.catalog("s".into()).await.unwrap().is_read {
        tokio::time::timeout(EVENT_TIMEOUT, events.next()).await.expect("the lists are read");
    }
    let mut events = app.host.events();
    app.host.read_resource_with_freshness("1".into(), "s".into(), "test://one".into(), false).await.unwrap();
    let notification = async {
        while let Some(event) = events.next().await {
            if matches!(&event.event, HostEvent::CatalogChanged(server) if server == "s") {
                return;
            }
        }
    };
    tokio::time::timeout(EVENT_TIMEOUT, notification).await.expect("the event arrives");
    app.host.close().await;
}
