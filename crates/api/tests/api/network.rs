//! Test of the command `report_network_available`, which the page sends when the network is available again.

use std::net::SocketAddr;

use api::{Api, dispatch};
use host::view::{ServerState, ServerView};
use serde_json::json;
use testkit::app::{TestApp, remote_config};
use testkit::http::{HttpServer, ordinary};
use testkit::time::advance_time;

async fn start_http_server(address: SocketAddr) -> HttpServer {
    let answer = |request, answer| async move { ordinary::respond("2025-11-25", &request, answer).await };
    HttpServer::start_at(address, answer).await
}

fn is_reconnecting(server: &ServerView) -> bool {
    matches!(server.state, ServerState::Reconnecting(_))
}

#[tokio::test]
async fn disconnected_server_reconnects_when_the_page_reports_the_network() {
    let server = start_http_server(([127, 0, 0, 1], 0).into()).await;
    let address = server.address;
    let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
    let api = Api::new(app.host.clone());
    app.ready_with_grant("far").await;
    drop(server);
    let response = dispatch(&api, "report_network_available", json!({})).await.unwrap();
    assert_eq!(response, json!({}), "the command should be accepted");
    app.until("far", "reconnecting after an unanswered probe", is_reconnecting).await;
    let _back = start_http_server(address).await;
    dispatch(&api, "report_network_available", json!({})).await.unwrap();
    app.until("far", "ready after the reconnect", |s| s.state == ServerState::Ready).await;
    app.host.close().await;
}

#[tokio::test]
async fn frequent_network_reports_are_coalesced() {
    let server = start_http_server(([127, 0, 0, 1], 0).into()).await;
    let app = TestApp::start(vec![("far", remote_config(&server.url("/mcp")))]).await;
    let api = Api::new(app.host.clone());
    app.ready_with_grant("far").await;
    for _ in 0..500 {
        dispatch(&api, "report_network_available", json!({})).await.unwrap();
    }
    let looks = async || app.activity("far").await.matches("asking whether it is still there").count();
    assert_eq!(looks().await, 3, "the first reports should cause immediate checks");
    advance_time(supervision::wake::CLOCK_COMPARISON_INTERVAL).await;
    assert_eq!(looks().await, 4, "the other reports should be coalesced into one check");
    app.host.close().await;
}
