//! HTTP server process that the test starts, like an administrator would, and that ends with the test.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines};
use tokio::process::{Child, Command};

/// Maximum time until a server listens on its port. Some programs load for seconds, and several may start concurrently.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(60);

/// Program to start, with its command-line arguments.
#[derive(Debug, Clone)]
pub(crate) struct LaunchCommand {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
}

impl LaunchCommand {
    pub(crate) fn new(program: PathBuf, arguments: &[&str]) -> Self {
        Self { program, arguments: arguments.iter().map(|&a| a.to_owned()).collect() }
    }

    pub(crate) fn with_argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }
}

/// A running process of an HTTP server, which is killed on drop.
pub(crate) struct HttpProcess {
    /// Origin of the server, such as `http://127.0.0.1:8080`.
    pub(crate) origin: String,
    /// Lines that the process has written to standard error.
    errors: Arc<Mutex<Vec<String>>>,
    child: Child,
}

impl HttpProcess {
    /// Starts a server on any free port. The program receives port 0 as its last argument, and prints its origin as the
    /// first line.
    #[allow(clippy::disallowed_methods, reason = "starts a remote server, as its administrator would")]
    pub(crate) async fn start(launch: LaunchCommand) -> Self {
        let launch = launch.with_argument("0");
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{launch:?} should start: {error}"));
        let mut lines = BufReader::new(child.stdout.take().expect("a piped standard output")).lines();
        let errors = Arc::<Mutex<Vec<String>>>::default();
        tokio::spawn(store_output_lines(
            BufReader::new(child.stderr.take().expect("a piped standard error")).lines(),
            Arc::clone(&errors),
        ));
        let first = tokio::time::timeout(LISTEN_TIMEOUT, lines.next_line()).await;
        let origin = match first {
            Ok(Ok(Some(line))) if line.starts_with("http://") => line,
            other => panic!("{launch:?} should print its origin, not {other:?}"),
        };
        // The remaining output is discarded, so that the process never blocks on writing.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { origin, errors, child }
    }

    /// Returns `true` if the process has written a line to standard error for which `fits` returns `true`.
    pub(crate) fn has_error_line(&self, fits: impl Fn(&str) -> bool) -> bool {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.iter().any(|line| fits(line))
    }

    /// Kills the process without a chance to shut down, as in a crash.
    pub(crate) async fn kill(mut self) {
        self.child
            .kill()
            .await
            .unwrap_or_else(|error| panic!("the process at {} should be killed: {error}", self.origin));
    }
}

async fn store_output_lines(mut lines: Lines<BufReader<impl AsyncRead + Unpin>>, stored: Arc<Mutex<Vec<String>>>) {
    while let Ok(Some(line)) = lines.next_line().await {
        stored.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}
