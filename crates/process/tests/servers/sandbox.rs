//! Tests of sandboxed servers, as real processes and with each mechanism of this computer: what they can access, and
//! that none starts without its configured sandbox.
#![allow(clippy::print_stderr, reason = "prints which tests are skipped, and why")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use process::sandbox::{
    AccessMode, AllowedFolder, NetworkAccess, ResolvedSandbox, SandboxError, SandboxMechanism, SandboxSettings,
};
use process::{GracePeriods, LaunchFiles, SearchPath, SearchPathSource, ServerCommand, SpawnError, shut_down, spawn};
use testkit::deadline::poll_until;

use crate::support::WAIT_TIMEOUT;
use crate::test_user_home::{
    TestUserHome, errors_of_sandboxed_script, run_server_to_end, script_printing_success_of_commands,
    search_path_per_sandbox_mechanism, shell_command,
};

#[tokio::test]
async fn sandboxed_server_accesses_named_paths_only() {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let at = |file: &str| ground.root.join(file).display().to_string();
        let host = std::process::id();
        let commands = [
            ("reads a folder to read", format!("cat {}", at("read/file")), true),
            ("changes a folder to read", format!("echo x > {}", at("read/new")), false),
            ("empties a file to read", format!(": > {}", at("read/file")), false),
            ("reads a folder to change", format!("cat {}", at("write/file")), true),
            ("changes a folder to change", format!("echo x > {}", at("write/new")), true),
            ("makes a folder there", format!("mkdir {0} && mv {0} {0}-moved", at("write/sub")), true),
            ("reads a secret next to them", format!("cat {}", at("secret/file")), false),
            ("lists the files next to them", format!("ls {}", at("secret")), false),
            ("reads a secret over a link", format!("cat {}", at("write/link")), false),
            ("reads it over ..", format!("cat {}", at("write/../secret/file")), false),
            ("reads secrets of the system", "cat /etc/shadow".to_owned(), false),
            ("reads variables of the host", format!("cat /proc/{host}/environ | grep -q ."), false),
            ("has a home", "echo x > $HOME/file && test $HOME != /root".to_owned(), true),
            ("has temporary files", "echo x > $TMPDIR/file".to_owned(), true),
            ("has programs of the system", "ls /usr/bin && sed --version".to_owned(), true),
            ("throws things away", "echo x > /dev/null".to_owned(), true),
        ];
        let script = script_printing_success_of_commands(
            &commands.iter().map(|(name, command, _)| (*name, command.as_str())).collect::<Vec<_>>(),
        );
        let stderr = errors_of_sandboxed_script(&script, ground.sandbox(false), &path).await;
        let expected: Vec<String> =
            commands.iter().map(|(name, _, works)| format!("{name}: {}", if *works { "yes" } else { "no" })).collect();
        assert_eq!(stderr, expected, "the access of a server under {name}");
        assert_eq!(
            fs::read_to_string(at("read/file")).unwrap(),
            "canary",
            "{name}: a read-only file must be unchanged"
        );
        assert!(ground.root.join("own/file").is_file(), "{name}: the server's home must remain");
    }
}

#[tokio::test]
async fn network_requires_permission_and_local_sockets_are_always_refused() {
    if !Path::new("/usr/bin/perl").exists() || !Path::new("/bin/bash").exists() {
        eprintln!("skipped: sockets are tested with perl and bash, which are not installed");
        return;
    }
    let perl = |kind: &str| format!("perl -MSocket -e 'socket(S, {kind}, 0) or exit 1'");
    for (name, path) in search_path_per_sandbox_mechanism().await {
        for network in [true, false] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let (local, datagram) = (perl("AF_UNIX, SOCK_STREAM"), perl("AF_INET, SOCK_DGRAM"));
            let connects = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
            let script = script_printing_success_of_commands(&[
                ("connects", &connects),
                ("talks to other programs", &local),
                ("has separate pairs", "perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or exit 1'"),
            ]);
            let stderr = errors_of_sandboxed_script(&script, TestUserHome::new().sandbox(network), &path).await;
            let connects = if network { "connects: yes" } else { "connects: no" };
            let expected = [connects, "talks to other programs: no", "has separate pairs: yes"];
            assert_eq!(stderr, expected, "{name}, network {network}");
            if name == "Landlock" && !network {
                let stderr = self::errors_of_sandboxed_script(
                    &script_printing_success_of_commands(&[("datagrams", &datagram)]),
                    TestUserHome::new().sandbox(false),
                    &path,
                )
                .await;
                assert_eq!(stderr, ["datagrams: no"], "datagram sockets must be refused as well");
            }
        }
    }
}

/// X33 inside a sandbox: no variable names the user's own folders.
#[tokio::test]
async fn sandboxed_server_has_private_environment_variables() {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let mut command = shell_command("env >&2; ls /proc/self/fd >&2; pwd >&2", ground.sandbox(false));
        command.environment.insert("XDG_DATA_HOME".to_owned(), "/chosen".to_owned());
        let stderr = run_server_to_end(&command, &path).await.stderr;
        let own = ground.root.join("own").display().to_string();
        for line in [format!("HOME={own}"), format!("TMPDIR={own}/tmp"), "XDG_DATA_HOME=/chosen".to_owned(), own] {
            assert!(stderr.contains(&line), "{name}: {line:?} in {stderr:?}");
        }
        assert!(
            !stderr.iter().any(|line| line.starts_with("CARGO")),
            "X33: {name}: no variable of the app must be inherited: {stderr:?}"
        );
        // The fourth descriptor is that of the listed folder itself.
        let descriptors: Vec<&String> = stderr.iter().filter(|line| line.parse::<u32>().is_ok()).collect();
        assert_eq!(descriptors, ["0", "1", "2", "3"], "X33: {name}: no descriptor above 2 is inherited");
    }
}

/// A predicate that returns `true` for the expected error.
type ErrorPredicate = fn(&SandboxError) -> bool;

#[tokio::test]
async fn server_that_cannot_be_sandboxed_is_not_started() {
    let ground = TestUserHome::new();
    let path = SearchPath::from_process("a test".to_owned());
    let trace = ground.root.join("write/started");
    let script = format!("echo x > {}", trace.display());
    let tries: [(&str, SandboxSettings, ErrorPredicate); 4] = [
        ("a folder that is not there", sandbox_with_folder(&ground, "nowhere", AccessMode::Read), |error| {
            matches!(error, SandboxError::NoFolder { .. })
        }),
        ("a file", sandbox_with_folder(&ground, "secret/file", AccessMode::Read), |error| {
            matches!(error, SandboxError::NoFolder { .. })
        }),
        ("a contradiction", sandbox_with_folder(&ground, "write", AccessMode::Read), |error| {
            matches!(error, SandboxError::ReadOnlyInsideWritable { .. })
        }),
        ("X29: a link", sandbox_with_link(&ground), |error| matches!(error, SandboxError::SymbolicLink { .. })),
    ];
    for (what, sandbox, fits) in tries {
        let error = spawn(&shell_command(&script, sandbox), Path::new("/bin/sh"), &path).await.expect_err(what);
        assert!(
            matches!(&error, SpawnError::Sandbox(error) if fits(error)),
            "{what} must be refused for the expected reason: {error}"
        );
    }
    let mut command = shell_command(&script, ground.sandbox(false));
    command.working_directory = Some(ground.root.join("secret"));
    let error = spawn(&command, Path::new("/bin/sh"), &path)
        .await
        .expect_err("a working directory outside the sandbox must be refused");
    assert!(
        matches!(error, SpawnError::Sandbox(SandboxError::WorkingDirectoryOutside(_))),
        "the error must name the folder: {error}"
    );
    assert!(!trace.exists(), "the program must not run without its sandbox");
}

fn sandbox_with_folder(ground: &TestUserHome, folder: &str, access: AccessMode) -> SandboxSettings {
    let mut sandbox = ground.sandbox(false);
    sandbox.folders.push(AllowedFolder { path: ground.root.join(folder), access });
    sandbox
}

/// Returns sandbox settings whose folder is a symbolic link, as if another server had replaced the folder after the
/// approval.
fn sandbox_with_link(ground: &TestUserHome) -> SandboxSettings {
    std::os::unix::fs::symlink(ground.root.join("secret"), ground.root.join("swapped")).unwrap();
    sandbox_with_folder(ground, "swapped", AccessMode::Read)
}

#[tokio::test]
async fn sandboxed_processes_end_with_their_sandbox() {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let script = "trap '' TERM; setsid sleep 7411 & echo ready >&2; wait; wait";
        let command = shell_command(script, ground.sandbox(false));
        let server = spawn(&command, Path::new("/bin/sh"), &path).await.expect("the server must start");
        assert!(poll_until(WAIT_TIMEOUT, || count_running_test_processes() > 0).await, "{name}: the process must run");
        assert_eq!(server.spawned().program, Path::new("/bin/sh"), "{name}: the started program must be reported");
        shut_down(server, GracePeriods::default()).await;
        assert!(
            poll_until(WAIT_TIMEOUT, || count_running_test_processes() == 0).await,
            "{name}: all processes must end with the server"
        );
    }
}

/// Returns the number of running processes that the test started, in any group.
fn count_running_test_processes() -> usize {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let is_ours = |entry: &fs::DirEntry| {
        fs::read(entry.path().join("cmdline")).is_ok_and(|line| line.starts_with(b"sleep\x007411"))
    };
    processes.flatten().filter(is_ours).count()
}

/// Simulates an attack by a server with write access to its own program: it changes the program's first line to name an
/// interpreter that was not approved.
#[tokio::test]
async fn sandbox_changed_since_the_approval_is_refused() {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let folder = ground.root.join("mine");
        fs::create_dir_all(&folder).unwrap();
        let script = folder.join("server");
        let write = |first: &str| {
            fs::write(&script, format!("{first}\necho ran >&2\n")).unwrap();
            fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        };
        write("#!/bin/sh");
        let mut sandbox = ground.sandbox(false);
        sandbox.folders.push(AllowedFolder { path: folder.clone(), access: AccessMode::Write });
        let mut command = ServerCommand { program: script.display().to_string(), ..shell_command("", sandbox) };
        command.approved = ResolvedSandbox::for_command(&command, &script, &path).await.unwrap();
        assert!(spawn(&command, &script, &path).await.is_ok(), "{name}: the approved program must start");
        let secret = ground.root.join("secret/key");
        fs::create_dir_all(secret.parent().unwrap()).unwrap();
        fs::write(&secret, "canary").unwrap();
        std::os::unix::fs::symlink(&secret, folder.join("l")).unwrap();
        write(&format!("#!{}", folder.join("l").display()));
        let refused = spawn(&command, &script, &path).await.expect_err("a changed sandbox plan must be refused");
        assert!(
            matches!(refused, SpawnError::Sandbox(SandboxError::Changed)),
            "{name}: the error must be that the plan has changed: {refused}"
        );
        // A no-break space does not end a file name for the kernel.
        write(&format!("#!{}\u{a0}x", folder.join("l").display()));
        let plan = ResolvedSandbox::for_command(&command, &script, &path).await.unwrap().unwrap();
        let holds_secret = plan.reach.program.iter().any(|part| secret.starts_with(part));
        assert!(!holds_secret, "{name}: the plan must not include the secret: {:?}", plan.reach.program);
    }
}

#[tokio::test]
async fn resolved_sandbox_contains_mechanism_and_reachable_paths() {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let command = shell_command(":", ground.sandbox(true));
        let plan = ResolvedSandbox::for_command(&command, Path::new("/bin/sh"), &path)
            .await
            .unwrap()
            .expect("the command has a sandbox");
        assert_eq!(plan.mechanism.name(), name, "the mechanism must be named");
        assert_eq!(
            matches!(plan.mechanism, SandboxMechanism::Bubblewrap(_)),
            name == "bubblewrap",
            "the mechanism must have the right type"
        );
        assert_eq!(plan.reach.folders, ground.sandbox(true).folders, "the folders must be those that were named");
        assert_eq!(plan.network, NetworkAccess::Full, "the network must be as configured");
        assert!(!ground.root.join("own").exists(), "a plan changes nothing");
    }
}

#[tokio::test]
async fn script_interpreters_run_in_the_sandbox() {
    for (program, arguments, expected) in [
        ("/usr/bin/node", ["-e", "console.error(require('child_process').execSync('echo works').toString())"], "works"),
        (
            "/usr/bin/python3",
            ["-c", "import ssl, subprocess, sys; sys.stderr.write(subprocess.getoutput('echo works'))"],
            "works",
        ),
    ] {
        if !Path::new(program).exists() {
            eprintln!("skipped: {program} is not installed");
            continue;
        }
        for (name, path) in search_path_per_sandbox_mechanism().await {
            let ground = TestUserHome::new();
            let command = ServerCommand {
                program: program.to_owned(),
                arguments: arguments.map(str::to_owned).into(),
                ..shell_command("", ground.sandbox(false))
            };
            let stderr = run_server_to_end(&command, &path).await.stderr;
            assert!(stderr.iter().any(|line| line == expected), "{program} under {name}: {stderr:?}");
        }
    }
}

/// Variables that make the loader load files apply to the server only, not to the sandbox program. Otherwise a server
/// could load its own file there at the next start.
#[tokio::test]
async fn preloaded_files_of_the_server_are_not_loaded_outside_the_sandbox() {
    for (name, path) in search_path_per_sandbox_mechanism().await {
        let ground = TestUserHome::new();
        let planted = ground.root.join("write/planted.so");
        fs::write(&planted, "no library").unwrap();
        let mut command = shell_command("echo $LD_PRELOAD >&2", ground.sandbox(false));
        command.environment.insert("LD_PRELOAD".to_owned(), planted.display().to_string());
        let stderr = run_server_to_end(&command, &path).await.stderr;
        assert!(
            stderr.contains(&planted.display().to_string()),
            "{name}: the server must get its configured variable: {stderr:?}"
        );
        // The loader prints one error for each process in which it fails to load the file: only for the server.
        let loads = stderr.iter().filter(|line| line.contains("planted.so") && line.contains("ERROR")).count();
        assert_eq!(loads, 1, "{name}: only the server's own loader must try it: {stderr:?}");
    }
}

/// Simulates an attack by a server with write access to a folder of the search path: it creates a link to the real
/// bubblewrap there, waits until the link is used, and replaces it with its own program.
#[tokio::test]
async fn s05_replaced_bubblewrap_is_not_run() {
    let ground = TestUserHome::new();
    let (planted, marker) = (ground.root.join("bin/bwrap"), ground.root.join("ran"));
    fs::create_dir(ground.root.join("bin")).unwrap();
    fs::set_permissions(ground.root.join("bin"), fs::Permissions::from_mode(0o777)).unwrap();
    let Some(real) = ["/usr/bin/bwrap", "/bin/bwrap"].map(Path::new).into_iter().find(|real| real.exists()) else {
        eprintln!("skipped: bubblewrap is not installed");
        return;
    };
    std::os::unix::fs::symlink(real, &planted).unwrap();
    let directories = ["bin"].map(|name| ground.root.join(name)).into_iter().chain([real.parent().unwrap().to_owned()]);
    let path = SearchPath { directories: directories.collect(), source: SearchPathSource::LoginShell };
    let runs = async || errors_of_sandboxed_script("echo works >&2", ground.sandbox(false), &path).await;
    assert_eq!(runs().await, ["works"], "a link to root's bubblewrap must work");
    fs::remove_file(&planted).unwrap();
    fs::write(&planted, format!("#!/bin/sh\n: > {}\n", marker.display())).unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(runs().await, ["works"], "the next bubblewrap on the path must be used");
    assert!(!marker.exists(), "the replaced program must not run");
}

/// A file that decides what the command runs is changed after the approval and before the start, for instance while the
/// start waits for the keychain.
#[tokio::test]
async fn s06_file_changed_since_the_approval_is_not_run() {
    let ground = TestUserHome::new();
    let (script, marker) = (ground.root.join("server.sh"), ground.root.join("ran"));
    fs::write(&script, "exit 0").unwrap();
    let path = SearchPath::from_process("a test".to_owned());
    let mut command = ServerCommand {
        program: "/bin/sh".into(),
        arguments: vec![script.display().to_string()],
        ..ServerCommand::default()
    };
    command.files = Some(LaunchFiles::for_command(&command, Path::new("/bin/sh"), &path));
    spawn(&command, Path::new("/bin/sh"), &path).await.expect("the approved script starts");
    fs::write(&script, format!(": > {}", marker.display())).unwrap();
    let refused = spawn(&command, Path::new("/bin/sh"), &path).await.expect_err("the changed script does not start");
    assert!(
        matches!(&refused, SpawnError::Changed(changed) if *changed == script),
        "the error must name the file: {refused}"
    );
    assert!(!marker.exists(), "the changed script must not run");
}
