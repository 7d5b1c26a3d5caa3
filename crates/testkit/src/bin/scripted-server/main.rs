//! `scripted-server`: an MCP server over stdio that is correct, or misbehaves in exactly one named way.
//!
//! ```text
//! scripted-server [--revision R] [--probe error|silence|exit] [--misbehave NAME[@METHOD]]...
//!                 [--reply METHOD=JSON]... [--raw METHOD=LINE]... [--record FILE]
//!                 [--count N] [--bytes N] [--forbidden-url URL]
//! scripted-server --list
//! ```
//!
//! A misbehaviour replaces the response to METHOD each time it is requested; `start` means before anything is read.
//! `--reply` sets the result of a method; several of them are used in order, and the last one is repeated. `--raw`
//! writes the line unchanged except that `$ID` is replaced by the id of the request; the text may have several lines,
//! and an empty METHOD stands for the client's responses. `@FILE` instead of either text reads it from a file.
//! `--record` appends every line that is read to a file. `--forbidden-url` sets an address that no client may fetch,
//! which the server names in every place where a URL is allowed.

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
use options::ScriptedServerOptions;
use peer::{PeerRequest, ScriptedPeer};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--list"] {
        return match print_misbehaviour_names() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    match ScriptedServerOptions::parse(&arguments) {
        Ok(options) => match serve(ScriptedPeer::new(options)) {
            Ok(()) => ExitCode::SUCCESS,
            // The client has closed its end of the pipe.
            Err(_) => ExitCode::FAILURE,
        },
        Err(cause) => {
            let _ = writeln!(io::stderr(), "scripted-server: {cause}");
            ExitCode::from(2)
        }
    }
}

fn print_misbehaviour_names() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for misbehaviour in MISBEHAVIOURS {
        writeln!(out, "{:24} @{:12} {}", misbehaviour.name, misbehaviour.on, misbehaviour.about)?;
    }
    Ok(())
}

fn serve(mut peer: ScriptedPeer) -> io::Result<()> {
    misbehaviour::run_misbehaviours(&mut peer, &PeerRequest::start_event())?;
    while let Some(request) = peer.read()? {
        if !misbehaviour::run_misbehaviours(&mut peer, &request)? && !peer.send_scripted_reply(&request)? {
            ordinary::respond(&mut peer, &request)?;
        }
        peer.flush()?;
    }
    if peer.never_exits {
        processes::wait_for_ever();
    }
    Ok(())
}
