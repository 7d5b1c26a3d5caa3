//! Tests of `doctor`: findings on a computer with a prepared search path, and a report without private data.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::program::{ProgramResult, TestFolder, parse_output};

/// Text that occurs in all private values of the test, and must not occur in the report.
const PRIVATE_MARKER: &str = "kanari";

/// Creates a folder with these shell scripts as programs, and a fake login shell whose search path contains only that
/// folder.
fn install_programs(folder: &TestFolder, scripts: &[(&str, &str)]) {
    let bin = folder.path("bin");
    fs::create_dir_all(&bin).unwrap();
    symlink("/usr/bin/env", bin.join("env")).unwrap();
    for (name, script) in scripts {
        write_program(&bin.join(name), &format!("#!/bin/sh\n{script}\n"));
    }
    let shell = format!("#!/bin/sh\nPATH='{}'\nexport PATH\nfor last; do :; done\neval \"$last\"\n", bin.display());
    write_program(&folder.path("shell"), &shell);
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the command `doctor` with a home folder in `folder`, and without environment variables that could change the
/// results.
fn doctor_command(folder: &TestFolder) -> Command {
    fs::create_dir_all(folder.path("home")).unwrap();
    let mut command = folder.command();
    command.arg("--json").arg("doctor").env("SHELL", folder.path("shell")).env("HOME", folder.path("home"));
    let others = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "SSL_CERT_DIR"];
    for name in others.into_iter().chain(["SSL_CERT_FILE", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "REQUEST_METHOD"]) {
        command.env_remove(name);
    }
    command
}

fn is_folder_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

fn find_finding<'a>(ended: &'a ProgramResult, id: &str) -> &'a Value {
    let findings = ended.result()["value"]["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["id"] == id)
        .unwrap_or_else(|| panic!("there should be a finding {id}: {findings:#?}"))
}

fn finding_text<'a>(finding: &'a Value, key: &str) -> &'a str {
    finding[key].as_str().unwrap_or_else(|| panic!("{key} should be text: {finding}"))
}

#[test]
fn required_runtime_is_found_with_its_version() {
    let config = json!({"mcpServers": {"web": {"command": "npx", "args": ["-y", "server"]}}});
    let folder = TestFolder::with_config(&config.to_string());
    install_programs(&folder, &[("node", "echo v22.5.1"), ("npx", "exit 9")]);
    fs::remove_dir_all(folder.path("data")).unwrap();
    let ended = parse_output(doctor_command(&folder).output().unwrap());
    let node = find_finding(&ended, "node");
    assert_eq!((&node["state"], &node["servers"]), (&json!("ok"), &json!(["web"])), "{node}");
    assert!(finding_text(node, "seen").starts_with("Node.js 22.5.1, "), "version and path should be reported: {node}");
    assert!(finding_text(node, "seen").contains("/bin/node"), "the path should be reported: {node}");
    let path = find_finding(&ended, "search_path");
    assert_eq!(path["state"], "ok", "the login shell's path should be used: {path}");
    assert_eq!(
        find_finding(&ended, "uv")["state"],
        "ok",
        "a missing runtime that no server needs should not be a problem"
    );
    let keychain = find_finding(&ended, "keychain");
    assert_eq!(keychain["state"], "warning", "tests should have no keychain: {keychain}");
    let sandbox = find_finding(&ended, "sandbox");
    assert!(
        finding_text(sandbox, "seen").contains("bubblewrap"),
        "each part of the sandbox should be tested: {sandbox}"
    );
    assert!(is_folder_empty(&folder.path("home")) && !folder.path("data").exists(), "nothing should be created");
}

#[test]
fn missing_runtime_is_a_problem_of_its_servers() {
    let config = json!({"mcpServers": {
        "web": {"command": "npx", "args": ["-y", "server"]},
        "py": {"command": "uvx", "args": ["server"]},
        "own": {"command": "/nonexistent/server"},
        "far": {"url": "https://mcp.example.com/mcp"},
    }});
    let folder = TestFolder::with_config(&config.to_string());
    // Debian has packages of Node.js without npx.
    install_programs(&folder, &[("node", "echo v18.20.4")]);
    let ended = parse_output(doctor_command(&folder).output().unwrap());
    let (code, message) = ended.error(1);
    assert_eq!(code, "system", "{message}");
    assert_eq!(message, "3 problems were found on this computer");
    for (id, server, step) in
        [("node", "web", "npx"), ("uv", "py", "docs.astral.sh/uv"), ("programs", "own", "settings")]
    {
        let found = find_finding(&ended, id);
        assert_eq!((&found["state"], &found["servers"]), (&json!("problem"), &json!([server])), "{found}");
        assert!(finding_text(found, "next").contains(step), "the finding should contain the next step: {found}");
    }
}

#[test]
fn doctor_runs_with_unusable_settings_and_folders() {
    let folder = TestFolder::with_config("{\n  \"mcpServers\": {\n    \"a\": {\"command\": 7}\n  }\n}");
    install_programs(&folder, &[]);
    fs::remove_dir_all(folder.path("data")).unwrap();
    fs::write(folder.path("data"), "a file in the way").unwrap();
    let output = parse_output(doctor_command(&folder).output().unwrap());
    let settings = find_finding(&output, "settings");
    assert_eq!(settings["state"], "problem", "{settings}");
    assert!(finding_text(settings, "seen").contains("line 3, column "), "{settings}");
    let data = find_finding(&output, "data_folder");
    assert_eq!(data["state"], "problem", "{data}");
    assert_eq!(output.status, 1, "a host could not be started in this folder");
}

#[test]
fn doctor_report_contains_no_private_data() {
    let secret = |name: &str| format!("{PRIVATE_MARKER}-{name}");
    let config = json!({"mcpServers": {
        secret("npx"): {"command": "npx", "args": ["-y", secret("argument")], "env": {secret("NAME"): secret("value")}, "cwd": "/"},
        secret("own"): {"command": format!("/opt/{PRIVATE_MARKER}/server"), "args": [secret("argument")]},
        secret("home"): {"command": "~/kanari/server", "env": {"NODE_EXTRA_CA_CERTS": format!("/{PRIVATE_MARKER}/ca.pem")}},
        secret("far"): {"url": format!("https://{PRIVATE_MARKER}.example/{PRIVATE_MARKER}?key={PRIVATE_MARKER}"),
            "headers": {"X-Key": format!("${{secret:{PRIVATE_MARKER}}}"), secret("Header"): secret("value")}},
        secret("here"): {"url": format!("http://localhost:8080/{PRIVATE_MARKER}")},
    }});
    let folder = TestFolder::with_config(&config.to_string());
    install_programs(
        &folder,
        &[
            ("node", &format!("echo {PRIVATE_MARKER} >&2; exit 3")),
            ("python3", &format!("echo {PRIVATE_MARKER} 3.12.1-{PRIVATE_MARKER}")),
        ],
    );
    let report = |change: &dyn Fn(&mut Command)| {
        let home = folder.path(&format!("{PRIVATE_MARKER}-home"));
        fs::create_dir_all(&home).unwrap();
        let mut command = doctor_command(&folder);
        command
            .arg("--report")
            .env("HOME", &home)
            .env("USER", PRIVATE_MARKER)
            .env("LOGNAME", PRIVATE_MARKER)
            .env("HOSTNAME", PRIVATE_MARKER);
        command
            .env("XDG_CURRENT_DESKTOP", PRIVATE_MARKER)
            .env("XDG_SESSION_TYPE", PRIVATE_MARKER)
            .env("LANG", PRIVATE_MARKER)
            .env("SNAP", PRIVATE_MARKER);
        change(&mut command);
        let ended = parse_output(command.output().unwrap());
        let value = &ended.result()["value"];
        assert!(
            value["findings"].to_string().contains(PRIVATE_MARKER),
            "the findings should contain the marker: {value:#}"
        );
        let report = value["report"].as_str().unwrap().to_owned();
        assert!(
            !report.to_ascii_lowercase().contains(PRIVATE_MARKER),
            "the marker should not be in the report:\n{report}"
        );
        assert!(
            !report.contains(folder.path("").to_str().unwrap().trim_end_matches('/')),
            "the report should contain no path of the marker:\n{report}"
        );
        report
    };
    let plain = report(&|_| ());
    for line in [
        "- Program: drawbridge-cli ",
        "- 1 × local, npx",
        "- 2 × local, a custom program",
        "- 1 × remote, https, not on this computer",
        "- 1 × remote, http, on this computer",
        "**Python**: ok. Python 3.12.1, /…/python3.",
        "**Node.js**: problem. ",
    ] {
        assert!(plain.contains(line), "the text should contain {line:?}:\n{plain}");
    }
    let home = folder.path(&format!("{PRIVATE_MARKER}-home"));
    let below = report(&|command| {
        fs::create_dir_all(home.join(".nvm/versions/node")).unwrap();
        command.env("XDG_CACHE_HOME", home.join("cache")).env("SHELL", home.join("no-shell"));
        command
            .env("HTTPS_PROXY", format!("socks5://{PRIVATE_MARKER}:{PRIVATE_MARKER}@{PRIVATE_MARKER}.example"))
            .env("SSL_CERT_FILE", home.join("ca"));
    });
    for line in
        ["~/…", "The proxy in HTTPS_PROXY can't be used", "No certificate can be read from where SSL_CERT_FILE points"]
    {
        assert!(below.contains(line), "the text should contain {line:?}:\n{below}");
    }
    fs::write(folder.path("mcp.json"), format!("{{\"mcpServers\": {{\"{PRIVATE_MARKER}\": {{\"command\": 7}}}}}}"))
        .unwrap();
    let broken = report(&|_| ());
    assert!(broken.contains("The settings file can't be used, line 1, column "), "{broken}");
}

#[test]
fn findings_and_report_are_readable_text_without_json() {
    let folder = TestFolder::with_config(&json!({"mcpServers": {"web": {"command": "npx"}}}).to_string());
    install_programs(&folder, &[]);
    let run = |arguments: &[&str]| {
        let mut command = folder.command();
        let output = command.args(arguments).env("SHELL", folder.path("shell")).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, lines, errors) = run(&["doctor"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(lines.contains("problem  Node.js: Node.js was not found."), "{lines}");
    assert!(lines.contains("\n         Servers: web\n"), "for whom: {lines}");
    assert!(errors.contains("error: 1 problem was found on this computer"), "{errors}");
    let (_, report, _) = run(&["doctor", "--report"]);
    assert!(report.starts_with("## Drawbridge: report on this computer\n"), "{report}");
}
