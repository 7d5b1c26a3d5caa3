//! X33: tests of the environment and descriptors that a server inherits.

use std::collections::BTreeSet;
use std::os::fd::AsRawFd;

use serde_json::{Value, json};
use testkit::deadline::within;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::support::{WAIT_TIMEOUT, scripted_server_command, start_server};

const ALLOWED_VARIABLES: &[&str] = &[
    "DRAWBRIDGE_SERVER",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

#[tokio::test]
async fn server_receives_allowed_and_configured_variables_only() {
    let folder = tempfile::tempdir().unwrap();
    // A descriptor as a careless library would leave it open: inheritable.
    let leaked = std::fs::File::open("/dev/null").unwrap();
    nix::fcntl::fcntl(&leaked, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
    assert!(leaked.as_raw_fd() > 2, "the descriptor is one that must not be inherited");

    let mut command = scripted_server_command(&[]);
    command.environment.insert("CONFIGURED".to_owned(), "yes".to_owned());
    command.environment.insert("LANG".to_owned(), "xx_XX.UTF-8".to_owned());
    command.working_directory = Some(folder.path().to_owned());
    let mut server = start_server(&command).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "environment"}});
    server.pipes.stdin.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    let mut lines = BufReader::new(&mut server.pipes.stdout);
    within(WAIT_TIMEOUT, "the server reports its environment", lines.read_line(&mut answer)).await.unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let observed: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();

    // cargo sets several variables for the test, which a child would inherit by default.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the test has variables that must not be passed on");
    let names: BTreeSet<&str> = observed["environment"].as_object().unwrap().keys().map(String::as_str).collect();
    let more: Vec<_> = names
        .iter()
        .filter(|name| !ALLOWED_VARIABLES.contains(name) && !name.starts_with("LC_") && **name != "CONFIGURED")
        .collect();
    assert!(more.is_empty(), "X33: these variables must not reach a server: {more:?}");
    assert_eq!(
        observed["environment"]["CONFIGURED"], "yes",
        "[auth-stdio-environment]: configured variables must be set"
    );
    assert_eq!(observed["environment"]["LANG"], "xx_XX.UTF-8", "configured variables must take precedence");
    assert_eq!(observed["descriptors"], json!([0, 1, 2]), "X33: no descriptor above 2 is inherited");
    let directory = folder.path().canonicalize().unwrap();
    assert_eq!(observed["directory"], json!(directory), "the server must run in its working directory");
    assert_eq!(observed["group"], observed["pid"], "the server must lead a process group");
    assert_eq!(observed["session"], observed["pid"], "the server must have its own session");
    assert_eq!(observed["pid"], server.spawned().pid, "the app must know the server's pid");
}
