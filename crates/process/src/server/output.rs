//! Runs a short program, such as a package manager that prints a version, and reads its output.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::server_group::{ProcessExit, ServerPipes, ServerProcess};
use super::spawn::{SpawnError, spawn};
use crate::command::ServerCommand;
use crate::programs::SearchPath;

/// Limits on the duration and the output of a short program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Maximum time from the start to the end of the program.
    pub time: Duration,
    /// Maximum size, in bytes, of standard output, and also of standard error.
    pub bytes: usize,
}

/// The output and the exit status of a short program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    /// Exit code of the program, or the signal that ended it.
    pub exit: ProcessExit,
    /// Bytes that the program has written to standard output.
    pub stdout: Vec<u8>,
    /// Bytes that the program wrote to standard error.
    pub stderr: Vec<u8>,
}

/// The reason why no output of a short program is available.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The program could not be started.
    #[error(transparent)]
    NotStarted(#[from] SpawnError),
    /// The program ran longer than this time limit.
    #[error("it did not end within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    /// The output of the program exceeded this limit, in bytes.
    #[error("it printed more than {0} bytes")]
    TooLarge(usize),
    /// The output of the program could not be read from its pipes.
    #[error("its output could not be read: {0}")]
    Unreadable(io::Error),
}

/// Runs a short program until it ends, with the environment, the sandbox and the process group that a server of this
/// command would get. `input` is everything that the program can read from standard input. No process of the program
/// remains afterwards.
///
/// # Errors
/// Returns [`OutputError`] if the program does not start, its output can't be read, or it exceeds its limits. The
/// program is killed then.
pub async fn run_and_capture(
    command: &ServerCommand,
    program: &Path,
    path: &SearchPath,
    input: &[u8],
    limits: OutputLimits,
) -> Result<ProgramOutput, OutputError> {
    let ServerProcess { pipes: ServerPipes { mut stdin, stdout, stderr }, mut group } =
        spawn(command, program, path).await?;
    let write = async move {
        // A program may close its input, or end, before it has read all of it.
        let _ = stdin.write_all(input).await;
        Ok(())
    };
    let run = async {
        let (stdout, stderr, ()) =
            tokio::try_join!(read_bounded(stdout, limits.bytes), read_bounded(stderr, limits.bytes), write)?;
        Ok(ProgramOutput { exit: group.wait().await, stdout, stderr })
    };
    timeout(limits.time, run).await.unwrap_or(Err(OutputError::TimedOut(limits.time)))
}

async fn read_bounded(stream: impl AsyncRead + Unpin, most: usize) -> Result<Vec<u8>, OutputError> {
    let mut bytes = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    stream.take(bound).read_to_end(&mut bytes).await.map_err(OutputError::Unreadable)?;
    if bytes.len() > most { Err(OutputError::TooLarge(most)) } else { Ok(bytes) }
}
