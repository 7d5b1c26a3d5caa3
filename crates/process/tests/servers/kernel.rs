//! S23: tests of a sandboxed server's access to the kernel and to other programs of the computer.
#![allow(clippy::print_stderr, reason = "prints which tests are skipped, and why")]

use std::path::Path;

use process::ServerCommand;

use crate::finished::FinishedServer;
use crate::test_user_home::{
    TestUserHome, errors_of_sandboxed_script, run_python, run_server_to_end, script_printing_success_of_commands,
    search_path_per_sandbox_mechanism, shell_command,
};

/// A sandboxed server can't reach other processes through unconnected sockets, keyrings or System V memory, which all
/// programs of a user share.
#[tokio::test]
async fn processes_outside_the_sandbox_are_unreachable() {
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        eprintln!("skipped: {} is not installed", python.display());
        return;
    }
    let script = r#"
import ctypes, socket, sys
def tried(name, make):
    try:
        make()
        print(name, "works", file=sys.stderr)
    except OSError:
        print(name, "refused", file=sys.stderr)
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
tried("unix", lambda: socket.socket(socket.AF_UNIX))
tried("vsock", lambda: socket.socket(40))
tried("messages", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
tried("pair", lambda: socket.socketpair())
tried("inet", lambda: socket.socket(socket.AF_INET))
if sys.maxsize > 2**32 and __import__("platform").machine() == "x86_64":
    tried("keyctl", lambda: call(250, 0, -3, 1))
    tried("shmget", lambda: call(29, 0, 4096, 0o1600))
    tried("x32", lambda: call(0x40000000 + 41, 1, 1, 0))
"#;
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let command = ServerCommand {
            program: python.display().to_string(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            ..shell_command("", ground.sandbox(true))
        };
        let stderr = run_server_to_end(&command, &path).await.stderr;
        for (what, is_open) in [("unix", false), ("vsock", false), ("messages", false), ("pair", true), ("inet", true)]
        {
            let expected = format!("{what} {}", if is_open { "works" } else { "refused" });
            assert!(stderr.contains(&expected), "{name}: expected {expected:?}: {stderr:?}");
        }
        if cfg!(target_arch = "x86_64") {
            for what in ["keyctl", "shmget", "x32"] {
                assert!(stderr.contains(&format!("{what} refused")), "{name}: {what} is refused: {stderr:?}");
            }
        }
    }
}

#[tokio::test]
async fn s23_unneeded_kernel_interfaces_are_refused() {
    let script = r#"
import ctypes, os, platform, subprocess, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, *arguments):
    if libc.syscall(*arguments) < 0:
        print(name, os.strerror(ctypes.get_errno()), file=sys.stderr)
    else:
        print(name, "works", file=sys.stderr)
if platform.machine() == "x86_64":
    CLONE = 56
    tried("unshare", 272, 0x10000000)
    tried("bpf", 321, 0, 0, 0)
    tried("perf", 298, 0, 0, -1, -1, 0)
    tried("userfaultfd", 323, 1)
    tried("ptrace", 101, 0, 0, 0, 0)
    tried("mount", 165, 0, 0, 0, 0, 0)
    tried("setns", 308, 0, 0)
    tried("handles", 304, -100, 0, 0)
    tried("modules", 313, 0, 0, 0)
    tried("readv", 310, 1, 0, 0, 0, 0, 0)
    tried("clone", CLONE, 0x10000000 | 17, 0, 0, 0, 0)
    tried("x32", 0x40000000 + 272, 0x10000000)
    tried("subreaper", 157, 36, 0, 0, 0, 0)
    tried("name", 157, 15, b"own", 0, 0, 0)
    tried("clone3", 435, 0, 0)
threads = [threading.Thread(target=print, args=("thread works",), kwargs={"file": sys.stderr}) for _ in range(1)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("child", subprocess.getoutput("echo works"), file=sys.stderr)
"#;
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let Some(FinishedServer { stderr, .. }) = run_python(script, TestUserHome::new().sandbox(true), &path).await
        else {
            return;
        };
        if cfg!(target_arch = "x86_64") {
            let refused = ["unshare", "bpf", "perf", "userfaultfd", "ptrace", "mount", "setns", "handles", "modules"];
            for what in refused.into_iter().chain(["readv", "clone", "x32", "subreaper"]) {
                let expected = format!("{what} Operation not permitted");
                assert!(stderr.contains(&expected), "S23: {name}: expected {expected:?}: {stderr:?}");
            }
            assert!(stderr.iter().any(|line| line == "name works"), "S23: {name}: other uses of prctl: {stderr:?}");
            let missing = "clone3 Function not implemented".to_owned();
            assert!(stderr.contains(&missing), "S23: {name}: libraries fall back to clone: {stderr:?}");
        }
        for works in ["thread works", "child works"] {
            assert!(stderr.iter().any(|line| line == works), "S23: {name}: {works}: {stderr:?}");
        }
    }
}

#[tokio::test]
async fn s23_in_memory_file_systems_are_private_and_bounded() {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let outside = tempfile::Builder::new().prefix("s23-").tempfile_in("/tmp").unwrap();
        let reads = format!("cat {}", outside.path().display());
        let script = script_printing_success_of_commands(&[
            ("reads the folder of temporary files", &reads),
            ("makes a file at the root", "echo x > /file"),
            ("makes a file among the devices", "echo x > /dev/file"),
            ("writes nothing to nowhere", "echo x > /dev/null"),
            ("has temporary files", "echo x > $TMPDIR/file"),
        ]);
        let script = format!("{script}df -k --output=size /tmp /dev/shm 2>/dev/null | tail -n +2 >&2");
        let stderr = errors_of_sandboxed_script(&script, ground.sandbox(false), &path).await;
        let expected = [
            "reads the folder of temporary files: no",
            "makes a file at the root: no",
            "makes a file among the devices: no",
            "writes nothing to nowhere: yes",
            "has temporary files: yes",
        ];
        assert_eq!(stderr[..expected.len()], expected, "S23: {name}");
        if name == "bubblewrap" {
            let sizes: Vec<&str> = stderr[expected.len()..].iter().map(|line| line.trim()).collect();
            assert_eq!(sizes, ["524288", "524288"], "S23: {name}: neither folder may exceed its size limit");
        }
    }
}

#[tokio::test]
async fn s23_sandboxed_process_cannot_create_namespaces() {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let script = script_printing_success_of_commands(&[
            ("makes a namespace", "unshare --user true"),
            ("makes a process", "/bin/true"),
        ]);
        let stderr = errors_of_sandboxed_script(&script, TestUserHome::new().sandbox(false), &path).await;
        assert_eq!(stderr, ["makes a namespace: no", "makes a process: yes"], "S23: {name}");
    }
}
