//! Tests of a remote server that is running and listed in the registry.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::user::NewUser;
use crate::installed;

/// Maximum time until the server listens on its port.
const LISTEN_TIMEOUT: Duration = Duration::from_secs(60);

/// Script that Node.js loads before the server. It prints the port that the system has assigned, since the server
/// prints only the port that it was asked for.
const PRINT_PORT_SCRIPT: &str = r#"data:text/javascript,
    import { Server } from "node:net";
    const { emit } = Server.prototype;
    Server.prototype.emit = function (name, ...values) {
        if (name === "listening") console.error("bound to port " + this.address().port);
        return emit.call(this, name, ...values);
    };"#;

/// Starts the server `everything` over Streamable HTTP. Returns its process and port.
#[allow(clippy::disallowed_methods, reason = "starts a remote server, as its administrator would")]
async fn start_everything_server() -> (Child, u16) {
    let mut command = Command::new(installed::node_path());
    command
        .args([
            "--import",
            PRINT_PORT_SCRIPT,
            &installed::npm_package_script_path("server-everything"),
            "streamableHttp",
        ])
        .env("PORT", "0");
    let mut child = command.stderr(std::process::Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let listens = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(port) = line.strip_prefix("bound to port ") {
                return port.parse().unwrap();
            }
        }
        panic!("the server should print its port before it ends");
    };
    let port =
        tokio::time::timeout(LISTEN_TIMEOUT, listens).await.expect("the server should listen before the timeout");
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, port)
}

#[tokio::test]
async fn remote_server_is_installed_and_called() {
    let (_server, port) = start_everything_server().await;
    let (name, url) = ("io.github.modelcontextprotocol/everything", format!("http://127.0.0.1:{port}/mcp"));
    let entry = json!({
        "name": name, "version": "2026.8.31", "description": "Shows what a server can do",
        "remotes": [{ "type": "streamable-http", "url": url }],
    });
    let mut user = NewUser::with_registry("a remote", entry).await;
    let done = user.install(name, &[]).await;
    assert!(
        done["plan"]["notes"].to_string().contains("is the address of this computer"),
        "the plan should note that the URL leads to this computer: {done}"
    );
    assert_eq!(user.settings(), json!({ "everything": { "type": "http", "url": url } }));
    assert!(user.list_tools("everything").await.contains(&"get-sum".to_owned()));
    let sum = user.call_tool("everything", "get-sum", &json!({ "a": 2, "b": 40 })).await;
    assert_eq!(sum, "The sum of 2 and 40 is 42.");
    user.print_durations();
}
