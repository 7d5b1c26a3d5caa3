//! Tests that other programs can't read the memory of the program's process.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::TestFolder;

/// User id with which the test runs the program if the test itself runs as root, because the files of root's processes
/// in `/proc` always belong to root.
const UNPRIVILEGED_USER: u32 = 65_534;
/// Maximum time to wait for an expected change, on a slow machine.
const PROCESS_CHANGE_TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the user id that owns the files of a process in `/proc`. It is that of root if other processes of the user
/// can't read the memory of the process.
fn owner_of_process_files(pid: u32) -> Option<u32> {
    fs::metadata(format!("/proc/{pid}/environ")).ok().map(|facts| facts.uid())
}

/// Returns the process id of the MCP server that is a child process of `parent`, if there is one.
fn mcp_server_child_process(parent: u32) -> Option<u32> {
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> =
            stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
        let is_server = fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.ends_with(b": of s20\0"));
        is_server && fields.get(1).and_then(|field| field.parse().ok()) == Some(parent)
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(is_child)
}

fn poll_until_found<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(began.elapsed() < PROCESS_CHANGE_TIMEOUT, "{what}");
        // sleep: polls, because no event reports it.
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn s20_process_memory_is_private_and_servers_are_unaffected() {
    let server = json!({"command": "/bin/sh", "args": ["-c", "while read line; do :; done; : of s20"]});
    let folder = TestFolder::with_config(&json!({"mcpServers": {"demo": server}}).to_string());
    let allow =
        json!([{"kind": "start-server", "server": "demo", "answer": {"action": "allow"}, "commandLineOnly": true}]);
    let options = folder.answers_option(&allow);
    let mut command = folder.command();
    command.arg("--json").args(options).args(["watch", "demo"]).stdout(Stdio::null()).stderr(Stdio::null());
    let own = fs::metadata(folder.path("mcp.json")).unwrap().uid();
    let user = if own == 0 { UNPRIVILEGED_USER } else { own };
    if own == 0 {
        for name in ["", "mcp.json", "answers.json", "data", "data/sampling.json"] {
            chown(folder.path(name), Some(UNPRIVILEGED_USER), Some(UNPRIVILEGED_USER)).unwrap();
        }
        command.uid(UNPRIVILEGED_USER).gid(UNPRIVILEGED_USER).env("HOME", folder.path("")).current_dir(Path::new("/"));
    }
    let mut program = command.spawn().unwrap();
    let pid = program.id();
    let server = poll_until_found("it starts its server", || mcp_server_child_process(pid));
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let of_server = owner_of_process_files(server);
    let of_program = owner_of_process_files(pid);
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(of_program, Some(0), "other programs of the user should not be able to read its memory or environment");
    let core: Vec<&str> =
        limits.lines().find(|line| line.starts_with("Max core file")).unwrap().split_whitespace().collect();
    assert_eq!(core[4..6], ["0", "0"], "core dumps should be disabled: {core:?}");
    assert_eq!(of_server, Some(user), "child processes should be readable, so that they can be found for cleanup");
}
