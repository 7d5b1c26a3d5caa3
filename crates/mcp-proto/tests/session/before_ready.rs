//! Tests of calls before the handshake has succeeded, and after it has failed.

use mcp_proto::*;
use serde_json::{Value, json};

use crate::peer::{LONG_DEADLINE, TestSession};

#[test]
fn only_pings_are_sent_before_the_initialize_response() {
    let mut peer = TestSession::new(HandshakeMode::Initialize);
    peer.take_sent_messages();
    let refused = peer.session.call(ClientRequest::ListTools { cursor: None }, LONG_DEADLINE, peer.now);
    assert_eq!(refused, Err(CallError::NotReady), "[lifecycle-no-requests-before-init]");
    let (call, sent) = peer.start_call(ClientRequest::Ping);
    assert_eq!(sent["method"], "ping", "[lifecycle-no-requests-before-init]: a ping must be allowed");
    peer.send_result(&sent["id"], json!({}));
    assert_eq!(peer.take_result(call), Ok(ServerResult::Empty), "ping: the result must arrive");
    peer.session.notify(ClientNotification::RootsListChanged);
    assert_eq!(
        peer.take_sent_messages(),
        Vec::<Value>::new(),
        "[lifecycle-no-requests-before-init]: no notification must be sent"
    );
}

#[test]
fn failed_handshake_ends_pending_calls() {
    let mut peer = TestSession::new(HandshakeMode::Initialize);
    peer.take_sent_messages();
    let call = peer.call(ClientRequest::Ping);
    peer.send_error(&json!(1), -32000, "no");
    let end = peer.take_result(call);
    assert!(matches!(end, Err(CallError::Closed(CloseReason::HandshakeFailed(_)))), "the ping must end: {end:?}");
    let later = peer.session.call(ClientRequest::Ping, LONG_DEADLINE, peer.now);
    assert!(
        matches!(later, Err(CallError::Closed(CloseReason::HandshakeFailed(_)))),
        "later calls must fail: {later:?}"
    );
    assert_eq!(peer.session.poll_timeout(), None, "no timeout must be pending");
}
