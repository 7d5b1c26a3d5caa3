//! A server that listens: started by the test, as an administrator would, and ended with it.

use std::path::PathBuf;
use std::process::Stdio;

use testkit::app::PATIENCE;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// A program and its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
}

impl Launch {
    pub(crate) fn new(program: PathBuf, arguments: &[&str]) -> Self {
        Self { program, arguments: arguments.iter().map(|&a| a.to_owned()).collect() }
    }

    pub(crate) fn and(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }
}

/// It runs until this is dropped.
pub(crate) struct HttpProcess {
    /// Where it listens, as `http://host:port`.
    pub(crate) origin: String,
    child: Child,
}

impl HttpProcess {
    /// On any free port.
    pub(crate) async fn start(launch: Launch) -> Self {
        Self::start_at(launch, 0).await
    }

    /// On this port; the servers in `servers` take it from the environment.
    #[allow(clippy::disallowed_methods, reason = "what the host meets over HTTP is started by somebody else")]
    pub(crate) async fn start_at(launch: Launch, port: u16) -> Self {
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .env("PORT", port.to_string())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{launch:?}: {error}"));
        let mut lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
        let first = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let origin = match first {
            Ok(Ok(Some(line))) if line.starts_with("http://") => line,
            other => panic!("{launch:?} should have said where it listens, not {other:?}"),
        };
        // What else it says is let go, so that it never waits for a reader.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { origin, child }
    }

    /// Ends it at once, as a crash would.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap_or_else(|error| panic!("{} could not be killed: {error}", self.origin));
    }
}
