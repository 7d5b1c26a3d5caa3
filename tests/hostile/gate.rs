//! Tests of the gate (E01): every sent payload was approved and is in the audit log, for random actions in random
//! order.

mod acts;
mod bench;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use acts::{TestDecision, action_strategy};
use bench::{GateTestHarness, prompt_text};
use host::DecisionError;
use host::view::{ConsentRequestBody, ConsentRequestView, UserDecision};
use policy::ApprovalScope;
use ports::AuditEntry;
use ports::server_config::ServerConfig;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::{Value, json};
use testkit::app::scripted_config;
use testkit::model::text_reply;

use crate::report::{AttackMeasurements, AttackResultRow};

pub(crate) const BAD_SERVER_NAME: &str = "bad";
/// Name of the remote server, which requires a sign-in.
const REMOTE_SERVER_NAME: &str = "far";
pub(crate) const ALLOW_ONCE: UserDecision = UserDecision::Allow(ApprovalScope::Once);

/// Returns the configuration of a server that writes all received messages to the file `record`. Four methods each make
/// it send a request of its own to the host: for sampling, a form, a URL, or the roots.
pub(crate) fn requesting_server(record: &Path) -> ServerConfig {
    let request = |id: &str, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": format!("{id}-$ID"), "method": method, "params": params}).to_string()
    };
    let sampling = request(
        "sampling",
        "sampling/createMessage",
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "question $ID"}}], "maxTokens": 50}),
    );
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let form = request("form", "elicitation/create", json!({"message": "Your name?", "requestedSchema": schema}));
    let url = json!({"mode": "url", "elicitationId": "e$ID", "message": "Look", "url": "https://harbour.example/$ID"});
    let url = request("url", "elicitation/create", url);
    let roots = request("roots", "roots/list", json!({}));
    let done = r#"{"jsonrpc":"2.0","id":$ID,"result":{}}"#;
    let greeted = r#"{"jsonrpc":"2.0","id":$ID,"result":{"messages":[]}}"#;
    let raw = [
        format!("resources/subscribe={sampling}\n{done}"),
        format!("resources/unsubscribe={form}\n{done}"),
        format!("logging/setLevel={url}\n{done}"),
        format!("prompts/get={roots}\n{greeted}"),
    ];
    let mut arguments = vec!["--record", record.to_str().unwrap()];
    arguments.extend(raw.iter().flat_map(|raw| ["--raw", raw]));
    scripted_config(&arguments)
}

/// Number below which the number of actions in a random sequence stays.
const ACTIONS_PER_SEQUENCE: usize = 45;
const MAX_ACTION_SEQUENCES: u32 = 24;
/// Time after which the test starts no further random sequence of actions.
const ACTION_SEQUENCES_TIME: Duration = Duration::from_secs(12);
/// Minimum number of random sequences, even if they take longer than [`ACTION_SEQUENCES_TIME`].
const MIN_ACTION_SEQUENCES: u32 = 8;

pub(crate) fn report_withstood(mut row: AttackResultRow, slowest: Duration) {
    row.record_withstood(AttackMeasurements { slowest, memory: 0, exit_time: Duration::ZERO });
}

#[test]
fn e01_every_payload_sent_in_any_order_of_actions_was_approved_and_logged() {
    let row = AttackResultRow::default();
    row.set_name("E01, random sequences of all actions over every kind of consent request");
    let config =
        Config { cases: MAX_ACTION_SEQUENCES, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let (began, begun) = (Instant::now(), std::cell::Cell::new(0));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ran = TestRunner::new_with_rng(config, rng).run(
        &prop::collection::vec(action_strategy(), 1..ACTIONS_PER_SEQUENCE),
        |acts| {
            if began.elapsed() > ACTION_SEQUENCES_TIME && begun.get() >= MIN_ACTION_SEQUENCES {
                return Ok(());
            }
            begun.set(begun.get() + 1);
            let went = std::panic::AssertUnwindSafe(|| {
                runtime.block_on(async {
                    let mut bench = GateTestHarness::new().await;
                    for act in &acts {
                        bench.execute(act).await;
                    }
                    bench.assert_sent_payloads_approved().await;
                    bench.app.host.close().await;
                });
            });
            std::panic::catch_unwind(went).map_err(|cause| {
                let words = cause.downcast_ref::<String>().cloned();
                TestCaseError::fail(words.unwrap_or_else(|| "it failed".to_owned()))
            })
        },
    );
    if let Err(error) = ran {
        panic!("{error}");
    }
    assert!(begun.get() >= MIN_ACTION_SEQUENCES, "E01: enough sequences were executed: {}", begun.get());
    report_withstood(row, began.elapsed());
}

#[tokio::test]
async fn e01_reply_by_hand_does_not_bypass_the_review_of_a_request() {
    let row = AttackResultRow::default();
    row.set_name("E01, answer it yourself, then ask again");
    let mut bench = GateTestHarness::new().await;
    bench.send_request_that_triggers_server_request(0).await;
    let is_sampling = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::Sampling { .. });
    let shown = bench.app.consent_request(BAD_SERVER_NAME, "a model", is_sampling).await;
    bench.app.decide(&shown, UserDecision::ByHand).await;
    let by_hand =
        bench.app.consent_request(BAD_SERVER_NAME, "the answer", |q| is_sampling(q) && q.hash != shown.hash).await;
    let again = bench.app.host.decide(by_hand.id, by_hand.hash.to_string(), UserDecision::Again).await;
    assert!(
        matches!(again, Err(DecisionError::WrongKind(_))),
        "E01: no request was sent that could be repeated: {again:?}"
    );
    assert!(bench.model.requests().is_empty(), "E01: an unreviewed request is not sent to a model");
    let log = bench.read_audit_log();
    let is_about = |e: &&AuditEntry| e.kind.starts_with("sampling");
    assert_eq!(log.iter().filter(is_about).count(), 0, "E01: nothing was sent, so the log is empty: {log:?}");

    // The user can return to the reviewed request and review it again. The log then contains the request twice, and no
    // response for the first review.
    bench.app.decide(&by_hand, UserDecision::Back).await;
    let is_sampling_request =
        |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::Sampling { response: None, .. });
    let request = bench.app.consent_request(BAD_SERVER_NAME, "the request", is_sampling_request).await;
    bench.model.queue_reply(text_reply("First.", (1, 1)));
    bench.app.decide(&request, ALLOW_ONCE).await;
    let is_answer = |q: &ConsentRequestView| matches!(q.body, ConsentRequestBody::Sampling { response: Some(_), .. });
    let first = bench.app.consent_request(BAD_SERVER_NAME, "the first answer", is_answer).await;
    bench.model.queue_reply(text_reply("Second.", (1, 1)));
    bench.app.decide(&first, UserDecision::Again).await;
    let is_second = |q: &ConsentRequestView| is_answer(q) && q.hash != first.hash;
    let second = bench.app.consent_request(BAD_SERVER_NAME, "the second answer", is_second).await;
    let log = bench.read_audit_log();
    let kinds: Vec<&str> = log.iter().filter(is_about).map(|e| e.kind.as_ref()).collect();
    assert_eq!(kinds, ["sampling", "sampling"], "E01: two requests were sent, and no response");
    let texts: BTreeSet<String> =
        log.iter().filter(is_about).map(|e| prompt_text(e.content.as_ref().unwrap())).collect();
    assert_eq!(texts.len(), 1, "E01: the text is the same each time: {texts:?}");

    // Another handwritten response requires another approval.
    bench.app.decide(&second, UserDecision::Back).await;
    let request = bench.app.consent_request(BAD_SERVER_NAME, "the request", is_sampling_request).await;
    bench.edit_consent_request(&request, TestDecision::Edit, "never approved".to_owned()).await;
    let edited = bench.app.consent_request(BAD_SERVER_NAME, "the request", is_sampling_request).await;
    bench.app.decide(&edited, UserDecision::ByHand).await;
    let by_hand = bench.app.consent_request(BAD_SERVER_NAME, "the answer", is_answer).await;
    let again = bench.app.host.decide(by_hand.id, by_hand.hash.to_string(), UserDecision::Again).await;
    assert!(
        matches!(again, Err(DecisionError::WrongKind(_))),
        "E01: the request has changed since it was sent: {again:?}"
    );
    assert_eq!(bench.model.requests().len(), 2, "E01: no other request was sent");
    bench.app.host.close().await;
    report_withstood(row, Duration::ZERO);
}
