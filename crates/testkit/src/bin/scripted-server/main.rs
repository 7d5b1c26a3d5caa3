//! `scripted-server`: an MCP server over stdio that behaves well, or badly in exactly one named way.
//!
//! ```text
//! scripted-server [--revision R] [--probe error|silence|exit] [--misbehave NAME[@METHOD]]...
//!                 [--reply METHOD=JSON]... [--raw METHOD=LINE]... [--record FILE]
//!                 [--count N] [--bytes N] [--lure URL]
//! scripted-server --list
//! ```
//!
//! A misbehaviour happens instead of the answer to METHOD, each time it is asked; `start` means before
//! anything is read. `--reply` gives the result for a method; given several times, they are used in order
//! and the last one stays. `--raw` writes the line as it is, with `$ID` replaced by the request's id; it may be
//! several lines, and an empty METHOD stands for the client's answers. `@FILE` in the place of either is the text of
//! a file.
//! `--record` appends every line that is read. `--lure` names an address that nobody may fetch, wherever one may stand.

mod floods;
mod lists;
mod messages;
mod misbehaviour;
mod options;
mod ordinary;
mod outward;
mod peer;
mod processes;
mod resources;
mod text;

use std::io::{self, Write};
use std::process::ExitCode;

use misbehaviour::MISBEHAVIOURS;
use options::Options;
use peer::{Peer, Request};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--list"] {
        return match list() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    match Options::parse(&arguments) {
        Ok(options) => match serve(Peer::new(options)) {
            Ok(()) => ExitCode::SUCCESS,
            // The client has gone.
            Err(_) => ExitCode::FAILURE,
        },
        Err(cause) => {
            let _ = writeln!(io::stderr(), "scripted-server: {cause}");
            ExitCode::from(2)
        }
    }
}

fn list() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for misbehaviour in MISBEHAVIOURS {
        writeln!(out, "{:24} @{:12} {}", misbehaviour.name, misbehaviour.on, misbehaviour.about)?;
    }
    Ok(())
}

fn serve(mut peer: Peer) -> io::Result<()> {
    misbehaviour::happens(&mut peer, &Request::start())?;
    while let Some(request) = peer.read()? {
        if !misbehaviour::happens(&mut peer, &request)? && !peer.scripted(&request)? {
            ordinary::answer(&mut peer, &request)?;
        }
        peer.flush()?;
    }
    if peer.never_exits {
        processes::wait_for_ever();
    }
    Ok(())
}
