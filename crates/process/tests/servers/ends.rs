//! Tests of programs that can't be started, and of the shutdown of servers.

use std::time::Duration;

use process::{GracePeriods, ProcessExit, SearchPath, ServerCommand, SpawnError, shut_down, spawn};

use crate::support::{scripted_server_command, start_server};

#[tokio::test]
async fn server_ends_when_its_input_is_closed() {
    let server = start_server(&scripted_server_command(&[])).await;
    let exit = shut_down(server, GracePeriods::default()).await;
    assert_eq!(
        exit,
        ProcessExit { status: Some(0), signal: None, exceeded: None },
        "a server ends when its input is closed"
    );
}

#[tokio::test]
async fn server_receives_sigterm() {
    let script = "trap 'exit 7' TERM; echo ready >&2; while :; do sleep 0.05; done";
    let command = ServerCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        ..scripted_server_command(&[])
    };
    let grace = GracePeriods { after_close: Duration::from_millis(500), after_terminate: Duration::from_secs(10) };
    let exit = shut_down(start_server(&command).await, grace).await;
    assert_eq!(
        exit,
        ProcessExit { status: Some(7), signal: None, exceeded: None },
        "[stdio-shutdown-sigterm]: the server must handle SIGTERM"
    );
}

#[tokio::test]
async fn spawn_failure_reports_its_cause() {
    let path = SearchPath::from_process("a test".to_owned());
    let mut command = ServerCommand { working_directory: Some("/nowhere".into()), ..scripted_server_command(&[]) };
    let program = std::path::Path::new(&command.program).to_owned();
    let error = spawn(&command, &program, &path).await.expect_err("the folder does not exist");
    assert!(matches!(error, SpawnError::NoWorkingDirectory(_)), "the folder is named: {error}");
    command.working_directory = None;
    let error = spawn(&command, "/nowhere/server".as_ref(), &path).await.expect_err("the file does not exist");
    assert!(matches!(error, SpawnError::NotFound(_)), "the file is named: {error}");
    let data = tempfile::NamedTempFile::new().unwrap();
    let error = spawn(&command, data.path(), &path).await.expect_err("the file is not executable");
    assert!(matches!(error, SpawnError::NotExecutable(_)), "the permissions are named: {error}");
}
