//! Tests that the baseline transfers the same bytes as Drawbridge, and that all reports are complete.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use bench::request::request_json;
use bench::scenario::Scenario;
use serde_json::Value;

const BENCH_SERVER_PATH: &str = env!("CARGO_BIN_EXE_bench-server");
const DRAWBRIDGE_CLIENT_PATH: &str = env!("CARGO_BIN_EXE_bench-client");
const BASELINE_CLIENT_PATH: &str = env!("CARGO_BIN_EXE_bench-bare");

/// Returns the standard output of `bench-server` for these lines on standard input.
fn server_output(arguments: &[&str], lines: &str) -> String {
    let mut server =
        Command::new(BENCH_SERVER_PATH).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    server.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    String::from_utf8(server.wait_with_output().unwrap().stdout).unwrap()
}

/// Runs a benchmark client and returns its report.
fn run_client(program: &str, scenario: &str, server: &Path) -> Value {
    let output = Command::new(program).arg(scenario).arg("--server").arg(server).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {scenario}: {}: {errors}", output.status);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn repeating_bench_server_writes_the_output_of_the_full_one() {
    for (scenario, tools) in
        [(Scenario::StdioSeq, "3"), (Scenario::StdioList5000, "5000"), (Scenario::StdioProgress10000, "3")]
    {
        let line = format!("{}\n", request_json(scenario, 1000));
        let real = server_output(&["stdio", "--tools", tools], &line);
        assert!(real.contains("\"id\":1000,\"result\":"), "the request of {scenario:?} succeeds");
        let bare = server_output(&["bare", "--tools", tools], &format!("{line}anything\n"));
        assert!(bare == real.repeat(2), "{scenario:?}: the response has the same bytes, also for an invalid request");
    }
}

#[test]
fn drawbridge_sends_the_same_requests_as_the_baseline_client() {
    let folder = tempfile::tempdir().unwrap();
    let (log, listening) = (folder.path().join("requests"), folder.path().join("listening-server"));
    fs::write(&listening, format!("#!/bin/sh\ntee '{}' | '{BENCH_SERVER_PATH}' \"$@\"\n", log.display())).unwrap();
    fs::set_permissions(&listening, fs::Permissions::from_mode(0o755)).unwrap();
    for scenario in [Scenario::StdioSeq, Scenario::StdioBig10MB, Scenario::StdioProgress10000, Scenario::StdioList5000]
    {
        run_client(DRAWBRIDGE_CLIENT_PATH, &scenario.name(), &listening);
        let written = fs::read_to_string(&log).unwrap();
        let last = written.lines().last().unwrap();
        let id = serde_json::from_str::<Value>(last).unwrap()["id"].as_u64().unwrap();
        assert_eq!(last, request_json(scenario, usize::try_from(id).unwrap()), "the last request of {scenario:?}");
    }
}

#[test]
fn client_report_has_every_key() {
    let server = Path::new(BENCH_SERVER_PATH);
    for program in [DRAWBRIDGE_CLIENT_PATH, BASELINE_CLIENT_PATH] {
        let progress = run_client(program, "stdio-progress-10000", server);
        for key in ["seconds", "user_cpu_s", "sys_cpu_s", "max_rss_kb"] {
            assert!(progress[key].is_number(), "{key} is a number: {progress}");
        }
        assert_eq!(progress["scenario"], "stdio-progress-10000", "the scenario has its name: {progress}");
        assert_eq!(progress["n"], 1, "one call is measured: {progress}");
        assert_eq!(progress["counted"], 10_000, "every notification is received: {progress}");
        let idle = run_client(program, "idle-200", server);
        assert_eq!(idle["n"], 200, "200 sessions are idle: {idle}");
        for key in ["rss_per_session_kb", "pss_per_session_kb"] {
            assert!(idle[key].is_number(), "{key} is a number: {idle}");
        }
    }
    let image = run_client(BASELINE_CLIENT_PATH, "stdio-big-10MB", server);
    let expected = 13_981_117;
    assert_eq!(image["answer_bytes"], expected, "base64 of 10 MiB, the surrounding JSON, and the line end: {image}");
}
