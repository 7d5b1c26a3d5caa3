//! Table of all misbehaviors, by name.

use std::io;

use crate::peer::{PeerRequest, ScriptedPeer};
use crate::{floods, lists, messages, outward, processes, resources, text};

pub(crate) struct Misbehaviour {
    pub(crate) name: &'static str,
    /// Method whose response the misbehavior replaces, unless the command line contains another method.
    pub(crate) on: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&mut ScriptedPeer, &PeerRequest) -> io::Result<()>,
}

/// Runs the misbehaviors that the command line selects for this method. Returns `true` if there is at least one.
pub(crate) fn run_misbehaviours(peer: &mut ScriptedPeer, request: &PeerRequest) -> io::Result<bool> {
    let runs: Vec<_> = peer
        .options
        .rules
        .iter()
        .filter(|rule| rule.method == request.method)
        .map(|rule| rule.misbehaviour.run)
        .collect();
    for run in &runs {
        run(peer, request)?;
        peer.flush()?;
    }
    Ok(!runs.is_empty())
}

const CALL_METHOD: &str = "tools/call";
const LIST_METHOD: &str = "tools/list";
const START_EVENT: &str = "start";

macro_rules! table {
    ($($name:literal on $on:ident: $about:literal => $run:path;)*) => {
        &[$(Misbehaviour { name: $name, on: $on, about: $about, run: $run }),*]
    };
}

pub(crate) const MISBEHAVIOURS: &[Misbehaviour] = table! {
    "banner" on START_EVENT: "prints three lines that are no JSON" => text::banner;
    "blank-lines" on CALL_METHOD: "prints empty lines, then answers" => text::blank_lines;
    "over-long" on CALL_METHOD: "answers with a line of --bytes (16 MiB + 1), the id first" => text::overlong_line;
    "over-long-id-last" on CALL_METHOD: "the same with the id at the end" => text::overlong_line_id_last;
    "no-newline" on CALL_METHOD: "writes --bytes (1 GB) of an answer without a newline, then waits" => text::respond_without_newline;
    "invalid-utf8" on CALL_METHOD: "answers with bytes that are no UTF-8" => text::invalid_utf8;
    "nul-bytes" on CALL_METHOD: "answers with NUL inside a string" => text::nul_bytes;
    "bom" on CALL_METHOD: "answers after a byte order mark" => text::bom;
    "crlf" on CALL_METHOD: "answers with CR LF at the line's end" => text::crlf;
    "lone-surrogate" on CALL_METHOD: "answers with half of a surrogate pair" => text::lone_surrogate;
    "number-array" on CALL_METHOD: "answers with an array of --count (7,000,000) numbers" => text::number_array;
    "deep" on CALL_METHOD: "answers with --count (200) nested arrays" => text::deeply_nested;
    "drip" on CALL_METHOD: "answers one byte a second" => text::send_byte_by_byte;
    "half-line" on CALL_METHOD: "writes half an answer and exits" => text::half_line;
    "lsp-header" on CALL_METHOD: "writes Content-Length headers before the answer" => text::lsp_header;
    "http-text" on CALL_METHOD: "answers as an HTTP server would" => text::http_text;
    "escapes" on CALL_METHOD: "answers and logs with terminal escapes" => text::escapes;

    "silent" on CALL_METHOD: "does not answer" => messages::silent;
    "wrong-id" on CALL_METHOD: "answers with an id that was never used" => messages::wrong_id;
    "wrong-id-first" on CALL_METHOD: "the same, then answers properly" => messages::wrong_id_first;
    "reused-id" on CALL_METHOD: "answers with the id of the call before, then properly" => messages::reused_id;
    "next-id" on CALL_METHOD: "answers with the id that comes next" => messages::next_id;
    "string-id" on CALL_METHOD: "answers with the id as a string" => messages::string_id;
    "float-id" on CALL_METHOD: "answers with the id as 1.0" => messages::float_id;
    "null-id" on CALL_METHOD: "answers with the id null" => messages::null_id;
    "duplicate-answer" on CALL_METHOD: "answers twice" => messages::duplicate_answer;
    "duplicate-key" on CALL_METHOD: "answers with two ids in one object" => messages::duplicate_key;
    "wrong-shape" on CALL_METHOD: "answers with a result of the wrong shape" => messages::wrong_shape;
    "error" on CALL_METHOD: "answers with a JSON-RPC error" => messages::error_response;
    "both" on CALL_METHOD: "answers with both a result and an error" => messages::result_and_error;
    "wrong-version" on CALL_METHOD: "answers with jsonrpc 1.0" => messages::wrong_version;
    "batch" on CALL_METHOD: "answers inside an array" => messages::batch;
    "unknown-notification" on CALL_METHOD: "notifies of something unknown, then answers" => messages::unknown_notification;

    "endless-cursor" on LIST_METHOD: "always gives the same nextCursor" => lists::endless_cursor;
    "endless-new-cursor" on LIST_METHOD: "always gives a new nextCursor" => lists::endless_new_cursor;
    "many-tools" on LIST_METHOD: "lists --count (20,000) tools" => lists::many_tools;

    "stale-cursor" on LIST_METHOD: "no longer takes the first cursor that it gave" => lists::stale_cursor;

    "flood-log" on CALL_METHOD: "sends --count (200,000) log messages, then answers" => floods::log;
    "flood-progress" on CALL_METHOD: "sends --count (200,000) progress notifications, then answers" => floods::progress;
    "flood-list-changed" on CALL_METHOD: "sends --count (200,000) list_changed, then answers" => floods::list_changed;
    "flood-garbage" on CALL_METHOD: "prints --count (200,000) lines that are no JSON, then answers" => floods::garbage;
    "flood-malformed" on CALL_METHOD: "sends --count (20,000) requests of a wrong shape, then reads no more" => floods::malformed;
    "flood-unknown-answers" on CALL_METHOD: "answers --count (200,000) requests that were never sent" => floods::unknown_answers;
    "flood-elicitation" on CALL_METHOD: "asks --count (500) forms, then answers" => floods::elicitation;
    "flood-sampling" on CALL_METHOD: "asks --count (50,000) times for sampling, then answers" => floods::sampling;
    "flood-ping" on CALL_METHOD: "pings --count (20,000) times, then reads no more" => floods::ping;
    "flood-stderr" on CALL_METHOD: "prints --bytes (1 GB) without a newline on stderr, then answers" => floods::stderr;
    "flood-stderr-lines" on CALL_METHOD: "prints --count (200,000) lines on stderr, then answers" => floods::stderr_lines;
    "stderr-garbage" on CALL_METHOD: "prints invalid UTF-8 and escapes on stderr, then answers" => floods::stderr_garbage;

    "exit" on CALL_METHOD: "explains itself on stderr and exits with status 3" => processes::exit;
    "abort" on CALL_METHOD: "ends by a signal" => processes::abort;
    "never-exits" on START_EVENT: "ignores SIGTERM and the end of its input" => processes::never_exits;
    "never-reads" on CALL_METHOD: "reads no more" => processes::never_reads;
    "close-stdout" on CALL_METHOD: "closes its output and lives on" => processes::close_stdout;
    "close-stdin" on CALL_METHOD: "closes its input and lives on" => processes::close_stdin;
    "grandchild" on CALL_METHOD: "starts a process that ignores signals, and answers its pid" => processes::grandchild;
    "grandchild-exit" on CALL_METHOD: "starts a process that ignores signals, prints its pid on stderr, and exits" => processes::grandchild_exit;

    "forks" on CALL_METHOD: "starts processes without end" => resources::fork_forever;
    "takes-memory" on CALL_METHOD: "takes memory without end" => resources::allocate_forever;
    "fills-home" on CALL_METHOD: "writes into its home without end" => resources::fill_home;
    "spins" on CALL_METHOD: "keeps four processors busy" => resources::spin_forever;
    "tries-the-kernel" on CALL_METHOD: "makes namespaces, mounts and the like, and answers what worked" => resources::try_privileged_programs;
    "reaches-out" on CALL_METHOD: "connects to the hosts in REACH_HOSTS, through its proxy and past it, and answers what worked" => outward::connect_to_hosts;
};
