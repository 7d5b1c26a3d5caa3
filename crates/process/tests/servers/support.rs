//! Helpers that start the servers of these tests.

use process::{SearchPath, ServerCommand, ServerProcess, spawn};

/// Time limit of each wait in the tests.
pub const WAIT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(9);

/// Returns the command for `scripted-server` with these arguments.
pub fn scripted_server_command(arguments: &[&str]) -> ServerCommand {
    ServerCommand {
        program: testkit::binaries::scripted_server().display().to_string(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        ..ServerCommand::default()
    }
}

pub async fn start_server(command: &ServerCommand) -> ServerProcess {
    let path = SearchPath::from_process("a test".to_owned());
    let program = path.resolve(command).expect("the server is there");
    spawn(command, &program, &path).await.expect("the server starts")
}
