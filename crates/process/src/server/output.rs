//! Runs a short program, such as a package manager that is asked for a version, and reads what it prints.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::group::{Exit, Pipes, ServerProcess};
use super::spawn::{SpawnError, spawn};
use crate::command::ServerCommand;
use crate::programs::SearchPath;

/// The bounds of a short program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// How long it may take, from its start to its end.
    pub time: Duration,
    /// How many bytes it may print on each of standard output and standard error.
    pub bytes: usize,
}

/// The output of a short program, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// Why a short program has no output to use.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The program could not be started.
    #[error(transparent)]
    NotStarted(#[from] SpawnError),
    /// The program took longer than it may.
    #[error("it did not end within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The program printed more than it may.
    #[error("it printed more than {0} bytes")]
    TooMuch(usize),
    /// Its output could not be read.
    #[error("its output could not be read: {0}")]
    Unreadable(io::Error),
}

/// Runs a program to its end, with the environment, the sandbox and the process group that a server with this command would
/// get. `input` is its whole standard input. Nothing of it is left afterwards.
///
/// # Errors
/// [`OutputError`], if it does not start, or exceeds its bounds; it is killed then.
pub async fn output_of(
    command: &ServerCommand,
    program: &Path,
    path: &SearchPath,
    input: &[u8],
    limits: OutputLimits,
) -> Result<Output, OutputError> {
    let ServerProcess { pipes: Pipes { mut stdin, stdout, stderr }, mut group } = spawn(command, program, path).await?;
    let write = async move {
        // A program that does not want its input may close it, or end, before.
        let _ = stdin.write_all(input).await;
        Ok(())
    };
    let run = async {
        let (stdout, stderr, ()) = tokio::try_join!(read(stdout, limits.bytes), read(stderr, limits.bytes), write)?;
        Ok(Output { exit: group.wait().await, stdout, stderr })
    };
    timeout(limits.time, run).await.unwrap_or(Err(OutputError::TimedOut(limits.time)))
}

async fn read(stream: impl AsyncRead + Unpin, most: usize) -> Result<Vec<u8>, OutputError> {
    let mut bytes = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    stream.take(bound).read_to_end(&mut bytes).await.map_err(OutputError::Unreadable)?;
    if bytes.len() > most { Err(OutputError::TooMuch(most)) } else { Ok(bytes) }
}
