//! Redirects: nothing of the user's goes to another origin, and no chain is without end (X49).

use std::collections::BTreeMap;
use std::sync::Arc;

use host::server_config::HttpConfig;
use host::view::ServerState;
use testkit::app::{App, scripted};
use testkit::http::{HttpServer, Request, ordinary};

use super::{LEGACY, allows_use, options};

const SECRET: &str = "Bearer of-the-user";

/// What became of a server that is added with a secret header.
async fn added(url: String) -> (App, Result<(), String>) {
    let headers = BTreeMap::from([("Authorization".to_owned(), SECRET.to_owned())]);
    let config = HttpConfig { url, headers, ..HttpConfig::default() }.into();
    let servers = vec![("good", scripted(&[])), ("bad", config)];
    let app = App::start_in(tempfile::tempdir().unwrap(), servers, options()).await;
    let user = app.always(allows_use);
    app.host.start_server("bad".into()).await.unwrap().unwrap();
    let over = |s: &ServerState| matches!(s, ServerState::Ready | ServerState::Failed(_));
    let view = app.until("bad", "ready or failed", |s| over(&s.state)).await;
    user.abort();
    let ended = match view.state {
        ServerState::Failed(failure) => Err(failure.message),
        _ => Ok(()),
    };
    (app, ended)
}

#[tokio::test]
async fn x49_another_origin_gets_nothing() {
    for status in [301, 302, 303, 307, 308] {
        let other = HttpServer::start(|r, answer| async move { ordinary::answer(LEGACY, &r, answer).await }).await;
        let target = Arc::new(other.url("/mcp"));
        let server = HttpServer::start(move |_, mut answer| {
            let target = Arc::clone(&target);
            async move { answer.whole(status, &format!("location: {target}\r\n"), b"").await }
        })
        .await;
        let (app, ended) = added(server.url("/mcp")).await;
        let message = ended.expect_err("X49: a redirect to another origin is no way to a server");
        assert!(message.contains("redirect"), "X49, {status}: the cause is in words: {message}");
        for request in other.seen() {
            assert!(request.body.is_empty(), "X49, {status}: no body reaches another origin: {request:?}");
            assert!(!request.head.contains(SECRET), "X49, {status}: no header of the user's does: {}", request.head);
        }
        app.host.close().await;
    }
}

#[tokio::test]
async fn x49_a_redirect_within_the_origin_is_followed_with_body_and_headers() {
    let server = HttpServer::start(|request: Request, mut answer| async move {
        if request.path == "/mcp" {
            return answer.whole(307, "location: /moved/mcp\r\n", b"").await;
        }
        ordinary::answer(LEGACY, &request, answer).await
    })
    .await;
    let (app, ended) = added(server.url("/mcp")).await;
    assert_eq!(ended, Ok(()), "X49: a server may have moved");
    let moved = server.seen().into_iter().find(|r| r.path == "/moved/mcp").expect("it was followed");
    assert_eq!(moved.header("authorization"), Some(SECRET), "X49: with what the user gave it");
    app.host.close().await;
}

#[tokio::test]
async fn x49_a_chain_of_30_is_not_followed_to_its_end() {
    let server = HttpServer::start(|request: Request, mut answer| async move {
        let hop: u32 = request.path.rsplit('/').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        answer.whole(307, &format!("location: /hop/{}\r\n", hop + 1), b"").await
    })
    .await;
    let (app, ended) = added(server.url("/hop/0")).await;
    let message = ended.expect_err("X49: a chain without end is no way to a server");
    assert!(message.contains("redirect"), "X49: the cause is in words: {message}");
    let longest = server.seen().iter().filter_map(|r| r.path.rsplit('/').next()?.parse::<u32>().ok()).max();
    assert!(longest.is_some_and(|longest| longest <= 10), "X49: at most 10 are followed: {longest:?}");
    app.host.close().await;
}
