//! Tests the consent queue: its bounds and indexes, and the removal of requests.

use domain::consent_request::ConsentRequestOrigin;
use offers::review::ReviewFindings;
use policy::{ApprovalScope, ResolvedPaths};
use tokio::sync::oneshot;

use super::*;
use crate::view::ConsentRequestView;
use crate::{Requester, RunId};

fn request(id: u64, server: &str, purpose: RequestPurpose) -> PendingRequest {
    let body = ConsentRequestBody::Url { message: "look".to_owned(), url: "https://a.example".to_owned() };
    let view = ConsentRequestView {
        id: ConsentRequestId(id),
        hash: consent_payload_hash(server, &body, None),
        server: server.to_owned(),
        command_line: String::new(),
        transport: "stdio",
        asked_at: 0,
        origin: ConsentRequestOrigin::Server,
        round: None,
        body,
        scopes: &[ApprovalScope::Once],
        reason: "",
        stricter_reason: None,
        marks: ReviewFindings::default(),
        call: purpose.call_shown_with_request().map(str::to_owned),
    };
    PendingRequest::new(view, purpose, None, ResolvedPaths::Elsewhere)
}

#[test]
fn requests_initiated_by_a_server_are_bounded() {
    let mut queue = ConsentQueue::default();
    for n in 0..DEFAULT_MAX_CONSENT_REQUESTS as u64 {
        assert!(queue.has_capacity_for("s"), "there is room for request {n}");
        queue.pending.push(request(n, "s", RequestPurpose::Page));
    }
    assert!(!queue.has_capacity_for("s"), "the number of requests is limited");
    assert!(queue.has_capacity_for("other"), "the limit is per server");
    queue.pending.pop();
    queue.pending.push(request(99, "s", RequestPurpose::Call("1".to_owned())));
    assert!(queue.has_capacity_for("s"), "requests initiated by the user don't count");
}

#[test]
fn request_can_be_denied_until_its_execution_begins() {
    let mut pending = request(1, "s", RequestPurpose::Page);
    assert!(pending.can_be_denied(), "a request without a decision can be denied");
    (pending.being_acted_on, pending.being_written) = (true, true);
    assert!(pending.can_be_denied(), "a denial is accepted until the audit entry is written");
    pending.being_written = false;
    assert!(!pending.can_be_denied(), "an approval in execution can't be denied");
    let mut queue = ConsentQueue { pending: vec![pending], ..ConsentQueue::default() };
    assert_eq!(queue.finish_execution(ConsentRequestId(1)), Some(0), "a failed execution keeps its index");
    assert!(queue.pending[0].can_be_denied(), "a failed execution can be denied");
    assert_eq!(queue.finish_execution(ConsentRequestId(2)), None, "a removed request has no index");
}

#[test]
fn consent_requests_bound_to_a_server_run_end_with_it() {
    let ends = |purpose: RequestPurpose| request(1, "s", purpose).must_end_with_run(RunId(1), "s");
    assert!(ends(RequestPurpose::Call("1".to_owned())), "a call for one process must not apply to the next");
    let of_app = |run| RequestPurpose::Request { requester: Requester::App { run, number: 1 }, call: None };
    assert!(ends(of_app(RunId(1))), "an app's request ends with the run of its server");
    assert!(!ends(of_app(RunId(2))), "an app's request of another run stays");
    assert!(!ends(RequestPurpose::Start), "a start doesn't belong to a run");
    assert!(!ends(RequestPurpose::Result("1".to_owned())), "a result was already returned");
    assert!(
        !request(1, "other", RequestPurpose::Page).must_end_with_run(RunId(1), "s"),
        "a page of another server stays"
    );
}

#[test]
fn ended_consent_requests_are_removed_from_the_queue() {
    let mut queue = ConsentQueue::default();
    for id in 1..=3 {
        queue.pending.push(request(id, if id == 2 { "other" } else { "s" }, RequestPurpose::Page));
    }
    let ended = queue.remove_ended(|pending| pending.view.server == "s");
    let ids: Vec<ConsentRequestId> = ended.iter().map(|pending| pending.view.id).collect();
    assert_eq!(ids, [ConsentRequestId(1), ConsentRequestId(3)], "the ended requests are in order");
    assert_eq!(queue.position_of(ConsentRequestId(2)), Some(0), "the remaining request moves to the front");
    assert_eq!(queue.position_of(ConsentRequestId(1)), None, "an ended request has no index");
}

#[test]
fn outcome_of_a_decision_is_reported_once_known() {
    let (mut queue, (reply, mut outcome)) = (ConsentQueue::default(), oneshot::channel());
    queue.answering.insert(ConsentRequestId(1), reply);
    queue.report_decision(ConsentRequestId(1), Ok(DecisionProgress::Later));
    assert!(outcome.try_recv().is_err(), "the outcome waits for the audit log");
    queue.report_decision(ConsentRequestId(1), Err(DecisionError::Audit));
    assert_eq!(outcome.try_recv(), Ok(Err(DecisionError::Audit)), "the receiver gets the outcome");
}

#[test]
fn consent_hash_depends_on_the_url() {
    let shown = request(1, "s", RequestPurpose::Page);
    let ConsentRequestBody::Url { message, .. } = &shown.view.body else { panic!("the request is not a URL") };
    let other = ConsentRequestBody::Url { message: message.clone(), url: "https://b.example".to_owned() };
    assert_eq!(shown.hash(), shown.view.hash, "equal payloads have equal hashes");
    assert_ne!(consent_payload_hash("s", &other, None), shown.view.hash, "another URL has a different hash");
}

#[test]
fn hash_of_a_request_for_folders_depends_on_the_server() {
    let hash = |server| consent_payload_hash(server, &ConsentRequestBody::Roots, None);
    assert_eq!(hash("a"), hash("a"), "the hash of one server stays the same");
    assert_ne!(hash("a"), hash("b"), "the hash should find the entries of one server only");
}
