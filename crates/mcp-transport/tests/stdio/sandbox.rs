//! Servers in a sandbox, with real processes and each mechanism that this system has: what they reach, and that nothing starts
//! without the sandbox it should have.
#![allow(clippy::print_stderr, reason = "it is told what is left out, and why")]

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcp_proto::{CloseReason, SessionConfig, SessionEvent, Timeouts};
use mcp_transport::sandbox::{Access, Folder, Mechanism, Network, Plan, ResourceLimits, Sandbox, SandboxError};
use mcp_transport::stdio::{LaunchFiles, PathSource};
use mcp_transport::{DriverEvent, DriverLimits, SearchPath, ServerCommand, SpawnError, run_with, spawn};
use testkit::deadline::holds_within;
use tokio::sync::mpsc;

use crate::support::{LONG, Running, config, scripted};

/// Folders of a user, with a secret among them.
pub(crate) struct Ground {
    _kept: tempfile::TempDir,
    root: PathBuf,
}

impl Ground {
    pub(crate) fn new() -> Ground {
        let kept = tempfile::tempdir().unwrap();
        let root = kept.path().canonicalize().unwrap();
        for folder in ["secret", "read", "write"] {
            fs::create_dir(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("file"), "canary").unwrap();
        }
        std::os::unix::fs::symlink(root.join("secret/file"), root.join("write/link")).unwrap();
        Ground { _kept: kept, root }
    }

    pub(crate) fn sandbox(&self, network: bool) -> Sandbox {
        let folder = |name: &str, access| Folder { path: self.root.join(name), access };
        let folders = vec![folder("read", Access::Read), folder("write", Access::Write)];
        let network = if network { Network::Full } else { Network::None };
        Sandbox { folders, network, home: self.root.join("own"), hidden: Vec::new(), limits: ResourceLimits::DEFAULT }
    }
}

/// The search paths that lead to bubblewrap and to Landlock, as far as this system has them.
pub(crate) async fn paths() -> Vec<(&'static str, SearchPath)> {
    let ground = Ground::new();
    let command = shell(":", ground.sandbox(false));
    let with = SearchPath::of_process("a test".to_owned());
    let without = SearchPath { directories: vec![ground.root.clone()], source: PathSource::LoginShell };
    let mut found = Vec::new();
    for (wanted, path) in [("bubblewrap", with), ("Landlock", without)] {
        match Plan::make(&command, Path::new("/bin/sh"), &path).await {
            Ok(Some(plan)) if plan.mechanism.name() == wanted => found.push((wanted, path)),
            other => eprintln!("left out: {wanted} can't be tried here, as it is {other:?}"),
        }
    }
    found
}

pub(crate) fn shell(script: &str, sandbox: Sandbox) -> ServerCommand {
    ServerCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        sandbox: Some(sandbox),
        ..scripted(&[])
    }
}

/// What a script in a sandbox prints on standard error.
async fn said(script: &str, sandbox: Sandbox, path: &SearchPath) -> Vec<String> {
    let mut running = run(script, sandbox, path).await;
    running.until_end().await;
    running.handle.stderr.last_lines(100)
}

async fn run(script: &str, sandbox: Sandbox, path: &SearchPath) -> Running {
    let process = spawn(&shell(script, sandbox), Path::new("/bin/sh"), path).await.expect("it starts");
    let (sender, events) = mpsc::channel(64);
    let handle = run_with(config(), process, sender, DriverLimits::default());
    Running { handle, events, told: Vec::new() }
}

/// A script that says of each command whether it worked.
fn each(commands: &[(&str, &str)]) -> String {
    let mut script = String::new();
    for (name, command) in commands {
        writeln!(
            script,
            "if ( {command} ) >/dev/null 2>&1; then echo '{name}: yes' >&2; else echo '{name}: no' >&2; fi"
        )
        .unwrap();
    }
    script
}

#[tokio::test]
async fn a_server_reaches_what_was_named_and_nothing_else() {
    for (name, path) in paths().await {
        let ground = Ground::new();
        let at = |file: &str| ground.root.join(file).display().to_string();
        let host = std::process::id();
        let commands = [
            ("reads a folder to read", format!("cat {}", at("read/file")), true),
            ("changes a folder to read", format!("echo x > {}", at("read/new")), false),
            ("empties a file to read", format!(": > {}", at("read/file")), false),
            ("reads a folder to change", format!("cat {}", at("write/file")), true),
            ("changes a folder to change", format!("echo x > {}", at("write/new")), true),
            ("makes a folder there", format!("mkdir {0} && mv {0} {0}-moved", at("write/sub")), true),
            ("reads a secret beside them", format!("cat {}", at("secret/file")), false),
            ("lists what lies beside them", format!("ls {}", at("secret")), false),
            ("reads a secret over a link", format!("cat {}", at("write/link")), false),
            ("reads it over ..", format!("cat {}", at("write/../secret/file")), false),
            ("reads secrets of the system", "cat /etc/shadow".to_owned(), false),
            ("reads variables of the host", format!("cat /proc/{host}/environ | grep -q ."), false),
            ("has a home", "echo x > $HOME/file && test $HOME != /root".to_owned(), true),
            ("has temporary files", "echo x > $TMPDIR/file".to_owned(), true),
            ("has programs of the system", "ls /usr/bin && sed --version".to_owned(), true),
            ("throws things away", "echo x > /dev/null".to_owned(), true),
        ];
        let script = each(&commands.iter().map(|(name, command, _)| (*name, command.as_str())).collect::<Vec<_>>());
        let said = said(&script, ground.sandbox(false), &path).await;
        let wanted: Vec<String> =
            commands.iter().map(|(name, _, works)| format!("{name}: {}", if *works { "yes" } else { "no" })).collect();
        assert_eq!(said, wanted, "what a server reaches under {name}");
        assert_eq!(fs::read_to_string(at("read/file")).unwrap(), "canary", "{name}: what is to be read is unchanged");
        assert!(ground.root.join("own/file").is_file(), "{name}: its home lasts");
    }
}

#[tokio::test]
async fn the_network_is_there_only_if_allowed_and_other_programs_never() {
    if !Path::new("/usr/bin/perl").exists() || !Path::new("/bin/bash").exists() {
        eprintln!("left out: sockets are tried with perl and bash, which are not here");
        return;
    }
    let perl = |kind: &str| format!("perl -MSocket -e 'socket(S, {kind}, 0) or exit 1'");
    for (name, path) in paths().await {
        for network in [true, false] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let (local, datagram) = (perl("AF_UNIX, SOCK_STREAM"), perl("AF_INET, SOCK_DGRAM"));
            let connects = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
            let script = each(&[
                ("connects", &connects),
                ("talks to other programs", &local),
                ("has pairs of its own", "perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or exit 1'"),
            ]);
            let said = said(&script, Ground::new().sandbox(network), &path).await;
            let connects = if network { "connects: yes" } else { "connects: no" };
            let wanted = [connects, "talks to other programs: no", "has pairs of its own: yes"];
            assert_eq!(said, wanted, "{name}, network {network}");
            if name == "Landlock" && !network {
                let said = self::said(&each(&[("datagrams", &datagram)]), Ground::new().sandbox(false), &path).await;
                assert_eq!(said, ["datagrams: no"], "no way out that is not TCP either");
            }
        }
    }
}

/// X33 inside a sandbox: no variable leads to the user's own folders.
#[tokio::test]
async fn its_surroundings_are_its_own() {
    for (name, path) in paths().await {
        let ground = Ground::new();
        let mut command = shell("env >&2; ls /proc/self/fd >&2; pwd >&2", ground.sandbox(false));
        command.environment.insert("XDG_DATA_HOME".to_owned(), "/chosen".to_owned());
        let process = spawn(&command, Path::new("/bin/sh"), &path).await.expect("it starts");
        let (sender, events) = mpsc::channel(64);
        let handle = run_with(config(), process, sender, DriverLimits::default());
        let mut running = Running { handle, events, told: Vec::new() };
        running.until_end().await;
        let said = running.handle.stderr.last_lines(100);
        let own = ground.root.join("own").display().to_string();
        for line in [format!("HOME={own}"), format!("TMPDIR={own}/tmp"), "XDG_DATA_HOME=/chosen".to_owned(), own] {
            assert!(said.contains(&line), "{name}: {line:?} in {said:?}");
        }
        assert!(!said.iter().any(|line| line.starts_with("CARGO")), "X33: {name}: nothing of the app: {said:?}");
        // The fourth is the one that the list is read with.
        let descriptors: Vec<&String> = said.iter().filter(|line| line.parse::<u32>().is_ok()).collect();
        assert_eq!(descriptors, ["0", "1", "2", "3"], "X33: {name}: no descriptor above 2 is inherited");
    }
}

/// Whether an error is the one that is meant.
type Fits = fn(&SandboxError) -> bool;

#[tokio::test]
async fn what_can_not_be_held_does_not_start() {
    let ground = Ground::new();
    let path = SearchPath::of_process("a test".to_owned());
    let trace = ground.root.join("write/started");
    let script = format!("echo x > {}", trace.display());
    let tries: [(&str, Sandbox, Fits); 4] = [
        ("a folder that is not there", with(&ground, "nowhere", Access::Read), |error| {
            matches!(error, SandboxError::NoFolder { .. })
        }),
        ("a file", with(&ground, "secret/file", Access::Read), |error| matches!(error, SandboxError::NoFolder { .. })),
        ("a contradiction", with(&ground, "write", Access::Read), |error| {
            matches!(error, SandboxError::Contradiction { .. })
        }),
        ("X29: a link", link(&ground), |error| matches!(error, SandboxError::Leads { .. })),
    ];
    for (what, sandbox, fits) in tries {
        let error = spawn(&shell(&script, sandbox), Path::new("/bin/sh"), &path).await.expect_err(what);
        assert!(
            matches!(&error, SpawnError::Sandbox(error) if fits(error)),
            "{what} is refused for what it is: {error}"
        );
    }
    let mut command = shell(&script, ground.sandbox(false));
    command.working_directory = Some(ground.root.join("secret"));
    let error = spawn(&command, Path::new("/bin/sh"), &path).await.expect_err("a folder out of reach");
    assert!(matches!(error, SpawnError::Sandbox(SandboxError::OutOfReach(_))), "the folder is named: {error}");
    assert!(!trace.exists(), "nothing ran without its sandbox");
}

fn with(ground: &Ground, folder: &str, access: Access) -> Sandbox {
    let mut sandbox = ground.sandbox(false);
    sandbox.folders.push(Folder { path: ground.root.join(folder), access });
    sandbox
}

/// A folder that another server could have put in place of one that was approved.
fn link(ground: &Ground) -> Sandbox {
    std::os::unix::fs::symlink(ground.root.join("secret"), ground.root.join("swapped")).unwrap();
    with(ground, "swapped", Access::Read)
}

#[tokio::test]
async fn nothing_outlives_a_sandbox() {
    for (name, path) in paths().await {
        let ground = Ground::new();
        let script = "trap '' TERM; setsid sleep 7411 & echo ready >&2; wait; wait";
        let mut running = run(script, ground.sandbox(false), &path).await;
        assert!(holds_within(LONG, || sleepers() > 0).await, "{name}: it runs");
        running.stop().await;
        assert!(holds_within(LONG, || sleepers() == 0).await, "{name}: all of it ends with the server");
        assert_eq!(running.handle.process.program, Path::new("/bin/sh"), "{name}: what was started is told");
    }
}

/// How many of the processes that the test left behind are alive, in whatever group.
fn sleepers() -> usize {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let is_ours = |entry: &fs::DirEntry| {
        fs::read(entry.path().join("cmdline")).is_ok_and(|line| line.starts_with(b"sleep\x007411"))
    };
    processes.flatten().filter(is_ours).count()
}

/// Sockets that are not connected can be sent to any other program by its name; keyrings and numbered memory are of all programs.
#[tokio::test]
async fn other_programs_of_the_computer_are_out_of_reach() {
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        eprintln!("left out: {} is not here", python.display());
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
    for (name, path) in paths().await {
        let ground = Ground::new();
        let command = ServerCommand {
            program: python.display().to_string(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            ..shell("", ground.sandbox(true))
        };
        let process = spawn(&command, python, &path).await.expect("it starts");
        let (sender, events) = mpsc::channel(64);
        let handle = run_with(config(), process, sender, DriverLimits::default());
        let mut running = Running { handle, events, told: Vec::new() };
        running.until_end().await;
        let said = running.handle.stderr.last_lines(100);
        for (what, is_open) in [("unix", false), ("vsock", false), ("messages", false), ("pair", true), ("inet", true)]
        {
            let expected = format!("{what} {}", if is_open { "works" } else { "refused" });
            assert!(said.contains(&expected), "{name}: expected {expected:?}: {said:?}");
        }
        if cfg!(target_arch = "x86_64") {
            for what in ["keyctl", "shmget", "x32"] {
                assert!(said.contains(&format!("{what} refused")), "{name}: {what} is refused: {said:?}");
            }
        }
    }
}

/// What a server in a sandbox could do to its own program: have its first line name more than was approved.
#[tokio::test]
async fn what_is_reached_otherwise_than_approved_is_not_carried_out() {
    for (name, path) in paths().await {
        let ground = Ground::new();
        let folder = ground.root.join("mine");
        fs::create_dir_all(&folder).unwrap();
        let script = folder.join("server");
        let write = |first: &str| {
            fs::write(&script, format!("{first}\necho ran >&2\n")).unwrap();
            fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        };
        write("#!/bin/sh");
        let mut sandbox = ground.sandbox(false);
        sandbox.folders.push(Folder { path: folder.clone(), access: Access::Write });
        let mut command = ServerCommand { program: script.display().to_string(), ..shell("", sandbox) };
        command.approved = Plan::make(&command, &script, &path).await.unwrap();
        assert!(spawn(&command, &script, &path).await.is_ok(), "{name}: as it was approved, it starts");
        let secret = ground.root.join("secret/key");
        fs::create_dir_all(secret.parent().unwrap()).unwrap();
        fs::write(&secret, "canary").unwrap();
        std::os::unix::fs::symlink(&secret, folder.join("l")).unwrap();
        write(&format!("#!{}", folder.join("l").display()));
        let refused = spawn(&command, &script, &path).await.expect_err("another reach");
        assert!(matches!(refused, SpawnError::Sandbox(SandboxError::Changed)), "{name}: it is refused: {refused}");
        // What looks like a blank and is none for the kernel does not end a name.
        write(&format!("#!{}\u{a0}x", folder.join("l").display()));
        let plan = Plan::make(&command, &script, &path).await.unwrap().unwrap();
        let holds_secret = plan.reach.program.iter().any(|part| secret.starts_with(part));
        assert!(!holds_secret, "{name}: nothing more is reached: {:?}", plan.reach.program);
    }
}

#[tokio::test]
async fn a_plan_says_what_holds_and_what_is_reached() {
    for (name, path) in paths().await {
        let ground = Ground::new();
        let command = shell(":", ground.sandbox(true));
        let plan = Plan::make(&command, Path::new("/bin/sh"), &path).await.unwrap().expect("it has a sandbox");
        assert_eq!(plan.mechanism.name(), name, "what holds it is named");
        assert_eq!(matches!(plan.mechanism, Mechanism::Bubblewrap(_)), name == "bubblewrap", "and told apart");
        assert_eq!(plan.reach.folders, ground.sandbox(true).folders, "the folders are as they were named");
        assert_eq!(plan.network, Network::Full, "and so is the network");
        assert!(!ground.root.join("own").exists(), "a plan changes nothing");
    }
}

#[tokio::test]
async fn interpreters_run_in_it() {
    for (program, arguments, says) in [
        ("/usr/bin/node", ["-e", "console.error(require('child_process').execSync('echo works').toString())"], "works"),
        (
            "/usr/bin/python3",
            ["-c", "import ssl, subprocess, sys; sys.stderr.write(subprocess.getoutput('echo works'))"],
            "works",
        ),
    ] {
        if !Path::new(program).exists() {
            eprintln!("left out: {program} is not here");
            continue;
        }
        for (name, path) in paths().await {
            let ground = Ground::new();
            let command = ServerCommand {
                program: program.to_owned(),
                arguments: arguments.map(str::to_owned).into(),
                ..shell("", ground.sandbox(false))
            };
            let process = spawn(&command, Path::new(program), &path).await.expect("it starts");
            let (sender, events) = mpsc::channel(64);
            let handle = run_with(config(), process, sender, DriverLimits::default());
            let mut running = Running { handle, events, told: Vec::new() };
            running.until_end().await;
            let said = running.handle.stderr.last_lines(100);
            assert!(said.iter().any(|line| line == says), "{program} under {name}: {said:?}");
        }
    }
}

/// What has a loader load files is for the server, and not for what holds it: it could bring a file of its own with the next start.
#[tokio::test]
async fn no_file_of_the_server_is_loaded_outside() {
    for (name, path) in paths().await {
        let ground = Ground::new();
        let planted = ground.root.join("write/planted.so");
        fs::write(&planted, "no library").unwrap();
        let mut command = shell("echo $LD_PRELOAD >&2", ground.sandbox(false));
        command.environment.insert("LD_PRELOAD".to_owned(), planted.display().to_string());
        let process = spawn(&command, Path::new("/bin/sh"), &path).await.expect("it starts");
        let (sender, events) = mpsc::channel(64);
        let handle = run_with(config(), process, sender, DriverLimits::default());
        let mut running = Running { handle, events, told: Vec::new() };
        running.until_end().await;
        let said = running.handle.stderr.last_lines(100);
        assert!(said.contains(&planted.display().to_string()), "{name}: the server gets what was set for it: {said:?}");
        // The loader complains each time that it can't load the file: once, in the server.
        let loads = said.iter().filter(|line| line.contains("planted.so") && line.contains("ERROR")).count();
        assert_eq!(loads, 1, "{name}: only the server's own loader tries it: {said:?}");
    }
}

/// A script of Python's, started in a sandbox; what it prints on standard error.
async fn python(script: &str, sandbox: Sandbox, path: &SearchPath) -> Option<(Vec<String>, CloseReason)> {
    let python = Path::new("/usr/bin/python3");
    if !python.exists() {
        eprintln!("left out: {} is not here", python.display());
        return None;
    }
    let command = ServerCommand {
        program: python.display().to_string(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        ..shell("", sandbox)
    };
    let process = spawn(&command, python, path).await.expect("it starts");
    let (sender, events) = mpsc::channel(64);
    // It speaks no protocol, and is not to be ended for that.
    let timeouts = Timeouts { initialize: PATIENCE, ..Timeouts::default() };
    let handle = run_with(SessionConfig { timeouts, ..config() }, process, sender, DriverLimits::default());
    let mut running = Running { handle, events, told: Vec::new() };
    let closed = |event: &DriverEvent| match event {
        DriverEvent::Session(SessionEvent::Closed(reason)) => Some(reason.clone()),
        _ => None,
    };
    let reason = tokio::time::timeout(PATIENCE, async {
        loop {
            let event = running.events.recv().await.expect("the driver tells why it ends");
            if let Some(reason) = closed(&event) {
                return reason;
            }
        }
    });
    let reason = reason.await.expect("it ends in time");
    while running.events.recv().await.is_some() {}
    Some((running.handle.stderr.last_lines(200), reason))
}

#[tokio::test]
async fn s23_what_servers_do_not_need_of_the_kernel_is_refused() {
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
    for (name, path) in paths().await {
        let Some((said, _)) = python(script, Ground::new().sandbox(true), &path).await else { return };
        if cfg!(target_arch = "x86_64") {
            let refused = ["unshare", "bpf", "perf", "userfaultfd", "ptrace", "mount", "setns", "handles", "modules"];
            for what in refused.into_iter().chain(["readv", "clone", "x32", "subreaper"]) {
                let expected = format!("{what} Operation not permitted");
                assert!(said.contains(&expected), "S23: {name}: expected {expected:?}: {said:?}");
            }
            assert!(said.iter().any(|line| line == "name works"), "S23: {name}: other uses of prctl: {said:?}");
            let missing = "clone3 Function not implemented".to_owned();
            assert!(said.contains(&missing), "S23: {name}: libraries fall back to clone: {said:?}");
        }
        for works in ["thread works", "child works"] {
            assert!(said.iter().any(|line| line == works), "S23: {name}: {works}: {said:?}");
        }
    }
}

#[tokio::test]
async fn s23_folders_in_memory_are_its_own_and_bounded() {
    for (name, path) in paths().await {
        let ground = Ground::new();
        let outside = tempfile::Builder::new().prefix("s23-").tempfile_in("/tmp").unwrap();
        let reads = format!("cat {}", outside.path().display());
        let script = each(&[
            ("reads the folder of temporary files", &reads),
            ("makes a file at the root", "echo x > /file"),
            ("makes a file among the devices", "echo x > /dev/file"),
            ("writes nothing to nowhere", "echo x > /dev/null"),
            ("has temporary files", "echo x > $TMPDIR/file"),
        ]);
        let script = format!("{script}df -k --output=size /tmp /dev/shm 2>/dev/null | tail -n +2 >&2");
        let said = said(&script, ground.sandbox(false), &path).await;
        let wanted = [
            "reads the folder of temporary files: no",
            "makes a file at the root: no",
            "makes a file among the devices: no",
            "writes nothing to nowhere: yes",
            "has temporary files: yes",
        ];
        assert_eq!(said[..wanted.len()], wanted, "S23: {name}");
        if name == "bubblewrap" {
            let sizes: Vec<&str> = said[wanted.len()..].iter().map(|line| line.trim()).collect();
            assert_eq!(sizes, ["524288", "524288"], "S23: {name}: neither can fill the main memory");
        }
    }
}

#[tokio::test]
async fn s23_it_makes_no_namespaces_of_its_own() {
    for (name, path) in paths().await {
        let script = each(&[("makes a namespace", "unshare --user true"), ("makes a process", "/bin/true")]);
        let said = said(&script, Ground::new().sandbox(false), &path).await;
        assert_eq!(said, ["makes a namespace: no", "makes a process: yes"], "S23: {name}");
    }
}

/// How long a server that uses too much may take until it is stopped, on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

async fn stopped_for(script: &str, limits: ResourceLimits, words: &str) {
    for (name, path) in paths().await {
        let ground = Ground::new();
        let sandbox = Sandbox { limits, ..ground.sandbox(false) };
        let Some((said, reason)) = python(script, sandbox, &path).await else { return };
        let expected = CloseReason::LimitReached(words.to_owned());
        assert_eq!(reason, expected, "S37: {name}: it is stopped, and for what it did: {said:?}");
    }
}

/// Within what no test of one bound goes over another.
const LIMITS: ResourceLimits = ResourceLimits {
    processes: 64,
    memory_bytes: 512 * 1024 * 1024,
    home_bytes: 16 * 1024 * 1024,
    processor_seconds: 1_000,
};

#[tokio::test]
async fn s37_one_that_forks_without_end_is_stopped() {
    let script =
        "import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep(1000)\n    time.sleep(0.002)";
    stopped_for(script, LIMITS, "it ran more than 64 processes and threads").await;
}

#[tokio::test]
async fn s37_one_that_takes_memory_without_end_is_stopped() {
    let script = "import time\nheld = []\nwhile True:\n    held.append(b'x' * (8 << 20))\n    time.sleep(0.01)";
    let limits = ResourceLimits { memory_bytes: 128 * 1024 * 1024, ..LIMITS };
    // The kernel's own bound is twice as high, and may come first on a slow machine: then it ends with an error of its own.
    let script =
        format!("import sys\ntry:\n    exec({script:?})\nexcept MemoryError:\n    import time\n    time.sleep(1000)");
    stopped_for(&script, limits, "it used more than 128 MiB of memory").await;
}

#[tokio::test]
async fn s37_memory_that_copies_of_a_process_share_counts_once() {
    // Each look finds five processes that show 60 MiB.
    let script = "import os, sys, time\nheld = b'x' * (60 << 20)\nfor _ in range(4):\n    if os.fork() == 0:\n        time.sleep(3)\n        os._exit(0)\nfor _ in range(4):\n    os.wait()\nprint('worked', file=sys.stderr)";
    for (name, path) in paths().await {
        let ground = Ground::new();
        let limits = ResourceLimits { memory_bytes: 128 * 1024 * 1024, ..LIMITS };
        let sandbox = Sandbox { limits, ..ground.sandbox(false) };
        let Some((said, reason)) = python(script, sandbox, &path).await else { return };
        assert!(said.iter().any(|line| line == "worked"), "S37: {name}: it is not stopped: {reason:?} {said:?}");
    }
}

#[tokio::test]
async fn s37_one_that_fills_its_home_is_stopped() {
    let script = "import os, time\nfile = open(os.environ['HOME'] + '/file', 'wb')\nwhile True:\n    file.write(b'x' * (1 << 20)); file.flush()\n    time.sleep(0.02)";
    stopped_for(script, LIMITS, "its own home held more than 16 MiB").await;
}

#[tokio::test]
async fn s37_one_that_spins_is_stopped_with_what_it_started() {
    let script = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])";
    let limits = ResourceLimits { processor_seconds: 1, ..LIMITS };
    stopped_for(script, limits, "it used more than 1 seconds of processor time within an hour").await;
}

#[tokio::test]
async fn s37_what_leaves_its_parent_is_counted() {
    let script = "import os, time\nfor _ in range(100):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() != 0:\n            os._exit(0)\n        time.sleep(1000)\ntime.sleep(1000)";
    stopped_for(script, LIMITS, "it ran more than 64 processes and threads").await;
}

/// An attack by a server that may write to a folder of the search path: leave a link to the real bubblewrap there, wait until it is
/// used, and put a program of its own in its place.
#[tokio::test]
async fn s05_a_bubblewrap_that_was_swapped_is_not_run() {
    let ground = Ground::new();
    let (planted, marker) = (ground.root.join("bin/bwrap"), ground.root.join("ran"));
    fs::create_dir(ground.root.join("bin")).unwrap();
    fs::set_permissions(ground.root.join("bin"), fs::Permissions::from_mode(0o777)).unwrap();
    let Some(real) = ["/usr/bin/bwrap", "/bin/bwrap"].map(Path::new).into_iter().find(|real| real.exists()) else {
        eprintln!("left out: bubblewrap is not here");
        return;
    };
    std::os::unix::fs::symlink(real, &planted).unwrap();
    let directories = ["bin"].map(|name| ground.root.join(name)).into_iter().chain([real.parent().unwrap().to_owned()]);
    let path = SearchPath { directories: directories.collect(), source: PathSource::LoginShell };
    let runs = async || said("echo works >&2", ground.sandbox(false), &path).await;
    assert_eq!(runs().await, ["works"], "a link to root's own is no harm");
    fs::remove_file(&planted).unwrap();
    fs::write(&planted, format!("#!/bin/sh\n: > {}\n", marker.display())).unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(runs().await, ["works"], "the next one on the path holds it");
    assert!(!marker.exists(), "and what was put in its place did not run");
}

/// Between the approval and the start the keychain may be waited for.
#[tokio::test]
async fn s06_what_changed_since_the_approval_is_not_run() {
    let ground = Ground::new();
    let (script, marker) = (ground.root.join("server.sh"), ground.root.join("ran"));
    fs::write(&script, "exit 0").unwrap();
    let path = SearchPath::of_process("a test".to_owned());
    let mut command = ServerCommand {
        program: "/bin/sh".into(),
        arguments: vec![script.display().to_string()],
        ..ServerCommand::default()
    };
    command.files = Some(LaunchFiles::of(&command, Path::new("/bin/sh"), &path));
    spawn(&command, Path::new("/bin/sh"), &path).await.expect("as it was approved it starts");
    fs::write(&script, format!(": > {}", marker.display())).unwrap();
    let refused = spawn(&command, Path::new("/bin/sh"), &path).await.expect_err("as another one it does not");
    assert!(matches!(&refused, SpawnError::Changed(changed) if *changed == script), "it is named: {refused}");
    assert!(!marker.exists(), "and did not run");
}
