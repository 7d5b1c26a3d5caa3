//! Tests that a server or call that the user has ended is not restarted. The app recovers from failures only.

use std::time::Duration;
use testkit::calls::UserCalls as _;

use domain::call::CallFailure;
use host::view::ServerState;
use serde_json::Map;
use testkit::time::advance_time;

use super::connected_host::ConnectedHost;
use crate::installed;
use crate::matrix::servers::local_config;
use crate::user::next_call_id;

const DEMO_SERVER_NAME: &str = "harbour";

#[tokio::test]
async fn call_after_a_stop_fails_with_not_ready() {
    let connected = ConnectedHost::connect(
        DEMO_SERVER_NAME,
        local_config(installed::node_server_command("typescript-v2.mjs").with_argument("stdio")),
    )
    .await;
    let call = connected.start_call(30).await;
    let app = &connected.app;
    app.host.stop_server(DEMO_SERVER_NAME.into()).await.unwrap();
    connected
        .expect_call_failure(call)
        .await
        .unwrap_or_else(|outcome| panic!("the call should fail when its server is stopped: {outcome}"));
    app.until(DEMO_SERVER_NAME, "stopped", |s| s.state == ServerState::Stopped).await;
    advance_time(Duration::from_secs(20)).await;
    assert_eq!(
        app.server(DEMO_SERVER_NAME).await.state,
        ServerState::Stopped,
        "a server that the user stopped is not restarted"
    );
    let called = app.host.call_tool(next_call_id(), DEMO_SERVER_NAME.into(), "add".into(), Map::new(), None).await;
    assert!(
        matches!(called, Err(CallFailure::NotReady { .. })),
        "a call reports that the server is stopped: {called:?}"
    );
    app.host.close().await;
}
