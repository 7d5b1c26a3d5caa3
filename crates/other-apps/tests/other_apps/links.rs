//! Install links: those of all supported apps are parsed, and known attacks with links have no effect.

mod attacks;
mod forms;
mod written;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forms::{LINK_EXAMPLES, LinkExample};
use other_apps::parse_pasted_servers;
use ports::server_config::{ImportNote, ImportNoteKind, PastedServer, ServerTransport};
use serde_json::{Value, json};

/// Returns a `drawbridge:` link for a server with this name and configuration.
fn drawbridge_link(name: &str, config: &Value) -> String {
    format!("drawbridge://mcp/install?name={name}&config={}", URL_SAFE_NO_PAD.encode(config.to_string()))
}

/// Returns an install link of another app, with several servers.
fn other_app_link(servers: &Value) -> String {
    format!("cherrystudio://mcp/install?servers={}", URL_SAFE_NO_PAD.encode(servers.to_string()))
}

/// Returns the server in a text that contains exactly one.
fn parse_one(text: &str) -> PastedServer {
    let mut found = parse_pasted_servers(text, &[]).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    assert_eq!(found.len(), 1, "one server in {text}");
    found.remove(0)
}

/// Parses a text that must be rejected, and returns the error message.
fn rejection_message(text: &str) -> String {
    parse_pasted_servers(text, &[]).expect_err(text).message
}

/// Returns the English texts of the notes about a server.
fn note_texts(server: &PastedServer) -> Vec<&str> {
    server.notes.iter().map(|note| note.text.as_str()).collect()
}

fn describe_server(server: &PastedServer) -> String {
    let (kind, values) = match &server.config.transport {
        ServerTransport::Stdio(stdio) => (None, &stdio.env),
        ServerTransport::Http(http) => (http.kind, &http.headers),
    };
    let kind = kind.map(|kind| format!("{} ", kind.name())).unwrap_or_default();
    format!("{}: {kind}{} {}", server.name, server.config.command_line(), json!(values))
}

#[test]
fn links_of_every_app_are_parsed() {
    for LinkExample { what, text, servers } in LINK_EXAMPLES {
        let found = parse_pasted_servers(text, &[]).unwrap_or_else(|problem| panic!("{what}: {problem}"));
        assert_eq!(found.iter().map(describe_server).collect::<Vec<_>>(), *servers, "{what}");
        assert!(found.iter().all(|server| server.usable), "{what}: it can be added: {found:?}");
    }
}

#[test]
fn unsupported_keys_in_links_of_other_apps_are_ignored_and_noted() {
    let server = json!({ "name": "a", "command": "x", "cwd": "/etc", "sandbox": false, "timeout": 9, "roots": ["/"] });
    let found = parse_one(&other_app_link(&server));
    let note = "a link may not set these, so they are ignored: \"cwd\", \"sandbox\", \"timeout\", \"roots\"";
    assert_eq!(note_texts(&found), [note], "each key is named");
    let stdio = found.config.as_stdio().unwrap();
    assert_eq!((&stdio.cwd, &stdio.sandbox), (&None, &None), "no key is set");
    let empty = json!({ "name": "a", "command": "", "args": [], "env": {}, "cwd": null, "url": "https://a.example" });
    assert!(parse_one(&other_app_link(&empty)).notes.is_empty(), "empty values set nothing");
    let goose = parse_one("goose://extension?cmd=uvx&arg=a&name=a&timeout=300&description=x");
    assert_eq!(
        note_texts(&goose),
        ["a link may not set these, so they are ignored: \"timeout\""],
        "parameters are reported as well"
    );
}

#[test]
fn values_requested_by_goose_are_requested() {
    let found = parse_one(
        "goose://extension?cmd=uvx&arg=a&name=a&env=API_KEY%3Dsk-proj-4eC39HqLyjWDarjtT1zdp7dc&env=REGION%3Deu",
    );
    let env = &found.config.as_stdio().unwrap().env;
    assert_eq!((env["API_KEY"].as_str(), env["REGION"].as_str()), ("", ""), "values in the link are ignored");
    assert_eq!(found.secrets, ["API_KEY"], "the entered value is stored in the keychain");
    let is_requested = |name: &str| {
        let note = format!("the variable \"{name}\" is empty: fill it in if the server needs it");
        note_texts(&found).contains(&note.as_str())
    };
    assert!(is_requested("API_KEY") && is_requested("REGION"), "both values are requested: {:?}", found.notes);
}

#[test]
fn names_in_links_of_other_apps_are_sanitized() {
    let name = |name: &str| {
        let found = parse_one(&other_app_link(&json!({ "name": name, "command": "uvx", "args": ["acme"] })));
        let texts: Vec<String> = found.notes.into_iter().map(|note| note.text).collect();
        (found.name, texts)
    };
    assert_eq!(
        name("io.github.acme/files"),
        ("io.github.acme-files".into(), vec!["its name in the link is \"io.github.acme/files\"".into()]),
        "a slash in a name is replaced"
    );
    assert_eq!(name("Acme <b>Files</b>").0, "Acme-b-Files-b", "markup is removed");
    assert_eq!(name(&"n".repeat(70)).0, "n".repeat(64), "a long name is truncated");
    assert_eq!(
        name("文件"),
        ("acme".into(), vec!["its name in the link is \"文件\"".into()]),
        "a name without valid letters is derived from the command"
    );
}

#[test]
fn settings_take_precedence_over_links_next_to_them() {
    let link = drawbridge_link("b", &json!({ "command": "y" }));
    let plain = format!("Run `npx acme`, or {link}");
    assert_eq!(describe_server(&parse_one(&plain)), "b: y {}", "a link takes precedence over a command in prose");
}

#[test]
fn number_of_omitted_warnings_is_noted() {
    let config = |shells: usize| {
        let args = vec!["bash"; shells - 1];
        json!({ "command": "bash", "args": args, "env": { "NODE_OPTIONS": "--require /x" } })
    };
    let notes = parse_one(&drawbridge_link("a", &config(24))).notes;
    let more = "and 5 more warnings: read the whole command before you add it";
    assert_eq!(notes.len(), 21, "the warnings are limited: {notes:?}");
    assert_eq!(
        notes.last(),
        Some(&ImportNote::new(ImportNoteKind::MoreWarnings, more).with_names(["5"])),
        "harmless warnings must not hide that there are others"
    );
    let notes = parse_one(&drawbridge_link("a", &config(19))).notes;
    assert!(notes.iter().all(|note| note.kind != ImportNoteKind::MoreWarnings), "none is omitted: {notes:?}");
    assert_eq!(notes.len(), 20);
}

#[test]
fn links_that_install_no_server_are_rejected() {
    let expected =
        "this link installs no server: expected one such as drawbridge://mcp/install?name=NAME&config=BASE64";
    for text in [
        "drawbridge://mcp/start?name=a",
        "cursor://anysphere.cursor-deeplink/prompt?text=x",
        "file:///etc/passwd",
        "unix:///run/x.sock",
        "kiro://x",
    ] {
        assert_eq!(rejection_message(text), expected, "{text} is neither a command nor an address");
    }
    let cases = [
        ("https://cursor.com/install-mcp?name=a", "Cursor can't be used: \"config\" is missing in it"),
        ("https://cursor.com/install-mcp?name=a&config=%%%", "Cursor can't be used: its content is not valid base64"),
        (
            "cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=e30&config=e30",
            "\"config\" occurs twice in it",
        ),
        ("cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=-_-_+/", "its content is not valid base64"),
        ("cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=____", "its base64 does not encode UTF-8 text"),
        ("vscode:mcp/install?%7B", "Visual Studio Code can't be used: in its JSON, "),
        ("vscode:mcp/install?%FF", "it is no text in UTF-8"),
        ("vscode:mcp/install?%7B%7D", "there is no server in it"),
        (
            "https://vscode.dev/redirect?url=https%3A%2F%2Fvscode.dev%2Fredirect%3Furl%3Dx",
            "it leads to another link, which leads on",
        ),
        ("https://vscode.dev/redirect?url=https%3A%2F%2Fevil.example%2F", "this link installs no server"),
        ("5ire://install-server/#", "there is no server in it"),
    ];
    for (text, message) in cases {
        let found = rejection_message(text);
        assert!(found.contains(message), "expected {message:?} for {text}: {found}");
    }
}
