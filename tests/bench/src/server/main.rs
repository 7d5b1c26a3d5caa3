//! Small and fast MCP server, so that the client dominates the measurement. `stdio` serves on standard output, `http`
//! on a port. `bare` and `http-bare` create the first response in the same way and repeat its bytes without parsing
//! further requests, so that the transferred bytes are equal.

mod answers;
mod http;
mod stdio;

use std::io;

use clap::{Parser, Subcommand, ValueEnum};

use answers::ServerState;

#[derive(Parser)]
#[command(about = "A small and fast MCP server with the tools echo {text}, big {bytes} and progress {count}")]
struct Arguments {
    #[command(subcommand)]
    mode: ServerTransport,
}

#[derive(Subcommand)]
enum ServerTransport {
    /// Serve on standard input and output
    Stdio {
        #[command(flatten)]
        offer: ToolOfferOptions,
    },
    /// Serve Streamable HTTP on 127.0.0.1; prints the URL
    Http {
        #[command(flatten)]
        place: HttpOptions,
        #[command(flatten)]
        offer: ToolOfferOptions,
    },
    /// Respond to the first line, and to each further line with the same bytes
    Bare {
        #[command(flatten)]
        offer: ToolOfferOptions,
    },
    /// Respond to the first POST, and to each further one with the same bytes; prints the URL
    HttpBare {
        #[command(flatten)]
        place: HttpOptions,
        #[command(flatten)]
        offer: ToolOfferOptions,
    },
}

#[derive(clap::Args)]
struct HttpOptions {
    /// Port to listen on; 0 for any free port
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Form of the responses to requests
    #[arg(long, value_enum, default_value_t = ResponseForm::Json)]
    answers: ResponseForm,
}

#[derive(clap::Args)]
struct ToolOfferOptions {
    /// Number of tools to offer; the first three are echo, big and progress
    #[arg(long, default_value_t = 3)]
    tools: usize,
    /// Protocol revisions to support
    #[arg(long, value_enum, default_value_t = ProtocolEra::Legacy)]
    era: ProtocolEra,
}

/// Form of the responses to HTTP requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResponseForm {
    /// A single JSON body.
    Json,
    /// An event stream.
    Sse,
}

/// Protocol revisions that the server supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProtocolEra {
    /// 2024-11-05 to 2025-11-25, with `initialize`.
    Legacy,
    /// Revision 2026-07-28, with `server/discover`.
    Modern,
}

fn main() -> io::Result<()> {
    match Arguments::parse().mode {
        ServerTransport::Stdio { offer } => stdio::serve(&mut ServerState::new(offer.tools, offer.era)),
        ServerTransport::Http { place, offer } => {
            http::serve(place.port, place.answers, &ServerState::new(offer.tools, offer.era))
        }
        ServerTransport::Bare { offer } => {
            stdio::serve_repeated_response(&mut ServerState::new(offer.tools, offer.era))
        }
        ServerTransport::HttpBare { place, offer } => {
            http::serve_repeated_response(place.port, place.answers, &ServerState::new(offer.tools, offer.era))
        }
    }
}
