//! Tests of the login shell's search path and of program lookups.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use process::{SearchPath, SearchPathSource, ServerCommand};
use testkit::deadline::poll_until;
use testkit::processes::is_alive;

/// Writes a script that acts as the user's login shell.
fn write_fake_login_shell(folder: &Path, script: &str) -> PathBuf {
    let file = folder.join("shell");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file
}

#[tokio::test]
async fn path_from_shell_start_up_files_is_found() {
    let folder = tempfile::tempdir().unwrap();
    // As with `bash -i -l`: prints a greeting, and leaves a background process running.
    let shell = write_fake_login_shell(
        folder.path(),
        r#"echo "Good morning"; sleep 1000 & PATH="/opt/added/bin:relative:/usr/bin"; export PATH; eval "$2""#,
    );
    let path = SearchPath::from_login_shell(shell, Duration::from_secs(5)).await;
    assert_eq!(path.source, SearchPathSource::LoginShell, "the shell's path must be used");
    assert_eq!(
        path.directories,
        [PathBuf::from("/opt/added/bin"), PathBuf::from("/usr/bin")],
        "only absolute folders must be returned, in the shell's order"
    );
}

#[tokio::test]
async fn bash_start_up_files_are_read() {
    let bash = Path::new("/bin/bash");
    if !bash.exists() {
        eprintln!("skipped: bash is not installed");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(".bash_profile"), ". ~/.bashrc\necho noise\n").unwrap();
    // As common installers write it: without effect in a non-interactive shell.
    std::fs::write(home.path().join(".bashrc"), "case $- in *i*) PATH=\"/opt/from-bashrc:$PATH\";; esac\n").unwrap();
    let script = format!("HOME={} exec /bin/bash \"$@\"", home.path().display());
    let path = SearchPath::from_login_shell(write_fake_login_shell(home.path(), &script), Duration::from_secs(5)).await;
    assert_eq!(path.source, SearchPathSource::LoginShell, "the path of bash must be used");
    assert_eq!(
        path.directories.first(),
        Some(&PathBuf::from("/opt/from-bashrc")),
        "bash must be started as an interactive login shell"
    );
}

#[tokio::test]
async fn hanging_login_shell_is_killed_and_the_inherited_path_used() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!(r#"trap "" TERM HUP; sleep 1000 & echo $$ $! > {}; wait"#, pids.display());
    let limit = Duration::from_secs(600);
    let mut search = pin!(SearchPath::from_login_shell(write_fake_login_shell(folder.path(), &script), limit));
    let running = || {
        let text = std::fs::read_to_string(&pids).unwrap_or_default();
        text.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<u32>>()
    };
    let hangs = poll_until(Duration::from_secs(20), || running().len() == 2);
    tokio::select! {
        path = &mut search => panic!("the search must wait for the shell: {path:?}"),
        hangs = hangs => assert!(hangs, "the shell runs"),
    }
    // From here on, the search can only end by its time limit.
    tokio::time::pause();
    let path = search.await;
    tokio::time::resume();
    let SearchPathSource::Process { reason } = &path.source else { panic!("the shell has not answered") };
    // With a paused clock, the time limit of the start may expire before its result is received.
    let is_explained = ["did not answer within 600 s", "timed out"].iter().any(|words| reason.contains(words));
    assert!(is_explained, "the reason must be reported: {reason}");
    assert!(!path.directories.is_empty(), "the app's own PATH must be used");
    for pid in running() {
        let has_ended = poll_until(Duration::from_secs(2), || !is_alive(pid)).await;
        assert!(has_ended, "process {pid} of the hanging shell must have ended");
    }
}

#[tokio::test]
async fn missing_login_shell_is_named_in_the_reason() {
    let path = SearchPath::from_login_shell("/nowhere/fish".into(), Duration::from_secs(5)).await;
    let SearchPathSource::Process { reason } = path.source else { panic!("the shell does not exist") };
    assert!(reason.starts_with("/nowhere/fish could not be started"), "the reason must be reported: {reason}");
}

#[test]
fn programs_are_resolved_like_in_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let tool = write_fake_login_shell(&bin, "exit 0");
    std::fs::write(bin.join("data"), "no program").unwrap();
    let path = SearchPath { directories: vec![bin.clone()], source: SearchPathSource::LoginShell };
    let resolve = |program: &str| {
        path.resolve(&ServerCommand {
            program: program.to_owned(),
            working_directory: Some(folder.path().to_owned()),
            ..ServerCommand::default()
        })
    };
    assert_eq!(resolve("shell").unwrap(), tool, "a bare name must be looked up");
    assert_eq!(resolve("bin/shell").unwrap(), tool, "a relative path must start at the working directory");
    assert_eq!(resolve(&tool.display().to_string()).unwrap(), tool, "an absolute path must be used unchanged");
    let missing = resolve("bin/missing").unwrap_err();
    assert_eq!(missing.looked_in, [folder.path().join("bin/missing")], "a path must be looked for in one place");
    assert!(resolve("data").is_err(), "a file that is not executable must not be found");
    let configured = ServerCommand {
        program: "shell".to_owned(),
        environment: [("PATH".to_owned(), "/nowhere".to_owned())].into(),
        ..ServerCommand::default()
    };
    assert!(path.resolve(&configured).is_err(), "a configured PATH must replace the search path");
}
