//! Tests of writing `mcp.json`: only the changed parts are written, and a file is never partially written or lost.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::common::TestStore;
use ports::server_config::{HttpConfig, HttpKind, ServerEntry, StdioConfig, ToolFilter};

fn local_entry(name: &str, command: &str, args: &[&str]) -> ServerEntry {
    let args = args.iter().map(ToString::to_string).collect();
    let config = StdioConfig { command: command.into(), args, ..StdioConfig::default() };
    ServerEntry { name: name.into(), config: config.into() }
}

fn with_env(mut entry: ServerEntry, env: &[(&str, &str)]) -> ServerEntry {
    entry.config.as_stdio_mut().unwrap().env =
        env.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect::<BTreeMap<_, _>>();
    entry
}

fn with_cwd(mut entry: ServerEntry, cwd: &str) -> ServerEntry {
    entry.config.as_stdio_mut().unwrap().cwd = Some(PathBuf::from(cwd));
    entry
}

fn with_tools(mut entry: ServerEntry, enabled: Option<&[&str]>, disabled: &[&str]) -> ServerEntry {
    let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    entry.config.tools = ToolFilter { enabled: enabled.map(texts), disabled: texts(disabled) };
    entry
}

fn started_by_hand(mut entry: ServerEntry) -> ServerEntry {
    entry.config.autostart = false;
    entry
}

const SETTINGS_TEXT: &str = "{
\t\"theme\":   \"dark\",
\t\"mcpServers\": {
\t\t\"one\": {
\t\t\t\"command\": \"npx\",
\t\t\t\"args\": [
\t\t\t\t\"-y\",
\t\t\t\t\"p\\u006bg\"
\t\t\t],
\t\t\t\"env\": { \"B\": \"2\",  \"A\": \"1\" },
\t\t\t\"alwaysAllow\": [ \"x\" ]
\t\t},
\t\t\"far\": { \"url\": \"https://example.com\" , \"headers\": {} },
\t\t\"odd\": { \"type\": \"ws\", \"url\": \"wss://example.com\" },
\t\t\"two\": {\"command\":\"b\"}
\t},
\t\"last\": [1,2 , 3]
}";

#[test]
fn edit_of_mcp_json_modifies_only_changed_text() {
    let one = || with_env(local_entry("one", "npx", &["-y", "pkg"]), &[("A", "1"), ("B", "2")]);
    type EditCase = (&'static str, ServerEntry, Option<&'static str>, Vec<(&'static str, &'static str)>);
    let cases: Vec<EditCase> = vec![
        ("nothing changes", one(), None, vec![]),
        (
            "the command",
            with_env(local_entry("one", "uvx \"q\"", &["-y", "pkg"]), &[("A", "1"), ("B", "2")]),
            None,
            vec![("\"npx\"", "\"uvx \\\"q\\\"\"")],
        ),
        (
            "an argument",
            with_env(local_entry("one", "npx", &["-y", "other"]), &[("A", "1"), ("B", "2")]),
            None,
            vec![("\"p\\u006bg\"", "\"other\"")],
        ),
        (
            "one argument more",
            with_env(local_entry("one", "npx", &["-y", "pkg", "/tmp"]), &[("A", "1"), ("B", "2")]),
            None,
            vec![("\"p\\u006bg\"", "\"p\\u006bg\",\n\t\t\t\t\"/tmp\"")],
        ),
        (
            "one argument less",
            with_env(local_entry("one", "npx", &["-y"]), &[("A", "1"), ("B", "2")]),
            None,
            vec![("\"-y\",\n\t\t\t\t\"p\\u006bg\"", "\"-y\"")],
        ),
        ("a variable", with_env(one(), &[("A", "x"), ("B", "2")]), None, vec![("\"A\": \"1\"", "\"A\": \"x\"")]),
        ("the name", ServerEntry { name: "eins".into(), ..one() }, Some("one"), vec![("\"one\"", "\"eins\"")]),
        ("a folder", with_cwd(one(), "/srv"), None, vec![("[ \"x\" ]\n", "[ \"x\" ],\n\t\t\t\"cwd\": \"/srv\"\n")]),
        (
            "tools that are turned off",
            with_tools(one(), None, &["drop"]),
            None,
            vec![("[ \"x\" ]\n", "[ \"x\" ],\n\t\t\t\"disabledTools\": [\"drop\"]\n")],
        ),
        (
            "the only tools",
            with_tools(one(), Some(&[]), &[]),
            None,
            vec![("[ \"x\" ]\n", "[ \"x\" ],\n\t\t\t\"enabledTools\": []\n")],
        ),
        (
            "no start with Drawbridge",
            started_by_hand(one()),
            None,
            vec![("[ \"x\" ]\n", "[ \"x\" ],\n\t\t\t\"autostart\": false\n")],
        ),
        (
            "a new server",
            with_env(local_entry("three", "node", &["a.js"]), &[("K", "v")]),
            None,
            vec![(
                "{\"command\":\"b\"}\n",
                "{\"command\":\"b\"},\n\t\t\"three\": {\n\t\t\t\"command\": \"node\",\n\t\t\t\"args\": [\"a.js\"],\n\t\t\t\"env\": {\n\t\t\t\t\"K\": \"v\"\n\t\t\t}\n\t\t}\n",
            )],
        ),
    ];
    for mark in ["", "\u{feff}"] {
        for (what, entry, was, replaced) in &cases {
            let store = TestStore::new();
            fs::write(store.config(), format!("{mark}{SETTINGS_TEXT}")).unwrap();
            store.ports.servers.put(entry, *was).unwrap_or_else(|problem| panic!("{what}: {problem}"));
            let mut expected = format!("{mark}{SETTINGS_TEXT}");
            for (from, to) in replaced {
                assert_eq!(expected.matches(from).count(), 1, "{what}: the test knows what it replaces: {from:?}");
                expected = expected.replace(from, to);
            }
            assert_eq!(fs::read_to_string(store.config()).unwrap(), expected, "{what}: all other text is unchanged");
            let found = store.ports.servers.load().unwrap();
            assert!(found.contains(entry), "{what}: the server is read back as written");
        }
    }
}

#[test]
fn lists_of_tools_are_changed_in_place_and_removed() {
    let lists = |lists: &str| format!("{{\"mcpServers\": {{\"one\": {{\"command\": \"x\"{lists}}}}}}}");
    let one = |enabled: Option<&[&str]>, disabled: &[&str]| with_tools(local_entry("one", "x", &[]), enabled, disabled);
    let before = r#", "enabledTools": [ "a",  "b" ], "disabledTools": [ "c" ]"#;
    let cases = [
        (one(Some(&["a", "b"]), &["c"]), before.to_owned()),
        (one(Some(&["a", "d"]), &["c"]), before.replace("\"b\"", "\"d\"")),
        (one(None, &["c"]), before.replace(r#""enabledTools": [ "a",  "b" ], "#, "")),
        (one(Some(&["a", "b"]), &[]), before.replace("[ \"c\" ]", "[]")),
    ];
    for (entry, after) in cases {
        let store = TestStore::new();
        fs::write(store.config(), lists(before)).unwrap();
        store.ports.servers.put(&entry, None).unwrap();
        let written = fs::read_to_string(store.config()).unwrap();
        let plain = |text: &str| text.replace(' ', "");
        assert_eq!(plain(&written), plain(&lists(&after)), "{entry:?}");
        assert_eq!(store.ports.servers.load().unwrap(), [entry], "the server is read back as written");
    }
}

#[test]
fn start_with_drawbridge_is_changed_in_place() {
    let text = |rest: &str| format!("{{\"mcpServers\": {{\"one\": {{\"command\": \"x\"{rest}}}}}}}");
    let one = || local_entry("one", "x", &[]);
    let cases = [
        (one(), r#", "autostart": false"#, r#", "autostart": true"#),
        (one(), r#", "autostart":  true"#, r#", "autostart":  true"#),
        (started_by_hand(one()), r#", "autostart":  false"#, r#", "autostart":  false"#),
        (started_by_hand(one()), r#", "autostart": true"#, r#", "autostart": false"#),
        (one(), "", ""),
    ];
    for (entry, before, after) in cases {
        let store = TestStore::new();
        fs::write(store.config(), text(before)).unwrap();
        store.ports.servers.put(&entry, None).unwrap();
        assert_eq!(fs::read_to_string(store.config()).unwrap(), text(after), "from {before}");
        assert_eq!(store.ports.servers.load().unwrap(), [entry], "the server is read back as written");
    }
}

#[test]
fn removed_server_does_not_affect_others() {
    let store = TestStore::new();
    fs::write(store.config(), SETTINGS_TEXT).unwrap();
    store.ports.servers.remove("two").unwrap();
    let expected = SETTINGS_TEXT.replace(",\n\t\t\"two\": {\"command\":\"b\"}", "");
    assert_eq!(
        fs::read_to_string(store.config()).unwrap(),
        expected,
        "the last server is removed with the comma before it"
    );
    store.ports.servers.remove("one").unwrap();
    let text = fs::read_to_string(store.config()).unwrap();
    assert!(
        text.contains("\"far\": { \"url\": \"https://example.com\" , \"headers\": {} }"),
        "the remote server stays: {text}"
    );
    store.ports.servers.remove("far").unwrap();
    assert_eq!(store.ports.servers.load().unwrap(), [], "no usable server is left");
    let text = fs::read_to_string(store.config()).unwrap();
    assert!(text.contains("wss://example.com"), "an unusable server stays: {text}");
    store.ports.servers.remove("odd").unwrap();
    store.ports.servers.remove("nobody").unwrap();
    assert_eq!(fs::read_to_string(store.config()).unwrap(), text, "unknown content is unchanged");
}

#[test]
fn missing_file_is_created() {
    let store = TestStore::new();
    store.ports.servers.remove("a").unwrap();
    assert!(!store.config().exists(), "removing a server creates no file");
    store.ports.servers.put(&local_entry("a", "x", &[]), None).unwrap();
    let text = fs::read_to_string(store.config()).unwrap();
    assert_eq!(
        text, "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
        "the file must be readable"
    );
    fs::write(store.config(), " \n").unwrap();
    store.ports.servers.put(&local_entry("a", "x", &[]), None).unwrap();
    assert_eq!(fs::read_to_string(store.config()).unwrap(), text, "an empty file is rewritten");
    fs::write(store.config(), "{\"b\": 1}").unwrap();
    store.ports.servers.put(&local_entry("a", "x", &[]), None).unwrap();
    assert_eq!(store.ports.servers.load().unwrap().len(), 1, "\"mcpServers\" is added where it is missing");
}

#[test]
fn server_name_collisions_are_rejected() {
    let store = TestStore::new();
    fs::write(store.config(), SETTINGS_TEXT).unwrap();
    let cases = [
        (local_entry("two", "x", &[]), Some("one"), "another server is called \"two\"; choose another name"),
        (local_entry("far", "x", &[]), Some("one"), "another server is called \"far\"; choose another name"),
        (
            local_entry("odd", "x", &[]),
            None,
            "the name \"odd\" belongs to a server in the file that Drawbridge can't use; choose another one",
        ),
        (local_entry(" ", "x", &[]), None, "a server's name must not be empty"),
        (local_entry("a\nb", "x", &[]), None, "the name \"a\\nb\" has control characters"),
    ];
    for (entry, was, message) in cases {
        let problem = store.ports.servers.put(&entry, was).unwrap_err();
        assert_eq!(problem.message, message, "the message for {:?}", entry.name);
        assert_eq!(fs::read_to_string(store.config()).unwrap(), SETTINGS_TEXT, "the file is unchanged");
    }
    store.ports.servers.put(&local_entry("new", "x", &[]), Some("gone")).unwrap();
    assert_eq!(store.ports.servers.load().unwrap().len(), 4, "a server whose old name is gone is added");
}

#[test]
fn unexpected_configuration_is_not_overwritten() {
    let store = TestStore::new();
    fs::write(store.config(), SETTINGS_TEXT).unwrap();
    let servers = &store.ports.servers;
    let (two, other, new) =
        (local_entry("two", "b", &[]), local_entry("two", "other", &[]), local_entry("new", "x", &[]));
    for (entry, before) in [(&other, None), (&other, Some(&other.config)), (&new, Some(&new.config))] {
        assert!(!servers.put_if_unchanged(entry, before).unwrap(), "{} over {before:?}", entry.name);
        assert_eq!(fs::read_to_string(store.config()).unwrap(), SETTINGS_TEXT, "the file is unchanged");
    }
    assert!(servers.put_if_unchanged(&other, Some(&two.config)).unwrap(), "the server has the expected configuration");
    assert!(servers.put_if_unchanged(&new, None).unwrap(), "there is no server of this name");
    let now = servers.load().unwrap();
    assert!(now.contains(&other) && now.contains(&new), "{now:?}");
}

fn remote_entry(name: &str, url: &str, kind: Option<HttpKind>, headers: &[(&str, &str)]) -> ServerEntry {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    ServerEntry { name: name.into(), config: HttpConfig { url: url.into(), kind, headers, auth: None }.into() }
}

#[test]
fn remote_servers_are_written_in_the_common_format() {
    let store = TestStore::new();
    let headers = [("Authorization", "Bearer ${secret:far.Authorization}")];
    let mut entry = remote_entry("far", "https://example.com/mcp", Some(HttpKind::Http), &headers);
    entry.config.revision = Some("2025-06-18".parse().unwrap());
    store.ports.servers.put(&entry, None).unwrap();
    let text = fs::read_to_string(store.config()).unwrap();
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!({
        "type": "http",
        "url": "https://example.com/mcp",
        "headers": {"Authorization": "Bearer ${secret:far.Authorization}"},
        "protocolVersion": "2025-06-18",
    });
    assert_eq!(written["mcpServers"]["far"], expected, "the remote server in the file");
    assert_eq!(store.ports.servers.load().unwrap(), [entry], "the server is read back as written");
}

#[test]
fn changed_remote_server_keeps_the_keys_of_its_file() {
    let text = r#"{"mcpServers": {"far": {"type": "streamable-http", "serverUrl": "https://a.example/x", "oauth": {"k": 1}}}}"#;
    let store = TestStore::new();
    fs::write(store.config(), text).unwrap();
    store.ports.servers.put(&remote_entry("far", "https://a.example/y", Some(HttpKind::Http), &[]), None).unwrap();
    let changed = text.replace("/x", "/y");
    assert_eq!(fs::read_to_string(store.config()).unwrap(), changed, "the existing transport name and key stay");
    store.ports.servers.put(&remote_entry("far", "https://a.example/y", Some(HttpKind::Sse), &[]), None).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&fs::read_to_string(store.config()).unwrap()).unwrap();
    let entry = &entry["mcpServers"]["far"];
    assert_eq!(
        (&entry["type"], &entry["oauth"]["k"]),
        (&"sse".into(), &1.into()),
        "another transport is written: {entry}"
    );
    store.ports.servers.put(&self::local_entry("far", "npx", &["x"]), None).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&fs::read_to_string(store.config()).unwrap()).unwrap();
    let expected = serde_json::json!({"oauth": {"k": 1}, "command": "npx", "args": ["x"]});
    assert_eq!(entry["mcpServers"]["far"], expected, "no key of the URL is left when the server becomes local");
}

#[test]
fn invalid_file_is_not_overwritten() {
    let store = TestStore::new();
    for text in ["{\n  \"mcpServers\": {,}\n}", "{\"mcpServers\": {\"a\": {\"command\": 1}}}", "// hello\n{}"] {
        fs::write(store.config(), text).unwrap();
        let problem = store.ports.servers.put(&local_entry("b", "x", &[]), None).unwrap_err();
        assert!(problem.line.is_some(), "the problem has its line: {problem}");
        store.ports.servers.remove("a").unwrap_err();
        assert_eq!(fs::read_to_string(store.config()).unwrap(), text, "the file is unchanged");
    }
}

#[test]
fn special_characters_in_mcp_json_round_trip() {
    let store = TestStore::new();
    let strange = [
        "",
        " ",
        "\"",
        "\\",
        "\u{7f}\u{1b}[0m",
        "line\nbreak\ttab",
        "\u{2028}\u{202e}",
        "äöü 漢字 🦀",
        "$HOME `x` %PATH%",
    ];
    let mut expected =
        with_env(local_entry("strange \"name\" \\ 🦀", "c\\m\"d", &strange), &[("A", "\n"), ("ß", "\\")]);
    expected.config.as_stdio_mut().unwrap().cwd = Some(PathBuf::from("C:\\Program Files\\\"x\""));
    store.ports.servers.put(&expected, None).unwrap();
    assert_eq!(store.ports.servers.load().unwrap(), [expected], "every character is read back");
}

#[test]
fn concurrent_writers_of_mcp_json_lose_no_server() {
    let store = TestStore::new();
    let folder = store.folder.path();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                let ports = crate::common::open_store(folder);
                for number in 0..10 {
                    ports.servers.put(&local_entry(&format!("{writer}-{number}"), "x", &[]), None).unwrap();
                }
            });
        }
        for _ in 0..200 {
            store.ports.servers.load().expect("a reader never sees a partial file");
        }
    });
    assert_eq!(store.ports.servers.load().unwrap().len(), 40, "the file has the servers of all writers");
    let left: Vec<_> =
        fs::read_dir(store.config().parent().unwrap()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["mcp.json"], "nothing else is left in the folder");
}

#[test]
fn interrupted_write_of_mcp_json_has_no_effect() {
    let store = TestStore::new();
    fs::write(store.config(), SETTINGS_TEXT).unwrap();
    // A process that is killed while it writes leaves such a file.
    fs::write(store.config().with_file_name(".mcp.json.Ab12Cd.tmp"), "{\"mcpSer").unwrap();
    assert_eq!(store.ports.servers.load().unwrap().len(), 3, "the file is complete");
    store.ports.servers.put(&local_entry("three", "x", &[]), None).unwrap();
    assert_eq!(store.ports.servers.load().unwrap().len(), 4, "the file can be written");
}

#[cfg(unix)]
#[test]
fn write_of_mcp_json_preserves_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let store = TestStore::new();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    store.ports.servers.put(&local_entry("a", "x", &[]), None).unwrap();
    assert_eq!(mode(&store.config()), 0o600, "a new file is accessible only to its owner");
    assert_eq!(mode(store.config().parent().unwrap()), 0o700, "a new folder is accessible only to its owner");
    fs::set_permissions(store.config(), fs::Permissions::from_mode(0o640)).unwrap();
    store.ports.servers.put(&local_entry("b", "x", &[]), None).unwrap();
    assert_eq!(mode(&store.config()), 0o640, "an old file keeps its permissions");

    let real = store.folder.path().join("dotfiles.json");
    fs::rename(store.config(), &real).unwrap();
    symlink(&real, store.config()).unwrap();
    store.ports.servers.put(&local_entry("c", "x", &[]), None).unwrap();
    assert!(fs::symlink_metadata(store.config()).unwrap().is_symlink(), "a link stays a link");
    assert!(fs::read_to_string(&real).unwrap().contains("\"c\""), "the target of the link is changed");
}

#[test]
fn first_start_adds_the_demo_server() {
    let store = TestStore::new();
    let demo = std::path::Path::new("/opt/draw bridge/demo-server");
    assert!(store::add_demo_server_if_first_start(&store.config(), demo).unwrap(), "the file is written");
    assert_eq!(
        store.ports.servers.load().unwrap(),
        [local_entry("demo", "/opt/draw bridge/demo-server", &[])],
        "the file has the demo server"
    );
    store.ports.servers.remove("demo").unwrap();
    assert!(
        !store::add_demo_server_if_first_start(&store.config(), demo).unwrap(),
        "the second start must not count as the first"
    );
    assert_eq!(store.ports.servers.load().unwrap(), [], "a removed server is not added again");
}
