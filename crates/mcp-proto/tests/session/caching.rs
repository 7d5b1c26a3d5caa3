//! Tests of caching hints (2026-07-28), which the session reports with an upper bound.

use std::time::Duration;

use mcp_proto::*;
use serde_json::{Map, Value, json};

use crate::peer::{TestSession, form_elicitation_params, tool_call};

fn results_with_empty_lists() -> Value {
    json!({ "tools": [], "prompts": [], "resources": [], "resourceTemplates": [], "contents": [] })
}

fn cacheable_requests() -> Vec<ClientRequest> {
    vec![
        ClientRequest::ListTools { cursor: None },
        ClientRequest::ListPrompts { cursor: Some("2".into()) },
        ClientRequest::ListResources { cursor: None },
        ClientRequest::ListResourceTemplates { cursor: None },
        ClientRequest::ReadResource { uri: "a:b".into() },
    ]
}

fn cache_hint(result: Result<ServerResult, CallError>) -> Option<CacheHint> {
    match result.expect("the result must be valid") {
        ServerResult::Tools { cache, .. }
        | ServerResult::Prompts { cache, .. }
        | ServerResult::Resources { cache, .. }
        | ServerResult::Templates { cache, .. }
        | ServerResult::Contents { cache, .. } => cache,
        other => panic!("{other:?} has no caching hint"),
    }
}

#[test]
fn cache_hints_of_lists_and_contents_are_reported() {
    let day = Duration::from_secs(24 * 60 * 60);
    for request in cacheable_requests() {
        for (proves, ttl, expected) in [
            ("[cache-ttl-positive]", json!(1500), Duration::from_millis(1500)),
            ("[cache-ttl-zero]", json!(0), Duration::ZERO),
            ("[cache-ttl-absent]", Value::Null, Duration::ZERO),
            ("[cache-ttl-negative]", json!(-1), Duration::ZERO),
            ("[cache-ttl-negative]: not a number", json!("1000"), Duration::ZERO),
            ("[cache-ttl-positive]: at most one day", json!(u64::MAX), day),
        ] {
            for (scope, expected_scope) in [
                (json!("public"), CacheScope::Public),
                (json!("private"), CacheScope::Private),
                (Value::Null, CacheScope::Private),
                (json!("everybody"), CacheScope::Private),
                (json!(5), CacheScope::Private),
            ] {
                let mut peer = TestSession::ready(Revision::V2026_07_28);
                let (call, sent) = peer.start_call(request.clone());
                let mut result = results_with_empty_lists();
                result["resultType"] = json!("complete");
                for (key, value) in [("ttlMs", &ttl), ("cacheScope", &scope)] {
                    if !value.is_null() {
                        result[key] = value.clone();
                    }
                }
                peer.send_result(&sent["id"], result);
                let expected = CacheHint { ttl: expected, scope: expected_scope };
                assert_eq!(
                    cache_hint(peer.take_result(call)),
                    Some(expected),
                    "{proves}, [cache-private]: {ttl} for {scope}"
                );
                peer.advance_time(Duration::from_secs(100));
                assert_eq!(
                    peer.take_sent_messages(),
                    Vec::<Value>::new(),
                    "[cache-no-poll]: no request must be sent on expiry"
                );
            }
        }
    }
}

#[test]
fn cache_hints_are_ignored_by_older_revisions() {
    for request in cacheable_requests() {
        let mut peer = TestSession::ready(Revision::V2025_11_25);
        let (call, sent) = peer.start_call(request);
        let mut result = results_with_empty_lists();
        result["ttlMs"] = json!(1000);
        peer.send_result(&sent["id"], result);
        assert_eq!(cache_hint(peer.take_result(call)), None, "[lifecycle-respect-version]");
    }
}

#[test]
fn results_based_on_user_input_have_no_cache_hint() {
    let mut peer = TestSession::ready(Revision::V2026_07_28);
    let (call, sent) = peer.start_call(ClientRequest::ReadResource { uri: "a:b".into() });
    let input_request = json!({ "when": { "method": "elicitation/create", "params": form_elicitation_params() } });
    let ask = json!({ "resultType": "input_required", "inputRequests": input_request, "ttlMs": 1000, "cacheScope": "public" });
    peer.send_result(&sent["id"], ask);
    let (server_request, ..) = peer.take_server_request();
    assert_eq!(peer.take_events(), vec![], "[cache-no-input-required]: an input_required result must not end the call");
    peer.session.answer(server_request, crate::peer::accepted_form_response(), peer.now).unwrap();
    let sent = peer.take_sent_message();
    peer.send_result(&sent["id"], json!({ "contents": [], "ttlMs": 1000, "cacheScope": "public" }));
    assert_eq!(cache_hint(peer.take_result(call)), None, "[cache-no-mrtr]");

    let mut peer = TestSession::ready(Revision::V2026_07_28);
    let (call, sent) = peer.start_call(ClientRequest::GetPrompt { name: "p".into(), arguments: Map::new() });
    peer.send_result(&sent["id"], json!({ "messages": [], "ttlMs": 1000 }));
    assert!(
        matches!(peer.take_result(call), Ok(ServerResult::Prompt(_))),
        "[cache-methods]: prompts must have no hint"
    );
    let (call, sent) = peer.start_call(tool_call());
    peer.send_result(&sent["id"], json!({ "content": [], "ttlMs": 1000 }));
    assert!(
        matches!(peer.take_result(call), Ok(ServerResult::Tool(_))),
        "[cache-methods]: tool results must have no hint"
    );
}
