//! Error of a task: its cause in words, and the next step.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Cause of the failure of a task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// A program could not be started.
    #[error("{program} could not be started: {source}. Is it installed and on the PATH?")]
    Start { program: String, source: io::Error },
    /// A program exited with a failure.
    #[error("`{command}` failed ({status})")]
    Failed { command: String, status: ExitStatus },
    /// A program did not end within its time.
    #[error("`{command}` did not end within {} minutes and was stopped", limit.as_secs() / 60)]
    TooLong { command: String, limit: Duration },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The machine does not meet a requirement. The text contains the next step.
    #[error("{0}")]
    Machine(String),
    /// Checks failed, and have printed their findings.
    #[error("the checks above failed")]
    ChecksFailed,
    /// Ctrl-C, or a request to end.
    #[error("interrupted")]
    Interrupted,
}

impl Problem {
    /// For `map_err` on file operations.
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
