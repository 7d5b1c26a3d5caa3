//! Files that exceed limits on size or content.

use std::fs;
use std::path::Path;

use other_apps::{OperatingSystem, ScanReport, ScanScope, scan_settings};
use ports::server_config::ServerTransport;

use super::environment_of_home;

fn write_file(home: &Path, file: &str, text: impl AsRef<[u8]>) {
    let path = home.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn scan_all(home: &Path) -> ScanReport {
    scan_settings(&ScanScope::All, &environment_of_home(home.to_owned(), OperatingSystem::Linux), &[]).unwrap()
}

#[test]
fn overlong_file_is_skipped_and_reported() {
    let home = tempfile::tempdir().unwrap();
    let long = format!("{{ \"mcpServers\": {{ \"a\": {{ \"command\": \"{}\" }} }} }}", "x".repeat(1 << 20));
    write_file(home.path(), ".cursor/mcp.json", long);
    let report = scan_all(home.path());
    assert_eq!(report.servers.len(), 0);
    assert!(report.problems[0].message.contains("longer than 1 MB"), "{:?}", report.problems);
}

#[test]
fn only_the_servers_of_a_long_state_file_are_read() {
    let home = tempfile::tempdir().unwrap();
    // The history has several megabytes and contains text that looks like servers, on an earlier line.
    let history = format!("[{}\"end\"]", "{\"mcpServers\": {\"none\": {\"command\": \"never\"}}},".repeat(60_000));
    let text = format!(
        "{{\n\"history\": {history},\n\"mcpServers\": {{\"user\": {{\"command\": \"u\"}}, /* a comment is none here */\n\"x\": 1}},\n\"projects\": {{}}}}"
    );
    write_file(home.path(), ".claude.json", &text);
    let report = scan_all(home.path());
    assert_eq!(report.problems[0].line, Some(3), "invalid JSON is reported with its position: {:?}", report.problems);

    let text = format!(
        "{{\n\"history\": {history},\n\"mcpServers\": {{\"user\": {{\"command\": \"u\"}},\n\"bad\": 1}},\n\"projects\": {{\"/a\": {{\"history\": {history}, \
         \"mcpServers\": {{\"local\": {{\"type\": \"http\", \"url\": \"https://a.example/mcp\"}}}}}}, \"/b\": {{\"mcpServers\": {{}}}}}}}}"
    );
    assert!(text.len() > 4 << 20, "the file exceeds the ordinary limit");
    write_file(home.path(), ".claude.json", &text);
    let report = scan_all(home.path());
    assert_eq!(report.problems, [], "the file is read without problems");
    let names: Vec<&str> = report.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["user", "bad", "local"], "servers of the user, then those of projects");
    assert!(
        report.servers[1].notes[0].text.starts_with("line 4: column 8: "),
        "the position refers to the whole file: {:?}",
        report.servers[1].notes
    );
    assert!(report.servers[2].notes.iter().any(|note| note.text.contains("\"/a\"")), "the folder is named");
    assert!(
        matches!(&report.servers[2].config.transport, ServerTransport::Http(http) if http.url == "https://a.example/mcp")
    );
}

#[test]
fn nested_references_are_expanded_in_linear_time() {
    let home = tempfile::tempdir().unwrap();
    let open = "${".repeat(300_000);
    write_file(
        home.path(),
        ".cursor/mcp.json",
        format!("{{\"mcpServers\": {{\"open\": {{\"command\": \"x\", \"env\": {{\"A\": \"{open}\"}}}}}}}}"),
    );
    // Each variable refers to the next one ten times, so that repeated expansion would grow exponentially.
    let laughs: Vec<String> =
        (0..20).map(|level| format!("\"V{level:02}\": \"{}\"", format!("${{V{:02}}}", level + 1).repeat(10))).collect();
    write_file(
        home.path(),
        ".kiro/settings/mcp.json",
        format!(
            "{{\"mcpServers\": {{\"laughs\": {{\"command\": \"npx\", \"args\": [\"mcp-remote\", \"https://a.example/mcp\", \"--header\", \"X: ${{V00}}\"], \"env\": {{{}}}}}}}}}",
            laughs.join(",")
        ),
    );
    let same: String = (0..500).map(|number| format!("  - {{name: same, command: x{number}}}\n")).collect();
    write_file(home.path(), ".continue/config.yaml", format!("mcpServers:\n{same}"));
    // This test measures time: searching for the end of each "${" again takes minutes in a debug build, and a single
    // scan far less than a second.
    let begun = std::time::Instant::now();
    let report = scan_all(home.path());
    assert_eq!((report.servers.len(), report.problems.len()), (502, 0), "all servers are read");
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "it takes {:?}", begun.elapsed());
    let laughs = report.servers.iter().find(|server| server.name == "laughs").unwrap();
    let ServerTransport::Http(http) = &laughs.config.transport else { panic!("the server is remote") };
    assert_eq!(http.headers["X"], "${V01}".repeat(10), "variables are replaced once");
}

#[test]
fn number_of_servers_and_values_and_nesting_depth_are_bounded() {
    let home = tempfile::tempdir().unwrap();
    let many: Vec<String> = (0..600).map(|number| format!("\"s{number}\": {{\"command\": \"c{number}\"}}")).collect();
    write_file(home.path(), ".cursor/mcp.json", format!("{{\"mcpServers\": {{{}}}}}", many.join(",")));
    let aliases: String = (1..12)
        .map(|level| format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(", ")))
        .collect();
    write_file(
        home.path(),
        ".config/goose/config.yaml",
        format!("a0: &a0 [x, x, x, x, x, x, x, x, x]\n{aliases}extensions: {{}}\n"),
    );
    write_file(home.path(), ".continue/config.yaml", format!("mcpServers: {}{}", "[".repeat(5_000), "]".repeat(5_000)));
    write_file(home.path(), ".codex/config.toml", format!("a = {}{}", "[".repeat(5_000), "]".repeat(5_000)));
    write_file(home.path(), ".gemini/settings.json", format!("{{\"a\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000)));
    write_file(home.path(), ".kiro/settings/mcp.json", b"{ \"mcpServers\": { \"a\": \"\xff\" } }");
    write_file(home.path(), ".junie/mcp/mcp.json", b"\xff\xfe{\x00");
    let report = scan_all(home.path());
    assert_eq!(report.servers.len(), 0, "no server is read");
    let problems: Vec<(&str, Option<u32>)> =
        report.problems.iter().map(|problem| (problem.message.as_str(), problem.line)).collect();
    assert_eq!(problems.len(), 7, "each file is reported: {problems:#?}");
    for word in ["more than 500 servers", "values", "UTF-8", "UTF-16"] {
        assert!(problems.iter().any(|(message, _)| message.contains(word)), "{word}: {problems:#?}");
    }
}

#[test]
fn number_of_projects_with_servers_is_bounded() {
    let state = |projects: usize| {
        let projects: Vec<String> = (0..projects)
            .map(|number| format!("\"/p{number}\":{{\"mcpServers\":{{\"a\":{{\"command\":\"x\"}}}}}}"))
            .collect();
        // The file is larger than 1 MB, so that only the servers are extracted.
        format!("{{\"history\":\"{}\",\"projects\":{{{}}}}}", "x".repeat(1 << 20), projects.join(","))
    };
    let home = tempfile::tempdir().unwrap();
    write_file(home.path(), ".claude.json", state(10_001));
    let report = scan_all(home.path());
    let problem = &report.problems[0];
    assert!(problem.message.contains("more than 10000 projects"), "the limit is reported: {problem:?}");
    assert_eq!(report.servers.len(), 0, "no server is read");
    write_file(home.path(), ".claude.json", state(10_000));
    let problem = &scan_all(home.path()).problems[0];
    assert!(
        problem.message.contains("more than 500 servers"),
        "the maximum number of projects is accepted: {problem:?}"
    );
}
