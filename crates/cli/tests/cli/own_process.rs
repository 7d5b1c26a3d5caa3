//! The facts that the system tells other programs about the running one.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::Folder;

/// Somebody who is not root: of what root runs, `/proc` can't tell the difference.
const NOBODY: u32 = 65_534;
/// How long what should happen may take, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whose the files of a process are in `/proc`: root's alone if its memory is private, else its user's.
fn owner(pid: u32) -> Option<u32> {
    fs::metadata(format!("/proc/{pid}/environ")).ok().map(|facts| facts.uid())
}

/// The process that this one started.
fn child_of(parent: u32) -> Option<u32> {
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

fn until<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}");
        // sleep: looks again until it holds; no event tells of it.
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn s20_the_memory_of_the_program_is_private_and_its_servers_are_as_ever() {
    let server = json!({"command": "/bin/sh", "args": ["-c", "while read line; do :; done; : of s20"]});
    let folder = Folder::with_config(&json!({"mcpServers": {"demo": server}}).to_string());
    let allow =
        json!([{"kind": "start-server", "server": "demo", "answer": {"action": "allow"}, "commandLineOnly": true}]);
    let options = folder.answers(&allow);
    let mut command = folder.command();
    command.arg("--json").args(options).args(["watch", "demo"]).stdout(Stdio::null()).stderr(Stdio::null());
    let own = fs::metadata(folder.path("mcp.json")).unwrap().uid();
    let user = if own == 0 { NOBODY } else { own };
    if own == 0 {
        for name in ["", "mcp.json", "answers.json", "data", "data/sampling.json"] {
            chown(folder.path(name), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY).env("HOME", folder.path("")).current_dir(Path::new("/"));
    }
    let mut program = command.spawn().unwrap();
    let pid = program.id();
    let server = until("it starts its server", || child_of(pid));
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let of_server = owner(server);
    let of_program = owner(pid);
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(of_program, Some(0), "no other program of the user's reads its memory or its environment");
    let core: Vec<&str> =
        limits.lines().find(|line| line.starts_with("Max core file")).unwrap().split_whitespace().collect();
    assert_eq!(core[4..6], ["0", "0"], "it leaves no core: {core:?}");
    assert_eq!(of_server, Some(user), "what it starts has that back, so that it is found when it is to end");
}
