//! Runs the rest of a test in a separate process: proxies and trusted authorities are read from the environment of a
//! process, and that of the tests must not change while they run.

use std::time::Duration;

use crate::report::{Rows, TABLE_VARIABLE};

/// Environment variable that tells the other process which server to use.
const SERVER: &str = "HOSTILE_TEST_SERVER";

/// The server to use, in the process that [`run`] started.
pub(crate) fn server() -> Option<String> {
    std::env::var(SERVER).ok()
}

/// Runs the named test of this module again in a process with these variables, and tells it this server. Its lines for the
/// table are written when the test that runs it is over.
///
/// # Panics
/// If it fails there.
#[allow(clippy::disallowed_methods, reason = "starts this test again, not a server")]
pub(crate) async fn run(module: &str, test: &str, server: &str, variables: &[(&str, &str)]) -> Rows {
    let (_, module) = module.split_once("::").unwrap_or_default();
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("{module}::{test}"), "--nocapture"]).env(SERVER, server).kill_on_drop(true);
    // The person who runs the tests may use a proxy.
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        command.env_remove(name);
    }
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("rows");
    command.envs(variables.iter().copied()).env(TABLE_VARIABLE, &table);
    let output = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
    let rows = Rows::of(&table);
    let output = output.unwrap_or_else(|_| panic!("{test}: it ends in its own process")).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{test}: in its own process: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    rows
}
