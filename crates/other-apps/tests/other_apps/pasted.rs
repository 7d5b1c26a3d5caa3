//! Pasted text: the formats in READMEs, and error messages for invalid text.

mod shapes;

use other_apps::parse_pasted_servers;
use ports::server_config::{AuthConfig, GrantType, HttpKind, ImportNote, ImportNoteKind, ImportPlace, PastedServer};
use shapes::{PASTED_EXAMPLES, PastedExample};

/// Returns the English texts of the notes about a server.
fn note_texts(server: &PastedServer) -> Vec<&str> {
    server.notes.iter().map(|note| note.text.as_str()).collect()
}

#[test]
fn servers_in_every_format_are_parsed() {
    for PastedExample { what, text, servers } in PASTED_EXAMPLES {
        let found = parse_pasted_servers(text, &[]).unwrap_or_else(|problem| panic!("{what}: {problem}"));
        let names: Vec<&str> = found.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, servers.iter().map(|server| server.0).collect::<Vec<_>>(), "{what}: the names");
        for (server, (_, command, args, env)) in found.iter().zip(*servers) {
            let config = server.config.as_stdio().unwrap_or_else(|| panic!("{what}: it is local"));
            assert_eq!(config.command, *command, "{what}: the command");
            assert_eq!(config.args, *args, "{what}: the arguments");
            let variables: Vec<(&str, &str)> = config.env.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            assert_eq!(variables, *env, "{what}: the variables");
            assert!(server.usable, "{what}: it can be added");
        }
    }
}

#[test]
fn drawbridge_settings_format_is_parsed_without_notes() {
    let found = parse_pasted_servers(r#"{"mcpServers": {"b": {"command": "y", "cwd": "/srv/x"}}}"#, &[]).unwrap();
    let cwd = found[0].config.as_stdio().unwrap().cwd.as_deref();
    assert_eq!(cwd, Some(std::path::Path::new("/srv/x")), "the folder is read");
    assert_eq!(found[0].notes, Vec::<ImportNote>::new(), "there are no notes");
}

#[test]
fn notes_describe_suspicious_values() {
    let cases: &[(&str, &[&str])] = &[
        (
            r#"{"command": "x", "args": ["/path/to/dir"]}"#,
            &["argument 1 is \"/path/to/dir\": this looks like a placeholder, put your own value there"],
        ),
        (
            r#"{"command": "x", "args": ["--key", "<YOUR_KEY>"]}"#,
            &["argument 2 is \"<YOUR_KEY>\": this looks like a placeholder, put your own value there"],
        ),
        (
            r#"{"command": "x", "env": {"K": "YOUR_API_KEY"}}"#,
            &["the variable \"K\" is \"YOUR_API_KEY\": this looks like a placeholder, put your own value there"],
        ),
        (
            r#"{"command": "x", "env": {"K": "your-api-key-here"}}"#,
            &["the variable \"K\" is \"your-api-key-here\": this looks like a placeholder, put your own value there"],
        ),
        (
            r#"{"command": "x", "env": {"K": "sk-..."}}"#,
            &["the variable \"K\" is \"sk-...\": this looks like a placeholder, put your own value there"],
        ),
        (
            r#"{"command": "x", "args": ["/Users/username/Desktop"]}"#,
            &["argument 1 is \"/Users/username/Desktop\": this looks like a placeholder, put your own value there"],
        ),
        (
            r#"{"command": "x", "args": ["C:\\path\\to\\x"]}"#,
            &["argument 1 is \"C:\\\\path\\\\to\\\\x\": this looks like a placeholder, put your own value there"],
        ),
        (
            r#"{"command": "x", "env": {"K": "${env:TOKEN}"}}"#,
            &["the variable \"K\" is \"${env:TOKEN}\": Drawbridge passes it unchanged, so replace it by the value"],
        ),
        (
            r#"{"command": "x", "args": ["${workspaceFolder}/a", "$HOME", "~/x", "%APPDATA%\\x"]}"#,
            &[
                "argument 1 is \"${workspaceFolder}/a\": Drawbridge passes it unchanged, so replace it by the value",
                "argument 2 is \"$HOME\": Drawbridge passes it unchanged, so replace it by the value",
                "argument 3 is \"~/x\": Drawbridge passes it unchanged, so replace it by the value",
                "argument 4 is \"%APPDATA%\\\\x\": Drawbridge passes it unchanged, so replace it by the value",
            ],
        ),
        (r#"{"command": "x", "env": {"K": ""}}"#, &["the variable \"K\" is empty: fill it in if the server needs it"]),
        (r#"{"command": "x", "env": {"PORT": 80}}"#, &["\"PORT\" has 80 without quotes; it is read as text"]),
        (
            r#"{"command": "x", "autoApprove": ["a"], "timeout": 60, "disabled": false}"#,
            &["approvals of other apps are not imported: \"autoApprove\"", "not used: \"timeout\""],
        ),
        (r#"{"command": "npx -y a"}"#, &["\"command\" contained the arguments; it was split at the spaces"]),
        (
            r#"{"inputs": [{"id": "k", "description": "The key"}, {"id": "unused"}], "servers": {"a": {"command": "x", "env": {"K": "${input:k}"}}}}"#,
            &[
                "\"${input:k}\" is a placeholder for a value for which VS Code would prompt (\"The key\")",
                "the variable \"K\" is \"${input:k}\": Drawbridge passes it unchanged, so replace it by the value",
            ],
        ),
        ("x --price 5% --cost $5 --user me@yours.example --list=[a] a<b", &[]),
        (r#"{"command": "x", "\u001b[2J": 1}"#, &["not used: \"\\u{1b}[2J\""]),
    ];
    for (text, notes) in cases {
        let found = parse_pasted_servers(text, &[]).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert_eq!(note_texts(&found[0]), *notes, "the notes on {text}");
        assert!(found[0].usable, "notes don't make {text} unusable");
    }
}

#[test]
fn remote_servers_are_parsed_in_every_shape() {
    use HttpKind::{Http, Sse};
    let url = "https://mcp.example.com/mcp";
    type RemoteCase = (&'static str, &'static str, Option<HttpKind>, &'static [(&'static str, &'static str)]);
    let cases: &[RemoteCase] = &[
        (r#"{"mcpServers": {"far": {"url": "https://mcp.example.com/mcp"}}}"#, "far", None, &[]),
        (
            r#"{"servers": {"far": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"A": "b"}}}}"#,
            "far",
            Some(Http),
            &[("A", "b")],
        ),
        (r#"{"far": {"type": "streamable-http", "url": "https://mcp.example.com/mcp"}}"#, "far", Some(Http), &[]),
        (r#"{"far": {"transport": "sse", "url": "https://mcp.example.com/mcp"}}"#, "far", Some(Sse), &[]),
        (r#"{"mcpServers": {"far": {"serverUrl": "https://mcp.example.com/mcp"}}}"#, "far", None, &[]),
        (r#"{"mcpServers": {"far": {"httpUrl": "https://mcp.example.com/mcp"}}}"#, "far", None, &[]),
        (r#"{"mcp": {"far": {"type": "remote", "url": "https://mcp.example.com/mcp"}}}"#, "far", None, &[]),
        (
            "claude mcp add --transport http far https://mcp.example.com/mcp --header \"A: b:c\" -H 'D: e'",
            "far",
            Some(Http),
            &[("A", "b:c"), ("D", "e")],
        ),
        ("claude mcp add -t sse far https://mcp.example.com/mcp", "far", Some(Sse), &[]),
        ("codex mcp add far --url https://mcp.example.com/mcp", "far", None, &[]),
        ("https://mcp.example.com/mcp", "example", None, &[]),
    ];
    for (text, name, kind, headers) in cases {
        let found = parse_pasted_servers(text, &[]).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert_eq!(found.len(), 1, "one server in {text}");
        assert_eq!(found[0].name, *name, "its name in {text}");
        let config = found[0].config.as_http().unwrap_or_else(|| panic!("{text}: it is remote"));
        assert_eq!((config.url.as_str(), config.kind), (url, *kind), "the URL and transport in {text}");
        let read: Vec<(&str, &str)> = config.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(read, *headers, "the headers in {text}");
        assert!(found[0].usable, "it can be added: {text}");
        assert_eq!(found[0].notes, Vec::<ImportNote>::new(), "there are no notes: {text}");
    }
}

#[test]
fn nul_characters_make_a_server_unusable_with_a_note() {
    for text in ["npx \0 server", r#"{"a": {"command": "x", "args": ["\u0000"]}}"#, "A=\0 npx server"] {
        // The text may be rejected completely. If a server is found, it can be added.
        let Ok(found) = parse_pasted_servers(text, &[]) else { continue };
        assert!(!found[0].usable, "it can't be added: {text:?}");
        assert!(
            found[0].notes.iter().any(|note| note.text.contains("NUL")),
            "the note contains the reason: {:?}",
            found[0].notes
        );
    }
    let offered = parse_pasted_servers("npx \0 server", &[]).unwrap();
    assert!(!offered[0].usable, "a command line is displayed, but unusable");
}

#[test]
fn e12_prompted_passwords_are_secrets_or_noted_as_plain_text() {
    let text = r#"{
        "inputs": [{"type": "promptString", "id": "pin", "password": true}, {"type": "promptString", "id": "dir"}],
        "servers": {
            "a": {"command": "x", "args": ["--in=${input:dir}", "${input:pin}"],
                "env": {"PORT": "${input:pin}", "DIR": "${input:dir}"}},
            "b": {"url": "https://x.example/${input:pin}", "headers": {"X-Port": "Bearer ${input:pin}"}},
            "c": {"command": "x", "env": {"DIR": "${input:dir}"}}
        }}"#;
    let found = parse_pasted_servers(text, &[]).unwrap();
    let secrets: Vec<&String> = found.iter().flat_map(|server| &server.secrets).collect();
    assert_eq!(secrets, ["PORT", "X-Port"], "the values of variables and headers belong into the keychain");
    let plain: Vec<_> = found
        .iter()
        .flat_map(|server| &server.notes)
        .filter(|note| note.kind == ImportNoteKind::PlainPassword)
        .map(|note| (note.place.clone(), note.names.clone()))
        .collect();
    let names = vec!["${input:pin}".to_owned()];
    assert_eq!(
        plain,
        [(Some(ImportPlace::Argument { number: 2 }), names.clone()), (Some(ImportPlace::Url), names)],
        "the places that no keychain can store are noted"
    );
}

#[test]
fn number_of_omitted_passwords_and_placeholders_is_noted() {
    let import_args = |count: usize| {
        let args: Vec<String> = (0..count).map(|number| format!("\"--n{number}=${{input:pin{number}}}\"")).collect();
        let pin = |number| format!("{{\"type\": \"promptString\", \"id\": \"pin{number}\", \"password\": true}}");
        let pins: Vec<String> = (0..count).map(pin).collect();
        let (args, pins) = (args.join(","), pins.join(","));
        let text = format!(r#"{{"inputs": [{pins}], "servers": {{"a": {{"command": "x", "args": [{args}]}}}}}}"#);
        parse_pasted_servers(&text, &[]).unwrap().remove(0).notes
    };
    let about = |notes: &[ImportNote], kind: ImportNoteKind| -> Vec<ImportNote> {
        notes.iter().filter(|note| note.kind == kind).cloned().collect()
    };
    let notes = import_args(27);
    for (kind, more, text) in [
        (
            ImportNoteKind::PlainPassword,
            ImportNoteKind::MorePlainPasswords,
            "and 7 more passwords that would be stored as plain text",
        ),
        (ImportNoteKind::Placeholder, ImportNoteKind::MorePlaceholders, "and 7 more texts to replace or fill in"),
    ] {
        assert_eq!(about(&notes, kind).len(), 20, "{kind:?}: the notes are limited");
        assert_eq!(about(&notes, more), [ImportNote::new(more, text).with_names(["7"])], "the others are counted");
    }
    let notes = import_args(21);
    assert_eq!(about(&notes, ImportNoteKind::MorePlaceholders)[0].text, "and 1 more text to replace or fill in");
    let notes = import_args(20);
    assert_eq!(about(&notes, ImportNoteKind::MorePlaceholders), [], "nothing was omitted");
    assert_eq!(about(&notes, ImportNoteKind::MorePlainPasswords), [], "nothing was omitted");
}

#[test]
fn problems_of_a_remote_server_are_noted() {
    let cases: &[(&str, bool, &str)] = &[
        (r#"{"a": {"type": "ws", "url": "wss://x.example"}}"#, false, "its transport is unknown"),
        (r#"{"a": {"url": "ftp://x.example"}}"#, false, "must begin with https://"),
        (r#"{"a": {"url": "https://ann:pw@x.example"}}"#, false, "user name or password"),
        (r#"{"a": {"url": "https://x.example", "headers": {"Host": "y"}}}"#, false, "set by Drawbridge itself"),
        (
            r#"{"a": {"url": "https://x.example", "headers": {"A b": "y"}}}"#,
            false,
            "the name of a header may have only",
        ),
        (r#"{"a": {"url": "https://x.example", "headers": {"K": "Bearer ${TOKEN}"}}}"#, true, "unchanged"),
        (r#"{"a": {"url": "https://x.example", "headers": {"K": "<your key>"}}}"#, true, "placeholder"),
        (r#"{"a": {"url": "https://x.example", "protocolVersion": "1999-01-01"}}"#, true, "no known protocol revision"),
    ];
    for (text, usable, note) in cases {
        let found = parse_pasted_servers(text, &[]).unwrap_or_else(|problem| panic!("{text}: {problem}"));
        assert_eq!(found[0].usable, *usable, "usability of {text}");
        assert!(
            found[0].notes.iter().any(|n| n.text.contains(note)),
            "{note:?} is noted about {text}: {:?}",
            found[0].notes
        );
    }
    let secret = r#"{"a": {"url": "https://x.example", "headers": {"K": "Bearer ${secret:a.K}"}}}"#;
    assert_eq!(
        parse_pasted_servers(secret, &[]).unwrap()[0].notes,
        Vec::<ImportNote>::new(),
        "a reference to a Drawbridge secret needs no note"
    );
    let pinned = r#"{"a": {"url": "https://x.example", "protocolVersion": "2025-06-18"}}"#;
    let revision = parse_pasted_servers(pinned, &[]).unwrap()[0].config.revision;
    assert_eq!(revision.map(|r| r.to_string()).as_deref(), Some("2025-06-18"), "a pinned revision is read");
    let both = parse_pasted_servers(r#"{"mcpServers": {"a": {"type": "ws"}, "b": {"command": "x"}}}"#, &[]).unwrap();
    assert_eq!((both[0].usable, both[1].usable), (false, true), "an unusable server doesn't affect another");
}

#[test]
fn sign_in_settings_are_parsed_completely() {
    let auth = r#"{"clientId": "us", "clientSecret": "top-secret", "issuer": "https://i.example", "scopes": ["read"],
        "grant": "client_credentials", "clientAuth": "client_secret_post", "redirectPort": 4321, "dpop": false, "later": 1}"#;
    let server = |auth: &str| format!(r#"{{"a": {{"url": "https://x.example", "auth": {auth}}}}}"#);
    let found = parse_pasted_servers(&server(auth), &[]).unwrap().remove(0);
    let read = found.config.as_http().unwrap().auth.clone().expect("the entry has sign-in settings");
    let expected = AuthConfig {
        client_id: Some("us".into()),
        client_secret: Some("top-secret".into()),
        issuer: Some("https://i.example".into()),
        scopes: vec!["read".into()],
        grant: GrantType::ClientCredentials,
        client_auth: Some("client_secret_post".into()),
        redirect_port: Some(4321),
        dpop: Some(false),
        ..AuthConfig::default()
    };
    assert_eq!(read, expected, "all settings are imported");
    assert_eq!(note_texts(&found), ["not used: \"later\""], "unknown keys are noted");
    assert!(found.usable, "a literal client secret can be stored in the keychain");

    let cases = [
        (r#""oauth""#, true, "\"auth\" is omitted: \"auth\" must be an object"),
        (r#"{"grant": "password"}"#, true, "is omitted"),
        (r#"{"privateKey": "top-secret"}"#, false, "must be a reference \"${secret:NAME}\""),
        (r#"{"grant": "workload_identity", "issuer": "https://i.example"}"#, false, "needs an \"assertion\""),
    ];
    for (auth, usable, note) in cases {
        let found = parse_pasted_servers(&server(auth), &[]).unwrap().remove(0);
        assert_eq!(found.usable, usable, "usability with {auth}");
        assert!(found.notes.iter().any(|n| n.text.contains(note)), "{note:?} is noted about {auth}: {:?}", found.notes);
        assert!(!found.notes.iter().any(|n| n.text.contains("top-secret")), "possible secrets are not repeated");
    }
    let local = parse_pasted_servers(r#"{"a": {"command": "x", "auth": {}}}"#, &[]).unwrap().remove(0);
    assert_eq!(note_texts(&local), ["not used: \"auth\""], "a local program has no sign-in");
}

#[test]
fn imported_server_names_are_valid_and_unique() {
    let long = "n".repeat(100);
    let text = format!(
        "{{\"git\": {{\"command\": \"a\"}}, \"Git\": {{\"command\": \"b\"}}, \"\\n \": {{\"command\": \"c\"}}, \"{long}\": {{\"command\": \"d\"}}}}"
    );
    let found = parse_pasted_servers(&text, &["GIT".into(), "git-2".into(), "n".repeat(64)]).unwrap();
    let names: Vec<String> = found.iter().map(|server| server.name.clone()).collect();
    assert_eq!(
        names[..3],
        ["git-3", "Git-4", "server"],
        "taken names get a number, ignoring case, and empty names a default"
    );
    assert_eq!(names[3], format!("{}-2", "n".repeat(58)), "a long name is truncated, and gets a number");
}

#[test]
fn parse_errors_have_a_position_and_an_explanation() {
    let nothing = "no server found: expected JSON with \"mcpServers\", a URL, or the command line that starts a server";
    type RemoteCase = (&'static str, Option<(u32, u32)>, &'static str);
    let cases: &[RemoteCase] = &[
        ("", None, nothing),
        (" \n\n", None, nothing),
        ("This server can be used\nin many ways.", None, nothing),
        ("Hello world", Some((1, 1)), nothing),
        (
            "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"\n",
            Some((3, 10)),
            "this object is not closed: expected \"}\" before the end",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\" \"args\": []}}}",
            Some((1, 37)),
            "expected a comma after this item",
        ),
        ("{\"mcpServers\": {...}}", Some((1, 17)), "this is not JSON: found \".\""),
        (
            "{\"mcpServers\": {\"files\": {\"command\": \"npx\",\n\"args\": 3}}}",
            Some((2, 9)),
            "\"args\" of server \"files\" must be a list of texts, found a number",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [{}]}}}",
            Some((1, 48)),
            "\"args\" of server \"a\" must be a text, found an object",
        ),
        (
            "{\"mcpServers\": {\"a\": {}}}",
            Some((1, 22)),
            "server \"a\" has no \"command\": the program to start was expected",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"\"}}}",
            Some((1, 34)),
            "\"command\" must not be empty: the program to start was expected",
        ),
        ("{\"mcpServers\": {}}", Some((1, 16)), "there is no server in this object: expected a name with an object"),
        ("{\"mcpServers\": 5}", Some((1, 16)), "expected an object with a server under each name, found a number"),
        (
            "{\"a\": 1, \"b\": 2}",
            Some((1, 1)),
            "expected \"mcpServers\", a server's name, or \"command\" in this object, found \"a\", \"b\"",
        ),
        ("{}", Some((1, 1)), "expected \"mcpServers\", a server's name, or \"command\" in this object, found nothing"),
        (
            "{\"a\": {\"command\": \"x\"},\n \"a\": {\"command\": \"y\"}}",
            Some((2, 2)),
            "\"a\" occurs twice in this object, first in line 1; remove one of them",
        ),
        // Columns in a fragment refer to the pasted text, without the inserted braces.
        ("\"a\": {\"command\": [1, {}]}", Some((1, 22)), "\"command\" of server \"a\" must be a text, found an object"),
        ("x\n\n```json\n{\n  \"a\": {\"command\": x}\n}\n```", Some((5, 20)), "expected a value, found \"x\""),
        (
            "cd /srv && npx x",
            Some((1, 1)),
            "\"&&\" needs a shell, and a server is started without one: paste only the command of the server itself",
        ),
        (
            "cat x | server",
            Some((1, 1)),
            "\"|\" needs a shell, and a server is started without one: paste only the command of the server itself",
        ),
        (
            "server --key $(pass x)",
            Some((1, 1)),
            "\"$(\" needs a shell, and a server is started without one: paste only the command of the server itself",
        ),
        ("npx 'x", Some((1, 1)), "a quote is opened in this line and not closed; expected a whole command line"),
        ("A=1", Some((1, 1)), "expected the program to start, found nothing after the variables"),
        ("claude mcp add x", Some((1, 1)), "expected a name and the server's command after this, found the end"),
        ("claude mcp add-json x", Some((1, 1)), "expected a name and the server's command after this, found the end"),
    ];
    for (text, place, message) in cases {
        let problem = parse_pasted_servers(text, &[]).expect_err(text);
        assert_eq!(problem.message, *message, "the message for {text:?}");
        let found = problem.line.map(|line| (line, problem.column.unwrap_or(1)));
        assert_eq!(found, *place, "the position in {text:?}");
        assert_eq!(problem.file, None, "pasted text has no file");
    }
}

#[test]
fn size_of_pasted_text_is_bounded() {
    let problem = parse_pasted_servers(&" ".repeat((1 << 20) + 1), &[]).unwrap_err();
    assert!(problem.message.starts_with("the text is longer than 1024 KiB"), "the limit is reported: {problem}");
    let many: Vec<String> = (0..101).map(|number| format!("\"s{number}\": {{\"command\": \"x\"}}")).collect();
    let problem = parse_pasted_servers(&format!("{{{}}}", many.join(",")), &[]).unwrap_err();
    assert!(problem.message.starts_with("there are more than 100 servers"), "the limit is reported: {problem}");
    let deep = "[".repeat(500_000);
    let problem = parse_pasted_servers(&format!("{{\"a\": {deep}"), &[]).unwrap_err();
    assert_eq!(problem.message, "too many levels within one another", "the depth is limited");
}

#[test]
fn notes_name_the_part_of_the_configuration_and_its_text() {
    let text =
        r#"{"a": {"command": "npx", "args": ["-y", "<your package>"], "env": {"KEY": "", "HOME_DIR": "$HOME"}}}"#;
    let found = parse_pasted_servers(text, &[]).unwrap().remove(0);
    let summary: Vec<_> = found
        .notes
        .iter()
        .map(|ImportNote { kind, place, names, .. }| (*kind, place.clone(), names.join(",")))
        .collect();
    let value = |name: &str| Some(ImportPlace::Value { name: name.to_owned() });
    assert_eq!(
        summary,
        [
            (ImportNoteKind::Placeholder, Some(ImportPlace::Argument { number: 2 }), "<your package>".to_owned()),
            (ImportNoteKind::AsWritten, value("HOME_DIR"), "$HOME".to_owned()),
            (ImportNoteKind::Empty, value("KEY"), String::new()),
        ],
        "the page decides by place and text if a note still applies"
    );
}
