//! Error type of the tasks, with the cause and a suggested remedy as text.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Reason for which a task of xtask failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    /// A program could not be started, usually because it is not installed.
    #[error("{program} could not be started: {source}. Is it installed and on the PATH?")]
    Start { program: String, source: io::Error },
    /// A program exited with a status other than success.
    #[error("`{command}` failed ({status})")]
    Failed { command: String, status: ExitStatus },
    /// A program was stopped because it exceeded its timeout.
    #[error("`{command}` did not end within {} minutes and was stopped", limit.as_secs() / 60)]
    TooLong { command: String, limit: Duration },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The machine does not meet a requirement. The text contains the suggested remedy.
    #[error("{0}")]
    Machine(String),
    /// One or more checks failed. The task has already printed the violations.
    #[error("the checks above failed")]
    ChecksFailed,
    /// The user pressed Ctrl-C, or termination was requested.
    #[error("interrupted")]
    Interrupted,
}

impl Problem {
    /// Returns a function for `map_err` that adds the path of the file to an I/O error.
    pub(crate) fn file_error(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
