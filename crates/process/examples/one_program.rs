//! Runs one program with its arguments. Prints the record by which a later process could end the program as an orphan,
//! and then the exit status.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use process::{SearchPath, ServerCommand, spawn};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("usage: one_program PROGRAM [ARGUMENT...]")?;
    let command = ServerCommand { program, arguments: arguments.collect(), ..ServerCommand::default() };
    let path = SearchPath::from_process("an example".to_owned());
    let mut process = spawn(&command, &path.resolve(&command)?, &path).await?;
    println!("record: {}", process.spawned().record());
    println!("{:?}", process.group.wait().await);
    Ok(())
}
