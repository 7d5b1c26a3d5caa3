//! Tests of parsing registry responses within bounds.

use registry::server_json::{
    ArgumentKind, EntryError, InputFormat, MAX_ADDRESS_BYTES, MAX_ARGUMENTS_OR_VARIABLES, MAX_DISPLAYED_TEXT_BYTES,
    MAX_ENTRY_BYTES, MAX_INPUT_CHOICES, MAX_INPUT_VALUE_BYTES, MAX_INSTALL_TARGETS, MAX_JSON_DEPTH, MAX_LABEL_BYTES,
    MAX_PAGE_ENTRIES, MAX_SUPPLEMENTARY_ELEMENTS, MAX_VALUE_VARIABLES, MAX_VERSION_BYTES, read_entry, read_page,
};
use registry::{ListingStatus, RegistryEntry};
use serde_json::{Value, json};

fn read_value(entry: &Value) -> Result<RegistryEntry, EntryError> {
    read_entry(entry.to_string().as_bytes())
}

fn entry_with(member: &str, value: Value) -> Value {
    let mut entry =
        json!({ "server": { "name": "io.github.alice/notes", "description": "Notes", "version": "1.0.0" } });
    entry["server"][member] = value;
    entry
}

fn entry_with_package(member: &str, value: Value) -> Value {
    let mut package =
        json!({ "registryType": "npm", "identifier": "notes", "version": "1.0.0", "transport": { "type": "stdio" } });
    package[member] = value;
    entry_with("packages", json!([package]))
}

fn refusal_text(entry: &Value) -> String {
    match read_value(entry) {
        Ok(_) => panic!("the entry must be refused: {:.200}", entry.to_string()),
        Err(error) => error.to_string(),
    }
}

#[test]
fn all_members_are_parsed() {
    let entry = read_value(&json!({
        "server": {
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": "com.example/notes", "title": "Notes", "description": "Keeps notes", "version": "2.1.0",
            "websiteUrl": "https://notes.example", "somethingNew": { "a": [1] },
            "repository": { "url": "https://github.com/alice/notes", "source": "github", "id": "77", "subfolder": "server" },
            "icons": [{ "src": "https://notes.example/i.png", "mimeType": "image/png", "sizes": ["48x48"] }],
            "packages": [{
                "registryType": "npm", "identifier": "@alice/notes", "version": "2.1.0", "runtimeHint": "npx",
                "fileSha256": "ab", "registryBaseUrl": "https://registry.npmjs.org",
                "transport": { "type": "streamable-http", "url": "http://127.0.0.1:{port}/mcp" },
                "runtimeArguments": [{ "type": "named", "name": "--loglevel", "value": "warn" }],
                "packageArguments": [{
                    "type": "positional", "valueHint": "folder", "format": "filepath", "isRepeated": true, "isRequired": true,
                }],
                "environmentVariables": [{
                    "name": "KEY", "description": "A\nkey", "isSecret": true, "value": "Bearer {key}", "default": 5, "choices": ["a", 1, true],
                    "variables": { "key": { "isRequired": true, "placeholder": "abc" }, "another": {} },
                }],
                "postInstallInstructions": [{ "description": "Log in", "command": "notes login", "optional": true }],
            }],
            "remotes": [{ "type": "sse", "url": "https://{team}.example", "variables": { "team": { "format": "something" } }, "headers": null }],
        },
        "_meta": {
            "io.modelcontextprotocol.registry/official": {
                "status": "deprecated", "statusMessage": "use\u{202e}notes2", "statusChangedAt": "2026-01-02T03:04:05Z",
                "publishedAt": "2025-12-01T00:00:00.5+01:00", "updatedAt": "yesterday", "isLatest": true,
            },
            "com.example.scores": { "stars": 4 },
        },
    }))
    .unwrap();
    let server = entry.server;
    assert_eq!((server.name.as_str(), server.version.as_str()), ("com.example/notes", "2.1.0"));
    assert_eq!(server.title.as_deref(), Some("Notes"));
    assert_eq!(server.repository.unwrap().id.as_deref(), Some("77"));
    assert_eq!(server.icons[0].mime_type.as_deref(), Some("image/png"));
    let package = &server.packages[0];
    assert_eq!(package.transport.as_ref().unwrap().kind, "streamable-http");
    assert_eq!(package.runtime_arguments[0].kind, ArgumentKind::Named);
    let folder = &package.package_arguments[0];
    assert!(
        folder.is_repeated && folder.value.input.is_required,
        "members of the argument and of its value must both be parsed"
    );
    assert_eq!((folder.value_hint.as_deref(), folder.value.input.format), (Some("folder"), InputFormat::Filepath));
    let key = &package.environment_variables[0].value;
    assert_eq!(key.input.description.as_deref(), Some("A key"), "line breaks in a text for display must be removed");
    assert_eq!((key.input.default.as_deref(), key.input.choices.join(",")), (Some("5"), "a,1,true".to_owned()));
    assert_eq!(
        key.variables.keys().collect::<Vec<_>>(),
        ["key", "another"],
        "variables must be in the publisher's order"
    );
    assert_eq!(package.post_install_instructions[0].command.as_deref(), Some("notes login"));
    assert_eq!(server.remotes[0].variables["team"].format, InputFormat::String, "an unknown format must count as text");
    let listing = entry.listing.unwrap();
    assert_eq!((listing.status, listing.is_latest), (ListingStatus::Deprecated, true));
    assert_eq!(
        listing.status_message.as_deref(),
        Some("use\\u{202e}notes2"),
        "direction-changing characters must be escaped"
    );
    assert_eq!(listing.status_changed_at, Some(1_767_323_045_000));
    assert_eq!(listing.published_at, Some(1_764_543_600_500));
    assert_eq!(listing.updated_at, None, "an invalid time must be dropped");
    assert_eq!(
        entry.claims.into_iter().collect::<Vec<_>>(),
        [("com.example.scores".to_owned(), json!({ "stars": 4 }))]
    );
}

#[test]
fn optional_members_may_be_absent() {
    let entry = read_value(&entry_with("packages", Value::Null)).unwrap();
    assert!(entry.listing.is_none() && entry.server.packages.is_empty() && entry.server.remotes.is_empty());
    let listing = json!({ "io.modelcontextprotocol.registry/official": { "status": "sleeping" } });
    let entry = read_value(&json!({ "server": entry_with("title", Value::Null)["server"], "_meta": listing })).unwrap();
    assert_eq!(entry.listing.unwrap().status, ListingStatus::Unknown, "an unknown status must not count as active");
}

#[test]
fn formats_before_2025_09_16_are_rejected_with_a_message() {
    let old = [
        entry_with("version_detail", json!({ "version": "1.0.0" })),
        entry_with("id", json!("4f5a")),
        entry_with("website_url", json!("https://notes.example")),
        entry_with_package("registry_type", json!("npm")),
        entry_with_package("environment_variables", json!([])),
        entry_with("remotes", json!([{ "type": "sse", "transport_type": "sse", "url": "https://a.example" }])),
        json!({ "name": "io.github.alice/notes", "description": "Notes", "version": "1.0.0" }),
    ];
    for entry in old {
        let error = read_value(&entry).unwrap_err();
        assert!(matches!(error, EntryError::LegacyFormat(_)), "{entry}: {error}");
        assert!(error.to_string().contains("2025-09-16"), "{error}");
    }
}

#[test]
fn names_and_versions_are_validated() {
    for name in ["notes", "/notes", "io.github.alice/", "a/b/c", "a b/c", "a/ü", "../a", "a_b/c", "a/b\u{202e}", ""] {
        refusal_text(&entry_with("name", json!(name)));
    }
    refusal_text(&entry_with("name", json!(format!("a/{}", "b".repeat(199)))));
    read_value(&entry_with("name", json!("A.b-c/D_e.f-g"))).unwrap();
    for version in ["", ".", "..", "1 0", "1\n0", "1\u{200b}0"] {
        refusal_text(&entry_with("version", json!(version)));
    }
    refusal_text(&entry_with("version", json!("1".repeat(256))));
    read_value(&entry_with("version", json!("2026.01-ü+7"))).unwrap();
}

#[test]
fn every_member_is_bounded() {
    let text = |bytes: usize| json!("a".repeat(bytes));
    let some = |count: usize, value: Value| Value::Array(vec![value; count]);
    let named =
        |count: usize| (0..count).map(|number| (number.to_string(), json!({}))).collect::<serde_json::Map<_, _>>();
    let remote = json!({ "type": "sse" });
    let variable = |value: Value| entry_with_package("environmentVariables", json!([value]));
    let cases = [
        (
            "description",
            MAX_DISPLAYED_TEXT_BYTES,
            Box::new(move |n| entry_with("description", text(n))) as Box<dyn Fn(usize) -> Value>,
        ),
        ("a value", MAX_INPUT_VALUE_BYTES, Box::new(move |n| variable(json!({ "name": "A", "value": text(n) })))),
        ("remotes", MAX_INSTALL_TARGETS, Box::new(move |n| entry_with("remotes", some(n, remote.clone())))),
        (
            "arguments",
            MAX_ARGUMENTS_OR_VARIABLES,
            Box::new(move |n| entry_with_package("packageArguments", some(n, json!({ "type": "positional" })))),
        ),
        ("icons", MAX_SUPPLEMENTARY_ELEMENTS, Box::new(move |n| entry_with("icons", some(n, json!({}))))),
        (
            "choices",
            MAX_INPUT_CHOICES,
            Box::new(move |n| variable(json!({ "name": "A", "choices": some(n, json!("a")) }))),
        ),
        ("title", MAX_DISPLAYED_TEXT_BYTES, Box::new(move |n| entry_with("title", text(n)))),
        ("websiteUrl", MAX_ADDRESS_BYTES, Box::new(move |n| entry_with("websiteUrl", text(n)))),
        ("repository", MAX_ADDRESS_BYTES, Box::new(move |n| entry_with("repository", json!({ "url": text(n) })))),
        ("repository id", MAX_LABEL_BYTES, Box::new(move |n| entry_with("repository", json!({ "id": text(n) })))),
        ("icon", MAX_ADDRESS_BYTES, Box::new(move |n| entry_with("icons", json!([{ "src": text(n) }])))),
        ("identifier", MAX_ADDRESS_BYTES, Box::new(move |n| entry_with_package("identifier", text(n)))),
        ("package version", MAX_VERSION_BYTES, Box::new(move |n| entry_with_package("version", text(n)))),
        ("fileSha256", MAX_LABEL_BYTES, Box::new(move |n| entry_with_package("fileSha256", text(n)))),
        ("runtimeHint", MAX_LABEL_BYTES, Box::new(move |n| entry_with_package("runtimeHint", text(n)))),
        ("variable's name", MAX_LABEL_BYTES, Box::new(move |n| variable(json!({ "name": text(n) })))),
        ("default", MAX_INPUT_VALUE_BYTES, Box::new(move |n| variable(json!({ "name": "A", "default": text(n) })))),
        ("choice", MAX_INPUT_VALUE_BYTES, Box::new(move |n| variable(json!({ "name": "A", "choices": [text(n)] })))),
        (
            "placeholder",
            MAX_DISPLAYED_TEXT_BYTES,
            Box::new(move |n| variable(json!({ "name": "A", "placeholder": text(n) }))),
        ),
        (
            "remote",
            MAX_ADDRESS_BYTES,
            Box::new(move |n| entry_with("remotes", json!([{ "type": "sse", "url": text(n) }]))),
        ),
        (
            "headers",
            MAX_ARGUMENTS_OR_VARIABLES,
            Box::new(move |n| {
                entry_with("remotes", json!([{ "type": "sse", "headers": some(n, json!({ "name": "A" })) }]))
            }),
        ),
        (
            "steps",
            MAX_SUPPLEMENTARY_ELEMENTS,
            Box::new(move |n| entry_with_package("postInstallInstructions", some(n, json!({})))),
        ),
        (
            "a step",
            MAX_DISPLAYED_TEXT_BYTES,
            Box::new(move |n| entry_with_package("postInstallInstructions", json!([{ "command": text(n) }]))),
        ),
        ("variables", MAX_VALUE_VARIABLES, Box::new(move |n| variable(json!({ "name": "A", "variables": named(n) })))),
    ];
    for (what, most, entry) in cases {
        read_value(&entry(most)).unwrap_or_else(|error| panic!("{what}: {error}"));
        refusal_text(&entry(most + 1));
    }
    let message = |count: usize| {
        let listing = json!({ "io.modelcontextprotocol.registry/official": { "statusMessage": text(count) } });
        json!({ "server": entry_with("title", Value::Null)["server"], "_meta": listing })
    };
    read_value(&message(MAX_DISPLAYED_TEXT_BYTES)).unwrap();
    refusal_text(&message(MAX_DISPLAYED_TEXT_BYTES + 1));
    let cursor = |count: usize| json!({ "servers": [], "metadata": { "nextCursor": text(count) } }).to_string();
    read_page(cursor(MAX_ADDRESS_BYTES).as_bytes()).unwrap();
    read_page(cursor(MAX_ADDRESS_BYTES + 1).as_bytes()).unwrap_err();
    let many = |count: usize| json!({ "server": entry_with("title", Value::Null)["server"], "_meta": named(count) });
    read_value(&many(MAX_SUPPLEMENTARY_ELEMENTS)).unwrap();
    refusal_text(&many(MAX_SUPPLEMENTARY_ELEMENTS + 1));
}

#[test]
fn invalid_timestamp_is_ignored() {
    let texts = ["1969-12-31T23:59:59Z", "99999-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "1e308", "-1", "NaN", ""];
    for text in texts {
        let listing = json!({ "io.modelcontextprotocol.registry/official": { "publishedAt": text } });
        let entry =
            read_value(&json!({ "server": entry_with("title", Value::Null)["server"], "_meta": listing })).unwrap();
        assert_eq!(entry.listing.unwrap().published_at, None, "{text}");
    }
}

#[test]
fn large_or_deep_entry_is_not_parsed() {
    let large = entry_with("unknown", json!("a".repeat(MAX_ENTRY_BYTES)));
    assert_eq!(read_value(&large), Err(EntryError::TooLarge(MAX_ENTRY_BYTES)));
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    // The entry and the server in it are two levels.
    let entry = |levels: usize| {
        entry_with("unknown", json!(0)).to_string().replace("\"unknown\":0", &format!("\"unknown\":{}", deep(levels)))
    };
    read_entry(entry(MAX_JSON_DEPTH - 2).as_bytes()).unwrap();
    assert_eq!(read_entry(entry(MAX_JSON_DEPTH - 1).as_bytes()), Err(EntryError::TooDeep));
    assert_eq!(read_entry(deep(100_000).as_bytes()), Err(EntryError::TooDeep));
    read_value(&entry_with("description", json!("[[{{\\\"".repeat(50)))).unwrap();
}

#[test]
fn invalid_entry_does_not_affect_its_page() {
    let good = entry_with("title", json!("Notes"));
    let page = json!({ "servers": [good, { "server": { "name": "a\u{202e}b", "version": 1 } }, 7, good], "metadata": { "nextCursor": "c" } });
    let page = read_page(page.to_string().as_bytes()).unwrap();
    assert_eq!((page.entries.len(), page.unreadable.len()), (2, 2));
    assert_eq!(page.unreadable[0].name.as_deref(), Some("\"a\\u{202e}b\""), "the name must be escaped for display");
    assert_eq!(page.next_cursor.as_deref(), Some("c"));
    let empty = read_page(br#"{"servers":null,"metadata":{"nextCursor":""}}"#).unwrap();
    assert_eq!((empty.entries.len(), empty.next_cursor), (0, None));
}

#[test]
fn invalid_page_is_rejected() {
    for json in ["", "[]", "{}", "{\"servers\":{}}", "{\"servers\":[{]}", "{\"servers\":[", "nul"] {
        assert!(matches!(read_page(json.as_bytes()), Err(EntryError::Unreadable(_))), "{json}");
    }
    let page = |count: usize| format!("{{\"servers\":[{}]}}", vec!["{}"; count].join(","));
    assert_eq!(read_page(page(MAX_PAGE_ENTRIES).as_bytes()).unwrap().unreadable.len(), MAX_PAGE_ENTRIES);
    let error = read_page(page(100_000).as_bytes()).unwrap_err();
    assert!(error.to_string().contains("more than 1000 elements"), "{error}");
}

#[test]
fn error_names_the_path_and_escapes_control_characters() {
    let error = refusal_text(&entry_with_package(
        "packageArguments",
        json!([{ "type": "positional" }, { "type": "pos\u{1b}[31m" }]),
    ));
    assert!(error.contains("packages[0].packageArguments[1]"), "{error}");
    assert!(!error.contains('\u{1b}'), "{error}");
}
