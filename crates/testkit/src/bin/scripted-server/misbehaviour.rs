//! Table of all misbehaviors, by name.

use std::io;

use crate::peer::{PeerRequest, ScriptedPeer};
use crate::{floods, lists, messages, outward, processes, resources, text};

pub(crate) struct Misbehaviour {
    pub(crate) name: &'static str,
    /// Method whose response the misbehavior replaces, unless the command line selects another method.
    pub(crate) on: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&mut ScriptedPeer, &PeerRequest) -> io::Result<()>,
}

/// Runs the misbehaviors that the command line selects for the method of `request`. Returns `true` if there is at least
/// one.
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

const TOOL_CALL_METHOD: &str = "tools/call";
const TOOL_LIST_METHOD: &str = "tools/list";
const START_EVENT: &str = "start";

macro_rules! table {
    ($($name:literal on $on:ident: $about:literal => $run:path;)*) => {
        &[$(Misbehaviour { name: $name, on: $on, about: $about, run: $run }),*]
    };
}

pub(crate) const MISBEHAVIOURS: &[Misbehaviour] = table! {
    "banner" on START_EVENT: "prints three lines that are no JSON" => text::print_banner;
    "blank-lines" on TOOL_CALL_METHOD: "prints empty lines, then answers" => text::print_blank_lines;
    "over-long" on TOOL_CALL_METHOD: "answers with a line of --bytes (16 MiB + 1), the id first" => text::respond_with_overlong_line;
    "over-long-id-last" on TOOL_CALL_METHOD: "the same with the id at the end" => text::respond_with_overlong_line_id_last;
    "no-newline" on TOOL_CALL_METHOD: "writes --bytes (1 GB) of an answer without a newline, then waits" => text::respond_without_newline;
    "invalid-utf8" on TOOL_CALL_METHOD: "answers with bytes that are no UTF-8" => text::respond_with_invalid_utf8;
    "nul-bytes" on TOOL_CALL_METHOD: "answers with NUL inside a string" => text::respond_with_nul_bytes;
    "bom" on TOOL_CALL_METHOD: "answers after a byte order mark" => text::respond_after_byte_order_mark;
    "crlf" on TOOL_CALL_METHOD: "answers with CR LF at the line's end" => text::respond_with_crlf;
    "lone-surrogate" on TOOL_CALL_METHOD: "answers with half of a surrogate pair" => text::respond_with_lone_surrogate;
    "number-array" on TOOL_CALL_METHOD: "answers with an array of --count (7,000,000) numbers" => text::respond_with_long_number_array;
    "deep" on TOOL_CALL_METHOD: "answers with --count (200) nested arrays" => text::respond_with_deep_nesting;
    "drip" on TOOL_CALL_METHOD: "answers one byte a second" => text::respond_byte_by_byte;
    "half-line" on TOOL_CALL_METHOD: "writes half an answer and exits" => text::respond_with_half_line_and_exit;
    "lsp-header" on TOOL_CALL_METHOD: "writes Content-Length headers before the answer" => text::respond_with_lsp_header;
    "http-text" on TOOL_CALL_METHOD: "answers as an HTTP server would" => text::respond_as_http_server;
    "escapes" on TOOL_CALL_METHOD: "answers and logs with terminal escapes" => text::respond_with_terminal_escapes;

    "silent" on TOOL_CALL_METHOD: "does not answer" => messages::never_respond;
    "wrong-id" on TOOL_CALL_METHOD: "answers with an id that was never used" => messages::respond_with_unused_id;
    "wrong-id-first" on TOOL_CALL_METHOD: "the same, then answers properly" => messages::respond_with_unused_id_first;
    "reused-id" on TOOL_CALL_METHOD: "answers with the id of the call before, then properly" => messages::respond_with_previous_id_first;
    "next-id" on TOOL_CALL_METHOD: "answers with the id that comes next" => messages::respond_with_next_id;
    "string-id" on TOOL_CALL_METHOD: "answers with the id as a string" => messages::respond_with_id_of_other_type;
    "float-id" on TOOL_CALL_METHOD: "answers with the id as 1.0" => messages::respond_with_float_id;
    "null-id" on TOOL_CALL_METHOD: "answers with the id null" => messages::respond_with_null_id;
    "duplicate-answer" on TOOL_CALL_METHOD: "answers twice" => messages::respond_twice;
    "duplicate-key" on TOOL_CALL_METHOD: "answers with two ids in one object" => messages::respond_with_two_ids;
    "wrong-shape" on TOOL_CALL_METHOD: "answers with a result of the wrong shape" => messages::respond_with_wrong_result_type;
    "error" on TOOL_CALL_METHOD: "answers with a JSON-RPC error" => messages::respond_with_error;
    "both" on TOOL_CALL_METHOD: "answers with both a result and an error" => messages::respond_with_result_and_error;
    "wrong-version" on TOOL_CALL_METHOD: "answers with jsonrpc 1.0" => messages::respond_with_wrong_jsonrpc_version;
    "batch" on TOOL_CALL_METHOD: "answers inside an array" => messages::respond_in_batch;
    "unknown-notification" on TOOL_CALL_METHOD: "notifies of something unknown, then answers" => messages::send_unknown_notification_first;

    "endless-cursor" on TOOL_LIST_METHOD: "always gives the same nextCursor" => lists::repeat_one_cursor_endlessly;
    "endless-new-cursor" on TOOL_LIST_METHOD: "always gives a new nextCursor" => lists::return_new_cursors_endlessly;
    "many-tools" on TOOL_LIST_METHOD: "lists --count (20,000) tools" => lists::list_many_tools;

    "stale-cursor" on TOOL_LIST_METHOD: "no longer takes the first cursor that it gave" => lists::reject_first_cursor;

    "flood-log" on TOOL_CALL_METHOD: "sends --count (200,000) log messages, then answers" => floods::send_many_log_messages;
    "flood-progress" on TOOL_CALL_METHOD: "sends --count (200,000) progress notifications, then answers" => floods::send_many_progress_notifications;
    "flood-list-changed" on TOOL_CALL_METHOD: "sends --count (200,000) list_changed, then answers" => floods::send_many_list_changes;
    "flood-garbage" on TOOL_CALL_METHOD: "prints --count (200,000) lines that are no JSON, then answers" => floods::print_many_invalid_lines;
    "flood-malformed" on TOOL_CALL_METHOD: "sends --count (20,000) requests of a wrong shape, then reads no more" => floods::send_many_malformed_requests;
    "flood-unknown-answers" on TOOL_CALL_METHOD: "answers --count (200,000) requests that were never sent" => floods::send_many_unknown_responses;
    "flood-elicitation" on TOOL_CALL_METHOD: "asks --count (500) forms, then answers" => floods::send_many_elicitation_requests;
    "flood-sampling" on TOOL_CALL_METHOD: "asks --count (50,000) times for sampling, then answers" => floods::send_many_sampling_requests;
    "flood-ping" on TOOL_CALL_METHOD: "pings --count (20,000) times, then reads no more" => floods::send_many_pings;
    "flood-stderr" on TOOL_CALL_METHOD: "prints --bytes (1 GB) without a newline on stderr, then answers" => floods::flood_stderr_without_newline;
    "flood-stderr-lines" on TOOL_CALL_METHOD: "prints --count (200,000) lines on stderr, then answers" => floods::flood_stderr_with_lines;
    "stderr-garbage" on TOOL_CALL_METHOD: "prints invalid UTF-8 and escapes on stderr, then answers" => floods::print_invalid_text_on_stderr;

    "exit" on TOOL_CALL_METHOD: "explains itself on stderr and exits with status 3" => processes::exit_with_error_text;
    "abort" on TOOL_CALL_METHOD: "ends by a signal" => processes::abort;
    "never-exits" on START_EVENT: "ignores SIGTERM and the end of its input" => processes::ignore_termination;
    "never-reads" on TOOL_CALL_METHOD: "reads no more" => processes::stop_reading;
    "close-stdout" on TOOL_CALL_METHOD: "closes its output and lives on" => processes::close_stdout;
    "close-stdin" on TOOL_CALL_METHOD: "closes its input and lives on" => processes::close_stdin;
    "grandchild" on TOOL_CALL_METHOD: "starts a process that ignores signals, and answers its pid" => processes::leave_child_process_running;
    "grandchild-exit" on TOOL_CALL_METHOD: "starts a process that ignores signals, prints its pid on stderr, and exits" => processes::leave_child_process_and_exit;

    "forks" on TOOL_CALL_METHOD: "starts processes without end" => resources::fork_forever;
    "takes-memory" on TOOL_CALL_METHOD: "takes memory without end" => resources::allocate_forever;
    "fills-home" on TOOL_CALL_METHOD: "writes into its home without end" => resources::write_until_home_is_full;
    "spins" on TOOL_CALL_METHOD: "keeps four processors busy" => resources::use_processor_forever;
    "tries-the-kernel" on TOOL_CALL_METHOD: "makes namespaces, mounts and the like, and answers what worked" => resources::try_privileged_programs;
    "reaches-out" on TOOL_CALL_METHOD: "connects to the hosts in REACH_HOSTS, through its proxy and past it, and answers what worked" => outward::connect_to_hosts;
};
