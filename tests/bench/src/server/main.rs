//! A small and fast MCP server, so that the client is what is measured. `stdio` answers on standard output, `http` on a port
//! of its own; `bare` and `http-bare` move the same bytes with no protocol and no JSON.

mod answers;
mod http;
mod stdio;

use std::io;

use clap::{Parser, Subcommand, ValueEnum};

use answers::Server;

#[derive(Parser)]
#[command(about = "A small and fast MCP server with the tools echo {text}, big {bytes} and progress {count}")]
struct Arguments {
    #[command(subcommand)]
    mode: Mode,
}

#[derive(Subcommand)]
enum Mode {
    /// Serve on standard input and output
    Stdio {
        #[command(flatten)]
        offer: Offer,
    },
    /// Serve Streamable HTTP on 127.0.0.1; prints the URL
    Http {
        /// The port; 0 for any
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// How requests are answered
        #[arg(long, value_enum, default_value_t = Answers::Json)]
        answers: Answers,
        #[command(flatten)]
        offer: Offer,
    },
    /// Answer each line with lines of constant bytes
    Bare {
        /// Bytes of each line, its end included
        #[arg(long)]
        bytes: usize,
        /// Lines for each line that comes
        #[arg(long, default_value_t = 1)]
        lines: usize,
    },
    /// Answer each POST with constant bytes; prints the URL
    HttpBare {
        /// Bytes of each body
        #[arg(long)]
        bytes: usize,
        /// The type that the body claims to be
        #[arg(long, value_enum, default_value_t = Answers::Json)]
        answers: Answers,
    },
}

#[derive(clap::Args)]
struct Offer {
    /// How many tools to offer; the first three are echo, big and progress
    #[arg(long, default_value_t = 3)]
    tools: usize,
    /// Which revisions to speak
    #[arg(long, value_enum, default_value_t = Era::Legacy)]
    era: Era,
}

/// How HTTP requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answers {
    /// With one JSON body.
    Json,
    /// With a stream of events.
    Sse,
}

/// Which revisions are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Era {
    /// 2024-11-05 to 2025-11-25, with `initialize`.
    Legacy,
    /// 2026-07-28, with `server/discover`.
    Modern,
}

fn main() -> io::Result<()> {
    match Arguments::parse().mode {
        Mode::Stdio { offer } => stdio::serve(&mut Server::new(offer.tools, offer.era)),
        Mode::Http { port, answers, offer } => http::serve(port, answers, &Server::new(offer.tools, offer.era)),
        Mode::Bare { bytes, lines } => stdio::bare(bytes, lines),
        Mode::HttpBare { bytes, answers } => http::bare(bytes, answers),
    }
}
