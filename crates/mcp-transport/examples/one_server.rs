//! Runs one server, given as program and arguments, and prints each event until the server has ended.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use mcp_proto::session::{SessionConfig, SessionEvent};
use mcp_transport::DriverEvent;
use process::{SearchPath, ServerCommand, spawn};
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("usage: one_server PROGRAM [ARGUMENT...]")?;
    let command = ServerCommand { program, arguments: arguments.collect(), ..ServerCommand::default() };
    let path = SearchPath::from_process("an example".to_owned());
    let process = spawn(&command, &path.resolve(&command)?, &path).await?;
    let (events, mut event_receiver) = mpsc::channel(16);
    let _handle = mcp_transport::stdio::run(SessionConfig::default(), process, events);
    while let Some(event) = event_receiver.recv().await {
        match event {
            DriverEvent::Session(SessionEvent::Ready(facts)) => println!("ready: {}", facts.revision),
            DriverEvent::Session(event) => println!("session: {event:?}"),
            DriverEvent::Frame(frame) => println!("{:?}: {} bytes", frame.direction, frame.bytes.len()),
            other => println!("{other:?}"),
        }
    }
    Ok(())
}
