//! Program that runs the scripted authorization server and the MCP server that requires its tokens, for tests in other
//! processes.
//!
//! The two optional arguments are the scripts as JSON: of the authorization server, and of the MCP server. Prints one
//! line of JSON, `{"issuer": URL, "server": URL}`, and exits at the end of standard input. `POST /_test/script` at
//! either server changes its script, and `GET /_test/requests` at the MCP server returns the recorded requests.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program prints its address or its error")]

use std::process::ExitCode;

use serde::de::DeserializeOwned;
use testkit::authorization::{AuthorizationServer, ProtectedServer};
use tokio::io::AsyncReadExt as _;

fn parse_script<S: DeserializeOwned + Default>(argument: Option<String>) -> Result<S, String> {
    argument.map_or_else(|| Ok(S::default()), |text| serde_json::from_str(&text).map_err(|e| format!("{text}: {e}")))
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let scripts = (parse_script(arguments.next()), parse_script(arguments.next()));
    let (issuer, server) = match scripts {
        (Ok(issuer), Ok(server)) => (issuer, server),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let issuer = AuthorizationServer::start(issuer).await;
    let server = ProtectedServer::start(server, &[&issuer]).await;
    println!("{}", serde_json::json!({ "issuer": issuer.issuer(), "server": server.url() }));
    let mut rest = Vec::new();
    let _ = tokio::io::stdin().read_to_end(&mut rest).await;
    ExitCode::SUCCESS
}
