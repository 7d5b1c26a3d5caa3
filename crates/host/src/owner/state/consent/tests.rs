//! The queue by itself: bounds, places, and what ends a request.

use domain::question::Why;
use offers::review::Marks;
use policy::{PathFacts, Scope};
use tokio::sync::oneshot;

use super::*;
use crate::connection::RunId;
use crate::view::QuestionView;

fn request(id: u64, server: &str, purpose: RequestPurpose) -> PendingRequest {
    let body = QuestionBody::Url { message: "look".to_owned(), url: "https://a.example".to_owned() };
    let view = QuestionView {
        id: QuestionId(id),
        hash: hash_of(&body, None),
        server: server.to_owned(),
        command_line: String::new(),
        transport: "stdio",
        asked_at: 0,
        why: Why::Server,
        round: None,
        body,
        scopes: &[Scope::Once],
        rule: "",
        marks: Marks::default(),
        call: purpose.shown_call().map(str::to_owned),
    };
    PendingRequest::new(view, purpose, None, PathFacts::Elsewhere)
}

#[test]
fn a_server_has_a_bounded_number_of_requests_of_its_own() {
    let mut queue = ConsentQueue::default();
    for n in 0..MAX_QUESTIONS as u64 {
        assert!(queue.may_ask_more("s"), "there is room for request {n}");
        queue.pending.push(request(n, "s", RequestPurpose::Page));
    }
    assert!(!queue.may_ask_more("s"), "one more is too many");
    assert!(queue.may_ask_more("other"), "which is no matter of another server");
    queue.pending.pop();
    queue.pending.push(request(99, "s", RequestPurpose::Call("1".to_owned())));
    assert!(queue.may_ask_more("s"), "what the user does with a server does not count");
}

#[test]
fn a_refusal_counts_until_something_has_left() {
    let mut pending = request(1, "s", RequestPurpose::Page);
    assert!(pending.can_be_refused(), "nobody has answered it");
    (pending.being_acted_on, pending.being_written) = (true, true);
    assert!(pending.can_be_refused(), "the approval still waits for the log");
    pending.being_written = false;
    assert!(!pending.can_be_refused(), "it is being carried out");
    let mut queue = ConsentQueue { pending: vec![pending], ..ConsentQueue::default() };
    assert_eq!(queue.release(QuestionId(1)), Some(0), "that came to nothing");
    assert!(queue.pending[0].can_be_refused(), "so it waits again");
    assert_eq!(queue.release(QuestionId(2)), None, "one that is gone has no place");
}

#[test]
fn the_end_of_a_run_ends_what_only_that_run_can_use() {
    let ends = |purpose: RequestPurpose| request(1, "s", purpose).ends_with(RunId(1), "s");
    assert!(ends(RequestPurpose::Call("1".to_owned())), "a call for one process must not go to the next");
    assert!(!ends(RequestPurpose::Start), "a start is not of a run");
    assert!(!ends(RequestPurpose::Result("1".to_owned())), "a result is there already");
    assert!(!request(1, "other", RequestPurpose::Page).ends_with(RunId(1), "s"), "a page of another server");
}

#[test]
fn what_is_over_leaves_the_queue_and_the_rest_moves_up() {
    let mut queue = ConsentQueue::default();
    for id in 1..=3 {
        queue.pending.push(request(id, if id == 2 { "other" } else { "s" }, RequestPurpose::Page));
    }
    let ended = queue.take_ended(|pending| pending.view.server == "s");
    let ids: Vec<QuestionId> = ended.iter().map(|pending| pending.view.id).collect();
    assert_eq!(ids, [QuestionId(1), QuestionId(3)], "in their order");
    assert_eq!(queue.position(QuestionId(2)), Some(0), "the one that is left");
    assert_eq!(queue.position(QuestionId(1)), None, "what is over has no place");
}

#[test]
fn the_outcome_of_an_answer_is_told_once_it_is_known() {
    let (mut queue, (reply, mut told)) = (ConsentQueue::default(), oneshot::channel());
    queue.answering.insert(QuestionId(1), reply);
    queue.answered(QuestionId(1), Ok(AnswerProgress::Later));
    assert!(told.try_recv().is_err(), "the log has to have it first");
    queue.answered(QuestionId(1), Err(AnswerError::Audit));
    assert_eq!(told.try_recv(), Ok(Err(AnswerError::Audit)), "then whoever answered hears of it");
}

#[test]
fn another_url_has_another_hash() {
    let shown = request(1, "s", RequestPurpose::Page);
    let QuestionBody::Url { message, .. } = &shown.view.body else { panic!("it is a page") };
    let other = QuestionBody::Url { message: message.clone(), url: "https://b.example".to_owned() };
    assert_eq!(shown.hash(), shown.view.hash, "the same bytes");
    assert_ne!(hash_of(&other, None), shown.view.hash, "an approval of one does not cover the other");
}
