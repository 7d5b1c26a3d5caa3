//! Runs a test again in a separate process with other environment variables. Proxies and trusted authorities are read
//! from the environment, which must not change in the process of the tests.

use std::time::Duration;

use crate::report::{AttackResultRows, RESULT_TABLE_VARIABLE};

/// Environment variable that tells a separate test process the URL of the server to use.
const INHERITED_SERVER_URL_VARIABLE: &str = "HOSTILE_TEST_SERVER";

/// Returns the URL of the server to use if this process was started by [`run_test_in_process`], and `None` otherwise.
pub(crate) fn inherited_server_url() -> Option<String> {
    std::env::var(INHERITED_SERVER_URL_VARIABLE).ok()
}

/// Runs a test of a module again in a separate process with these environment variables, which uses the server at the
/// URL `server`. Dropping the returned value writes the result rows of that process.
///
/// # Panics
/// Panics if the test fails in the separate process.
#[allow(clippy::disallowed_methods, reason = "starts this test again, not a server")]
pub(crate) async fn run_test_in_process(
    module: &str,
    test: &str,
    server: &str,
    variables: &[(&str, &str)],
) -> AttackResultRows {
    let (_, module) = module.split_once("::").unwrap_or_default();
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("{module}::{test}"), "--nocapture"])
        .env(INHERITED_SERVER_URL_VARIABLE, server)
        .kill_on_drop(true);
    // The machine that runs the tests may use a proxy.
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        command.env_remove(name);
    }
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("rows");
    command.envs(variables.iter().copied()).env(RESULT_TABLE_VARIABLE, &table);
    let output = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
    let rows = AttackResultRows::read_from(&table);
    let output = output.unwrap_or_else(|_| panic!("{test}: it ends in its own process")).unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{test}: in its own process: {stdout}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    rows
}
