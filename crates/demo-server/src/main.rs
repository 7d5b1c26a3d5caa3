//! `demo-server`: a small MCP server about a harbour that shows every feature a host can encounter.
//!
//! The server uses standard input and output or Streamable HTTP, and supports all revisions: sessions opened by
//! `initialize` (2024-11-05 to 2025-11-25) and the stateless requests of 2026-07-28. All data is in memory. The server
//! reads no files and opens no connections.

mod board;
mod client;
mod completion;
mod content;
mod harbour;
mod http;
mod input_requests;
mod legacy;
mod options;
mod page;
mod prompts;
mod request_contents;
mod resources;
mod server;
mod skills;
mod state;
mod stdio;
mod subscriptions;
mod tasks;
mod templates;
mod tools;

use std::process::ExitCode;

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

use crate::options::DemoServerOptions;

fn main() -> ExitCode {
    let options = DemoServerOptions::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,demo_server=info"));
    // Standard output carries the protocol, so logs are written to standard error.
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(async {
        match options.http {
            Some(port) => http::serve(options, port).await.map_err(|error| error.to_string()),
            None => stdio::serve(options).await.map_err(|error| error.to_string()),
        }
    });
    // A pending read of standard input must not block the exit.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}
