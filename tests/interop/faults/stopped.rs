//! Tests that a server or call that the user has ended is not restarted. The app recovers from failures only.

use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::view::ServerState;
use serde_json::Map;
use testkit::time::advance_time;

use super::app::ConnectedApp;
use crate::installed;
use crate::matrix::servers::local;
use crate::user::call_id;

const SERVER: &str = "harbour";

#[tokio::test]
async fn call_after_a_stop_is_not_ready() {
    let connected = ConnectedApp::to(SERVER, local(installed::with_node("typescript-v2.mjs").and("stdio"))).await;
    let call = connected.under_way(30).await;
    let app = &connected.app;
    app.host.stop_server(SERVER.into()).await.unwrap();
    connected.ends(call).await.unwrap_or_else(|seen| panic!("a call ends with its server: {seen}"));
    app.until(SERVER, "stopped", |s| s.state == ServerState::Stopped).await;
    advance_time(Duration::from_secs(20)).await;
    assert_eq!(app.server(SERVER).await.state, ServerState::Stopped, "a server that the user stopped is not restarted");
    let called = app.host.call_tool(call_id(), SERVER.into(), "add".into(), Map::new(), None).await;
    assert!(
        matches!(called, Err(CallFailure::NotReady { .. })),
        "a call reports that the server is stopped: {called:?}"
    );
    app.host.close().await;
}
