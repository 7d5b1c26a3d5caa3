//! Tests the checks of runtimes with scripts as runtimes, in a temporary search path.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;

use ports::server_config::{ServerEntry, StdioConfig};
use process::SearchPathSource;
use tempfile::TempDir;

use super::*;
use crate::finding::FindingState;

fn create_script_programs(scripts: &[(&str, &str)]) -> (TempDir, SearchPath) {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in scripts {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = SearchPath { directories: vec![folder.path().to_owned()], source: SearchPathSource::LoginShell };
    (folder, path)
}

async fn check_runtime_for_commands(id: CheckId, path: &SearchPath, commands: &[(&str, &[&str])]) -> CheckOutcome {
    let servers: Vec<ServerEntry> = commands
        .iter()
        .enumerate()
        .map(|(at, (command, args))| {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            let config = StdioConfig { command: (*command).to_owned(), args, ..StdioConfig::default() };
            ServerEntry { name: format!("s{at}"), config: config.into() }
        })
        .collect();
    let runtime = LANGUAGE_RUNTIMES.iter().find(|runtime| runtime.id == id).unwrap();
    check_language_runtime(
        runtime,
        path.clone(),
        Some(crate::required_programs::find_programs_of_servers(&servers, path)),
    )
    .await
}

#[tokio::test]
async fn runtime_finding_contains_version_path_and_affected_servers() {
    let (folder, path) = create_script_programs(&[("node", "echo v22.5.1"), ("npx", ""), ("dotnet", "echo 8.0.404")]);
    let node = check_runtime_for_commands(
        CheckId::Node,
        &path,
        &[("npx", &["-y", "server"]), ("sh", &["-c", "npx server"]), ("uvx", &["x"])],
    )
    .await;
    assert_eq!(
        node.state,
        FindingState::Problem,
        "the shell of the second server finds no npx, since the search path contains no shell: {}",
        node.observation
    );
    assert_eq!(node.servers, ["s1"], "only the server that can't start is affected");
    let node = check_runtime_for_commands(
        CheckId::Node,
        &path,
        &[("npx", &["-y", "server"]), ("/bin/sh", &["-c", "npx server"])],
    )
    .await;
    assert_eq!(
        (node.state, &node.servers[..]),
        (FindingState::Ok, &["s0".to_owned(), "s1".to_owned()][..]),
        "{}",
        node.observation
    );
    let shown = format!("Node.js 22.5.1, {}/node.", folder.path().display());
    assert_eq!(node.observation.to_string(), shown, "the version and the path are displayed");
    let dotnet = check_runtime_for_commands(CheckId::Dotnet, &path, &[("dnx", &["server"])]).await;
    assert_eq!(
        dotnet.state,
        FindingState::Problem,
        "dnx is missing in an SDK before version 10: {}",
        dotnet.observation
    );
    assert!(dotnet.remedy.unwrap().to_string().contains("SDK 10"), "the remedy names the required SDK");
}

#[tokio::test]
async fn missing_runtime_is_a_problem_only_where_required() {
    let (_folder, path) = create_script_programs(&[]);
    for (id, command) in
        [(CheckId::Uv, "uvx"), (CheckId::Docker, "docker"), (CheckId::Podman, "podman"), (CheckId::Python, "python")]
    {
        let needed = check_runtime_for_commands(id, &path, &[(command, &["run", "x"])]).await;
        assert_eq!(
            (needed.state, &needed.servers[..]),
            (FindingState::Problem, &["s0".to_owned()][..]),
            "{}",
            needed.observation
        );
        assert!(
            needed.observation.to_string().contains(command),
            "the missing program is named: {}",
            needed.observation
        );
        assert!(
            needed.remedy.is_some_and(|remedy| remedy.to_string().starts_with("Install ")),
            "the remedy for {command} is to install it"
        );
        let free = check_runtime_for_commands(id, &path, &[("/bin/sh", &[])]).await;
        assert_eq!(
            (free.state, free.servers.len()),
            (FindingState::Ok, 0),
            "{command} is not needed by a server: {}",
            free.observation
        );
        let runtime = LANGUAGE_RUNTIMES.iter().find(|runtime| runtime.id == id).unwrap();
        let unclear = check_language_runtime(runtime, path.clone(), None).await;
        assert_eq!(
            unclear.state,
            FindingState::Unknown,
            "the servers that need {command} are unknown: {}",
            unclear.observation
        );
    }
}

#[tokio::test]
async fn server_with_an_absolute_program_path_is_not_affected() {
    let (folder, _) = create_script_programs(&[("uvx", "")]);
    let own = folder.path().join("uvx").display().to_string();
    let (_empty, path) = create_script_programs(&[]);
    let uv = check_runtime_for_commands(CheckId::Uv, &path, &[(&own, &["server"])]).await;
    assert_eq!((uv.state, &uv.servers[..]), (FindingState::Ok, &["s0".to_owned()][..]), "{}", uv.observation);
}

#[tokio::test]
async fn old_version_is_a_warning_and_a_broken_program_a_problem() {
    let server: &[(&str, &[&str])] = &[("node", &["x.js"])];
    let (_folder, path) = create_script_programs(&[("node", "echo v16.20.2")]);
    let old = check_runtime_for_commands(CheckId::Node, &path, server).await;
    assert_eq!(old.state, FindingState::Warning, "{}", old.observation);
    assert!(old.observation.to_string().contains("18 or later"), "{}", old.observation);
    for (script, message) in [
        ("echo no version", "it printed no version"),
        ("echo >&2; echo libnode.so is missing >&2; exit 127", "libnode.so is missing"),
        ("kill -9 $$", "it failed"),
        ("while :; do echo 0123456789012345678901234567890123456789; done", "more than 16384 bytes"),
    ] {
        let (_folder, path) = create_script_programs(&[("node", script)]);
        let broken = check_runtime_for_commands(CheckId::Node, &path, server).await;
        assert_eq!(broken.state, FindingState::Problem, "{script}: {}", broken.observation);
        assert!(broken.observation.to_string().contains(message), "{script}: {}", broken.observation);
        let unneeded = check_runtime_for_commands(CheckId::Node, &path, &[]).await;
        assert_eq!(
            unneeded.state,
            FindingState::Warning,
            "a broken runtime that no server needs is a warning: {}",
            unneeded.observation
        );
    }
}

#[tokio::test]
async fn hanging_version_query_is_killed() {
    let (folder, path) = create_script_programs(&[("node", "read line < /dev/zero")]);
    let limits = OutputLimits { time: Duration::from_millis(300), ..VERSION_QUERY_LIMITS };
    let answer = query_version(&folder.path().join("node"), &path, limits).await;
    assert_eq!(answer, Err("it did not end within 0.3 s".to_owned()));
}
