//! Tests that a consent request that remains pending after its call ended still belongs to the call's conversation.

use std::sync::atomic::Ordering;

use domain::call::CallFailure;
use mcp_proto::session::CallError;
use mcp_proto::types::{CallToolResult, ElicitParams};
use policy::{PolicyRule, RuleDirection, RuleScope};
use serde_json::{Map, json};
use tokio::sync::oneshot;

use super::world::{CallerFuture, GRANTED_TOOL, HostFixture, SERVER, poll_once};
use crate::connection::{CallTicket, ConnectionCommand, ConnectionEvent};
use crate::owner::CallOrigin;
use crate::view::UserDecision;

/// Identifier of each call in this test.
const CALL_ID: &str = "1";

/// Returns the future of a call in a conversation, after the call was sent, and the ticket of the call.
async fn begin_call(
    world: &mut HostFixture,
    conversation: &str,
) -> (CallerFuture<Result<CallToolResult, CallFailure>>, CallTicket) {
    let (host, origin) = (world.host.clone(), CallOrigin::User { conversation: Some(conversation.to_owned()) });
    let (sent, _) = oneshot::channel();
    let (id, server, tool) = (CALL_ID.to_owned(), SERVER.to_owned(), GRANTED_TOOL.to_owned());
    let mut call: CallerFuture<Result<CallToolResult, CallFailure>> =
        Box::pin(async move { host.call_tool_as(origin, id, server, tool, Map::new(), sent).await });
    assert!(poll_once(&mut call).await.is_none(), "the call is in progress");
    let command = world.commands.recv().await.expect("the call is sent");
    let ConnectionCommand::Call { ticket, .. } = *command else { panic!("{command:?} is not a call") };
    (call, ticket)
}

#[tokio::test]
async fn url_required_by_an_ended_call_is_decided_and_recorded_in_the_conversation_of_the_call() {
    let mut world = HostFixture::new().await;
    world.log.delays.store(false, Ordering::SeqCst);
    let (call, ticket) = begin_call(&mut world, "c1").await;
    let pages = ["https://example.org/sign-in", "https://example.org/terms"].map(|url| ElicitParams::Url {
        message: "Visit this page first.".to_owned(),
        url: url.to_owned(),
        elicitation_id: None,
        extra: Map::new(),
    });
    let result = Box::new(Err(CallError::UrlRequired(pages.into())));
    world.report(ConnectionEvent::Done { ticket, result }).await;
    assert!(call.await.is_err(), "the call has ended");
    let request = world.requests().await.remove(0);
    // Identifiers of ended calls can be used again.
    let (later, ticket) = begin_call(&mut world, "c2").await;
    for (conversation, is_outside) in [(Some("c1"), false), (Some("c2"), true), (None, true)] {
        let own = conversation.map(str::to_owned);
        let outside = world.host.is_request_outside_conversation(request.id, own).await.unwrap();
        assert_eq!(outside, is_outside, "the request should belong to the ended call: {conversation:?}");
    }
    world.decide(&request, UserDecision::Deny).await.unwrap();
    let mut rule: PolicyRule = serde_json::from_value(json!({ "server": SERVER, "effect": "deny" })).unwrap();
    (rule.scope, rule.direction) = (RuleScope::Session, RuleDirection::FromServer);
    assert!(world.host.set_rule(rule).await.is_ok(), "the rule is accepted");
    assert!(world.requests().await.is_empty(), "the rule denies the other URL");
    let entries = world.log.written_entries();
    let denied = entries.iter().filter(|entry| entry.kind == "url");
    let recorded: Vec<_> = denied.map(|entry| (&*entry.by, &*entry.asker, entry.conversation.as_deref())).collect();
    let expected = [("user", "server", Some("c1")), ("policy", "server", Some("c1"))];
    assert_eq!(recorded, expected, "both entries should name the asker and the conversation");
    world.respond_to_call(ticket).await;
    assert!(later.await.is_ok(), "the later call ends with a result");
    world.close().await;
}
