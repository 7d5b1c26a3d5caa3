//! Tests of servers that respond to a call with invalid messages over stdio (X37, X38, X40, X42, X52). Each fault
//! affects only its call and its server.

use testkit::app::scripted_config;

use crate::pair::GoodAndBadServers;

/// Expected result of the call of the hostile server's tool.
enum ExpectedCallEnd {
    /// The call returns the correct result.
    Answered,
    /// The call fails with an error that contains one of these texts.
    Fails(&'static [&'static str]),
}
use ExpectedCallEnd::{Answered, Fails};

struct MisbehaviourCase {
    id: &'static str,
    misbehave: &'static str,
    args: &'static [&'static str],
    ends: ExpectedCallEnd,
    /// Texts that the activity log of the hostile server must contain after the call.
    shows: &'static [&'static str],
}

const fn misbehaviour_case(
    id: &'static str,
    misbehave: &'static str,
    args: &'static [&'static str],
    ends: ExpectedCallEnd,
    shows: &'static [&'static str],
) -> MisbehaviourCase {
    MisbehaviourCase { id, misbehave, args, ends, shows }
}

const MISBEHAVIOUR_CASES: &[MisbehaviourCase] = &[
    misbehaviour_case("X37", "blank-lines", &[], Answered, &[]),
    misbehaviour_case("X37", "over-long", &[], Fails(&["a line of more than"]), &[]),
    misbehaviour_case("X37", "over-long-id-last", &[], Fails(&["a line of more than"]), &[]),
    // An array of 7,000,000 numbers has 14 MB.
    misbehaviour_case("X37", "number-array", &[], Fails(&["values"]), &[]),
    misbehaviour_case("X37", "invalid-utf8", &[], Fails(&["UTF-8"]), &["UTF-8"]),
    misbehaviour_case("X37", "nul-bytes", &[], Fails(&["raw control character"]), &[]),
    misbehaviour_case("X37", "bom", &[], Answered, &[]),
    misbehaviour_case("X37", "crlf", &[], Answered, &[]),
    misbehaviour_case("X37", "lone-surrogate", &[], Fails(&["surrogate"]), &[]),
    // The message and its result add two levels, so the depth is 127.
    misbehaviour_case("X38", "deep", &["--count", "125"], Answered, &[]),
    misbehaviour_case("X38", "deep", &["--count", "200"], Fails(&["nests deeper"]), &[]),
    misbehaviour_case("X38", "deep", &["--count", "100000"], Fails(&["nests deeper"]), &[]),
    misbehaviour_case("X38", "duplicate-key", &[], Fails(&["occurs twice"]), &[]),
    misbehaviour_case("X38", "wrong-id", &[], Fails(&["no answer"]), &["never sent"]),
    misbehaviour_case("X38", "wrong-id-first", &[], Answered, &["never sent"]),
    misbehaviour_case("X38", "reused-id", &[], Answered, &["second answer"]),
    misbehaviour_case("X38", "string-id", &[], Fails(&["no answer", "other type", "as a text"]), &["never sent"]),
    misbehaviour_case(
        "X38",
        "float-id",
        &[],
        Fails(&["neither a whole number", "no answer"]),
        &["neither a whole number"],
    ),
    misbehaviour_case("X38", "null-id", &[], Fails(&["no answer"]), &[]),
    misbehaviour_case("X38", "duplicate-answer", &[], Answered, &["second answer"]),
    misbehaviour_case("X38", "both", &[], Fails(&["both"]), &[]),
    misbehaviour_case("X38", "wrong-version", &[], Fails(&["jsonrpc"]), &[]),
    misbehaviour_case("X38", "wrong-shape", &[], Fails(&["content", "fit"]), &[]),
    misbehaviour_case("X38", "error", &[], Fails(&["answered with an error"]), &[]),
    misbehaviour_case("X38", "unknown-notification", &[], Answered, &[]),
    misbehaviour_case("X40", "exit", &[], Fails(&["exit status 3"]), &[]),
    misbehaviour_case("X40", "abort", &[], Fails(&["signal"]), &[]),
    misbehaviour_case("X40", "half-line", &[], Fails(&["ended", "exit", "closed", "broken"]), &[]),
    misbehaviour_case("X40", "close-stdout", &[], Fails(&["closed", "ended"]), &[]),
    misbehaviour_case("X40", "stderr-garbage", &[], Answered, &[]),
    misbehaviour_case("X42", "batch", &[], Fails(&["batch"]), &["batch"]),
    misbehaviour_case("X42", "banner", &[], Answered, &["not a message"]),
    misbehaviour_case("X42", "lsp-header", &[], Answered, &["Content-Length"]),
    misbehaviour_case("X42", "http-text", &[], Fails(&["no answer"]), &["HTTP/1.1"]),
    misbehaviour_case("X52", "drip", &[], Fails(&["no answer"]), &[]),
];

/// Runs the cases with these ids, each in a task of its own, so that the failure of one does not stop the others.
async fn run_misbehaviour_cases(ids: &[&str]) {
    let mut failed = Vec::new();
    for case in MISBEHAVIOUR_CASES.iter().filter(|case| ids.contains(&case.id)) {
        if let Err(error) = tokio::spawn(run_misbehaviour_case(case)).await {
            failed.push(error.to_string());
        }
    }
    assert!(failed.is_empty(), "{} cases failed:\n{}", failed.len(), failed.join("\n"));
}

#[tokio::test]
async fn x37_malformed_bytes_fail_their_call_immediately() {
    run_misbehaviour_cases(&["X37"]).await;
}

#[tokio::test]
async fn x38_unmatched_messages_affect_only_their_call() {
    run_misbehaviour_cases(&["X38"]).await;
}

#[tokio::test]
async fn x40_exited_process_or_closed_output_ends_the_call() {
    run_misbehaviour_cases(&["X40"]).await;
}

#[tokio::test]
async fn x42_x52_foreign_content_is_ignored_and_endless_content_times_out() {
    run_misbehaviour_cases(&["X42", "X52"]).await;
}

async fn run_misbehaviour_case(MisbehaviourCase { id, misbehave, args, ends, shows }: &MisbehaviourCase) {
    let what = format!("{id} over stdio, {misbehave} {}", args.join(" "));
    let server = scripted_config(&[&["--misbehave", misbehave], *args].concat());
    // With a long timeout, the test fails for its actual cause instead of the timeout.
    let pair = if *id == "X37" {
        GoodAndBadServers::start_ready_for_flood(server).await
    } else {
        GoodAndBadServers::ready(server).await
    };
    let call = pair.call_bad_server(&what).await;
    match ends {
        Answered => {
            pair.assert_call_ended(&what, &call, &[]);
            assert!(!call.result_json().contains("not for you"), "{what}: a response with another id is ignored");
        }
        Fails(words) if *id == "X37" => pair.assert_failed_immediately(&what, &call, words),
        Fails(words) => pair.assert_call_ended(&what, &call, words),
    }
    let activity = pair.app.activity("bad").await;
    for word in *shows {
        let beginning: String = activity.chars().take(2_000).collect();
        assert!(activity.contains(word), "{what}: the activity log shows the message ({word}): {beginning}");
    }
    pair.close(&what).await;
}

/// X38: the server responds to each call also with the ids of the previous and the next call. Each call must get only
/// its own response.
#[tokio::test]
async fn x38_response_is_never_delivered_to_another_call() {
    let what = "X38 over stdio, ids of other calls";
    let pair = GoodAndBadServers::ready(scripted_config(&["--misbehave", "next-id", "--misbehave", "reused-id"])).await;
    for _ in 0..3 {
        let call = pair.call_bad_server(what).await;
        pair.assert_call_ended(what, &call, &[]);
        let text = call.result_json();
        assert!(
            text.contains("for you") && !text.contains("not for you"),
            "{what}: each call gets its own response: {text}"
        );
    }
    pair.close(what).await;
}
