//! Tests of signals: the program stops its servers, and its exit status contains the signal.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use testkit::processes::is_alive;

use crate::program::{TestFolder, allowing_answers};

/// Runs the program, and sends it a signal after the first event for which `until` returns `true`. Returns the exit
/// status, all events, and the process id of the MCP server.
fn run_and_send_signal_after_event(
    folder: &TestFolder,
    arguments: &[&str],
    signal: Signal,
    until: impl Fn(&Value) -> bool,
) -> (i32, Vec<Value>, u32) {
    let options = folder.answers_option(&allowing_answers(json!([])));
    let mut child =
        folder.command().arg("--json").args(options).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| {
        let line = line.expect("standard output is text");
        serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    });
    let mut events = Vec::new();
    for event in lines.by_ref() {
        let fits = until(&event);
        events.push(event);
        if fits {
            break;
        }
    }
    let pid = events.iter().rev().find_map(|event| event["server"]["pid"].as_u64()).expect("the server runs");
    let pid = u32::try_from(pid).unwrap();
    assert!(is_alive(pid), "the server should be alive while it is used");
    send_signal(&child, signal);
    events.extend(lines);
    let status = child.wait().unwrap().code().expect("it ends by itself");
    (status, events, pid)
}

fn send_signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).expect("the signal is sent");
}

/// Polls a condition until it holds or a timeout expires. Returns `true` if it holds.
fn poll_condition(mut holds: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if holds() {
            return true;
        }
        // sleep: polls, because no event reports it.
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn watch_ends_on_a_signal_and_leaves_no_processes() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let folder = TestFolder::new();
        let is_list = |event: &Value| event["event"] == "activity" && event["entry"]["method"] == "tools/list";
        let (status, events, pid) = run_and_send_signal_after_event(&folder, &["watch", "demo"], signal, is_list);
        assert_eq!(status, 0, "{signal} should be the normal end of watching");
        assert!(poll_condition(|| !is_alive(pid)), "the server should have ended after {signal}");
        let last = events.last().unwrap();
        assert_eq!(
            (&last["event"], &last["ok"]),
            (&json!("result"), &json!(true)),
            "the last line should be the result"
        );
        let kinds: Vec<_> = events.iter().filter_map(|event| event["entry"]["kind"].as_str()).collect();
        assert!(kinds.contains(&"request") && kinds.contains(&"response"), "messages should be shown: {kinds:?}");
    }
}

#[test]
fn call_is_interrupted_by_a_signal() {
    let folder = TestFolder::new();
    let runs = |event: &Value| event["call"]["progress"]["progress"].is_number();
    let arguments = ["call", "demo", "slow_report", "--args", r#"{"seconds": 60}"#];
    let (status, events, pid) = run_and_send_signal_after_event(&folder, &arguments, Signal::SIGINT, runs);
    assert_eq!(status, 130, "the exit status should contain the signal");
    assert!(poll_condition(|| !is_alive(pid)), "the server should have ended");
    assert_eq!(events.last().unwrap()["error"]["message"], "interrupted", "the result should report the signal");
}

#[test]
fn broken_output_pipe_ends_the_program() {
    let folder = TestFolder::new();
    let options = folder.answers_option(&allowing_answers(json!([])));
    let mut child = folder.command().arg("--json").args(options).arg("watch").stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut first).unwrap();
    drop(output);
    let ended = poll_condition(|| child.try_wait().unwrap().is_some());
    if !ended {
        send_signal(&child, Signal::SIGKILL);
    }
    assert!(ended, "the program should exit without a reader");
    assert_eq!(child.wait().unwrap().code(), Some(141), "the exit status should be that of a broken pipe");
}
