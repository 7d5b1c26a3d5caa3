//! Tests of reading `mcp.json`: accepted forms, and the error messages for all others.

use std::path::PathBuf;

use crate::common::TestStore;
use ports::server_config::{HttpKind, ToolFilter};

fn load(text: impl AsRef<[u8]>) -> Result<Vec<ports::server_config::ServerEntry>, ports::server_config::ConfigProblem> {
    let store = TestStore::new();
    std::fs::write(store.config(), text).unwrap();
    store.ports.servers.load()
}

#[test]
fn whole_mcp_json_is_parsed() {
    let servers = load(
        r#"{
  "other": [1, 2],
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "pkg", "/tmp/a b"], "env": {"B": "2", "A": "1"}, "cwd": "/srv", "disabled": false},
    "far": {"type": "http", "url": "https://example.com/mcp"},
    "near": {"type": "stdio", "command": "/bin/near", "args": null}
  }
}"#,
    )
    .unwrap();
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["files", "far", "near"], "servers are in the file's order");
    let far = servers[1].config.as_http().unwrap();
    assert_eq!(
        (far.url.as_str(), far.kind),
        ("https://example.com/mcp", Some(HttpKind::Http)),
        "the URL and kind of a remote server"
    );
    let files = servers[0].config.as_stdio().unwrap();
    assert_eq!(files.command, "npx", "the command must be read");
    assert_eq!(files.args, ["-y", "pkg", "/tmp/a b"], "arguments are unchanged");
    assert_eq!(files.env.get("A").map(String::as_str), Some("1"), "the variables must be read");
    assert_eq!(files.cwd, Some(PathBuf::from("/srv")), "the working directory must be read");
    assert!(servers[2].config.as_stdio().unwrap().args.is_empty(), "null is the same as absent");
}

#[test]
fn tool_lists_of_mcp_json_are_read() {
    let entry = |lists: &str| {
        let text = format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"x\"{lists}}}}}}}");
        load(text).unwrap().remove(0).config.tools
    };
    let filter = |enabled: Option<&[&str]>, disabled: &[&str]| {
        let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        ToolFilter { enabled: enabled.map(texts), disabled: texts(disabled) }
    };
    let cases = [
        ("", filter(None, &[])),
        (r#","enabledTools": null"#, filter(None, &[])),
        (r#","enabledTools": []"#, filter(Some(&[]), &[])),
        (r#","enabledTools": ["read_*"], "disabledTools": ["read_all"]"#, filter(Some(&["read_*"]), &["read_all"])),
        (r#","disabled_tools": ["read"]"#, filter(None, &[])),
    ];
    for (lists, expected) in cases {
        assert_eq!(entry(lists), expected, "{lists}");
    }
}

#[test]
fn common_deviations_of_mcp_json_are_tolerated() {
    let cases: &[(&str, &[u8], usize)] = &[
        ("an empty object", b"{}", 0),
        ("null for no servers", br#"{"mcpServers": null}"#, 0),
        ("a mark before the text", b"\xef\xbb\xbf{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}", 1),
        ("line ends of Windows", b"{\r\n  \"mcpServers\": {\r\n \"a\": {\"command\": \"x\"}}\r\n}\r\n\r\n", 1),
        ("escapes in names", br#"{"mcp\u0053ervers": {"\u0061": {"comman\u0064": "x"}}}"#, 1),
    ];
    for (what, text, count) in cases {
        let servers = load(text).unwrap_or_else(|problem| panic!("{what}: {problem}"));
        assert_eq!(servers.len(), *count, "{what} is read");
    }
    let store = TestStore::new();
    assert_eq!(store.ports.servers.load().unwrap(), [], "a missing file has no servers");
    for empty in [&b""[..], b" \n\n"] {
        let problem = load(empty).expect_err("a file that was emptied removes no servers");
        assert!(problem.message.contains("empty"), "the message has the reason: {problem}");
    }
}

#[test]
fn every_mcp_json_problem_has_a_position_and_an_explanation() {
    let cases: &[(&str, u32, u32, &str)] = &[
        // Not valid JSON.
        ("{\n  \"mcpServers\": {\n", 2, 17, "this object is not closed: expected \"}\" before the end"),
        ("{\n \"a\": [1, 2\n", 2, 7, "this list is not closed: expected \"]\" before the end"),
        ("{\n  \"a\": 1,\n}", 2, 9, "a comma with nothing after it; JSON has commas only between two items: remove it"),
        ("{\n  // hello\n}", 2, 3, "a comment; this file is plain JSON, which has no comments: remove it"),
        ("{\n  /* hello */ \"a\": 1}", 2, 3, "a comment; this file is plain JSON, which has no comments: remove it"),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9, "expected a comma after this item"),
        ("{\n  \"a\" 1\n}", 2, 7, "expected \":\" after the name, found \"1\""),
        ("{\n  \"a\": }", 2, 8, "expected a value, found \"}\""),
        ("{\n  'a': 1}", 2, 3, "expected double quotes, found single ones"),
        ("{\n  a: 1}", 2, 3, "expected a name in double quotes, found \"a\""),
        ("{\"a\": yes}", 1, 7, "expected a value, found \"yes\""),
        ("{} {}", 1, 4, "expected nothing more, found \"{\""),
        ("npx -y pkg", 1, 1, "expected a value, found \"npx\""),
        (
            "{\n \"a\": \"tab\there\"\n}",
            2,
            10,
            "this is not JSON: control character (\\u0000-\\u001F) found while parsing a string",
        ),
        ("{\n \"a\": \"no end\n}", 2, 7, "this is not JSON: Unterminated string literal"),
        (
            "{\"mcpServers\": {\n\"a\": {\"type\": \"http\"}}}",
            2,
            6,
            "server \"a\" has no \"url\": where it is was expected",
        ),
        (
            "{\"mcpServers\": {\"a\": {\n\"url\": \"ftp://x\"}}}",
            2,
            8,
            "server \"a\": the URL must begin with https:// or http://",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"url\": \"https://x\",\n\"headers\": {\"b\": 1}}}}",
            2,
            18,
            "the header \"b\" of server \"a\" must be a text, found a number; write \"1\"",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"protocolVersion\": \"1\"}}}",
            2,
            20,
            "server \"a\": \"1\" is no known protocol revision; known are 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 \
             and 2026-07-28",
        ),
        // Valid JSON of another shape.
        ("[]", 1, 1, "expected an object with \"mcpServers\", found a list"),
        ("\"x\"", 1, 1, "expected an object with \"mcpServers\", found a text"),
        (
            "{\n  \"servers\": {}\n}",
            2,
            3,
            "expected \"mcpServers\", found \"servers\": paste such a file into \"Add server\" instead",
        ),
        (
            "{\n  \"mcpServers\": []\n}",
            2,
            17,
            "\"mcpServers\" must be an object with a server under each name, found a list",
        ),
        (
            "{\"mcpServers\": {\n\"a\": \"npx\"}}",
            2,
            6,
            "server \"a\" must be an object with a \"command\" or a \"url\", found a text",
        ),
        (
            "{\"mcpServers\": {\n\"a\": {\"args\": []}}}",
            2,
            6,
            "server \"a\" has no \"command\": the program to start was expected",
        ),
        (
            "{\"mcpServers\": {\n\"a\": {\"command\": 5}}}",
            2,
            18,
            "\"command\" of server \"a\" must be a text, found a number; write \"5\"",
        ),
        ("{\"mcpServers\": {\n\"a\": {\"command\": \" \"}}}", 2, 18, "\"command\" of server \"a\" must not be empty"),
        (
            "{\"mcpServers\": {\n \"files\": {\n  \"command\": \"npx\",\n  \"args\": 3}}}",
            4,
            11,
            "\"args\" of server \"files\" must be a list of texts, found a number",
        ),
        (
            "{\"mcpServers\": {\"files\": {\"command\": \"npx\",\n\"args\": [\n\"a\",\n7]}}}",
            4,
            1,
            "\"args\" of server \"files\" must be a list of texts, found a number; write \"7\"",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"env\": [\"A=1\"]}}}",
            2,
            8,
            "\"env\" of server \"a\" must be an object of texts, found a list",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\n \"PORT\": 80}}}}",
            2,
            10,
            "the variable \"PORT\" of server \"a\" must be a text, found a number; write \"80\"",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\n \"A=B\": \"c\"}}}}",
            2,
            2,
            "the variable \"A=B\" of server \"a\" has an invalid name: it must not be empty or contain \"=\"",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"cwd\": true}}}",
            2,
            8,
            "\"cwd\" of server \"a\" must be a text, found true",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"cwd\": \"\"}}}",
            2,
            8,
            "\"cwd\" of server \"a\" must not be empty; leave it out instead",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\\u0000\"}}}",
            1,
            34,
            "\"command\" of server \"a\" has a NUL character, which no program accepts",
        ),
        ("{\"mcpServers\": {\n\"\": {\"command\": \"x\"}}}", 2, 1, "a server's name must not be empty"),
        (
            "{\"mcpServers\": {\n\"a\\u001b\": {\"command\": \"x\"}}}",
            2,
            1,
            "the name \"a\\u{1b}\" has control characters",
        ),
        (
            "{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}",
            3,
            1,
            "\"a\" occurs twice in \"mcpServers\", first in line 2; remove one of them",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"command\": \"y\"}}}",
            2,
            1,
            "\"command\" occurs twice in server \"a\", first in line 1; remove one of them",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"enabledTools\": \"read\"}}}",
            2,
            17,
            "\"enabledTools\" of server \"a\" must be a list of texts, found a text",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"disabledTools\": [\"read\", 1]}}}",
            2,
            27,
            "\"disabledTools\" of server \"a\" must be a list of texts, found a number; write \"1\"",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"url\": \"https://a.example\",\n\"disabledTools\": [\"\"]}}}",
            2,
            18,
            "\"disabledTools\" of server \"a\": the name of a tool must not be empty or longer than 1000 bytes",
        ),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"autostart\": \"no\"}}}",
            2,
            14,
            "\"autostart\" of server \"a\" must be true or false, found a text",
        ),
        // Columns count characters, also after a byte order mark.
        (
            "\u{feff}{\"mcpServers\": {\"äöü\": 1}}",
            1,
            24,
            "server \"äöü\" must be an object with a \"command\" or a \"url\", found a number",
        ),
    ];
    for (text, line, column, message) in cases {
        let problem = load(text).expect_err(text);
        assert_eq!(problem.message, *message, "the message for {text:?}");
        assert_eq!((problem.line, problem.column), (Some(*line), Some(*column)), "the position in {text:?}: {problem}");
        assert!(problem.file.is_some_and(|file| file.ends_with("mcp.json")), "the file is named for {text:?}");
    }
}

#[test]
fn overlong_name_is_a_problem() {
    let long = "x".repeat(65);
    let problem = load(format!("{{\"mcpServers\": {{\"{long}\": {{\"command\": \"x\"}}}}}}")).unwrap_err();
    assert!(problem.message.ends_with("is longer than 64 characters"), "the message names the limit: {problem}");
    let long = "ä".repeat(64);
    assert!(
        load(format!("{{\"mcpServers\": {{\"{long}\": {{\"command\": \"x\"}}}}}}")).is_ok(),
        "64 characters are allowed"
    );
}

#[test]
fn invalid_utf8_is_a_problem() {
    let problem = load(b"{\n \"a\": \"\xff\"}").unwrap_err();
    assert_eq!((problem.line, problem.column), (Some(2), Some(8)), "the problem has the place of the byte");
    assert!(problem.message.contains("save the file as UTF-8"), "the message names the next step: {problem}");
    let problem = load(b"\xff\xfe{\0}\0").unwrap_err();
    assert!(problem.message.contains("UTF-16"), "the message names the encoding: {problem}");
}

#[test]
fn mcp_json_depth_and_size_are_bounded() {
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let problem = load(deep).unwrap_err();
    assert_eq!(problem.message, "too many levels within one another", "excessive depth is a problem, not a crash");
    let problem = load(vec![b' '; (4 << 20) + 1]).unwrap_err();
    assert!(problem.message.contains("larger than 4 MiB"), "the size is limited: {problem}");
}
