//! Servers of the tests, and how they are started.

use process::{SearchPath, ServerCommand, ServerProcess, spawn};

/// No test waits longer for one thing.
pub const LONG: std::time::Duration = std::time::Duration::from_secs(9);

/// The command for `scripted-server` with these arguments.
pub fn scripted(arguments: &[&str]) -> ServerCommand {
    ServerCommand {
        program: testkit::binaries::scripted_server().display().to_string(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        ..ServerCommand::default()
    }
}

pub async fn started(command: &ServerCommand) -> ServerProcess {
    let path = SearchPath::of_process("a test".to_owned());
    let program = path.resolve(command).expect("the server is there");
    spawn(command, &program, &path).await.expect("the server starts")
}
