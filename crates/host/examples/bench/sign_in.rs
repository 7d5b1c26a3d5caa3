//! Measures the duration of a sign-in, from the server's rejection until its lists are read, with an authorization
//! server and a user that respond immediately. Also measures calls that wait while a token is refreshed.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use testkit::calls::UserCalls as _;

use host::view::{ConsentRequestBody, ServerState, UserDecision};
use policy::ApprovalScope;
use ports::time::system_time_millis;
use serde_json::{Map, json};
use testkit::app::{TestApp, remote_config};
use testkit::authorization::{AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer};

const SIGN_IN_COUNT: usize = 30;
const CALL_COUNT: usize = 50;
/// Time that the authorization server takes to refresh a token.
const REFRESH_DURATION: Duration = Duration::from_millis(500);

struct SignInMeasurement {
    app: TestApp,
    issuer: AuthorizationServer,
    server: ProtectedServer,
    /// Time from the server's rejection of a request until its lists were read, in milliseconds.
    duration_millis: u64,
}

async fn connect_signed_in() -> SignInMeasurement {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let app = TestApp::start(vec![("server", remote_config(&server.url()))]).await;
    app.platform.browses.store(true, Ordering::Relaxed);
    app.decide_automatically(|q| {
        let is_meant = matches!(
            q.body,
            ConsentRequestBody::ConnectServer { .. }
                | ConsentRequestBody::SignIn { .. }
                | ConsentRequestBody::Tool { .. }
        );
        is_meant.then_some(UserDecision::Allow(ApprovalScope::Once))
    });
    app.host.start_server("server".into()).await.unwrap();
    app.until("server", "in use", |s| s.state == ServerState::Ready && s.counts[0] > 0).await;
    let ready = system_time_millis();
    let known = app.host.authorization("server".into()).await.unwrap();
    let refused = known.steps.first().expect("the steps of the sign-in are available").at;
    SignInMeasurement { app, issuer, server, duration_millis: ready.saturating_sub(refused) }
}

pub(crate) async fn measure_sign_in() {
    let mut times = Vec::new();
    for _ in 0..SIGN_IN_COUNT {
        let connected = connect_signed_in().await;
        times.push(connected.duration_millis);
        connected.app.host.close().await;
    }
    times.sort_unstable();
    println!(
        "from 401 to connected, {SIGN_IN_COUNT} sign-ins: median {} ms, most {} ms",
        times[SIGN_IN_COUNT / 2],
        times[SIGN_IN_COUNT - 1]
    );
    measure_calls_during_refresh().await;
}

async fn measure_calls_during_refresh() {
    let SignInMeasurement { app, issuer, server, .. } = connect_signed_in().await;
    issuer.set(|script| script.delay_ms = REFRESH_DURATION.as_millis().try_into().unwrap_or(u64::MAX));
    issuer.invalidate_access_tokens();
    let began = Instant::now();
    let calls: Vec<_> = (0..CALL_COUNT)
        .map(|number| {
            let host = app.host.clone();
            let arguments = Map::from_iter([("text".to_owned(), json!("hello"))]);
            tokio::spawn(async move {
                host.call_tool(format!("call-{number}"), "server".into(), "echo".into(), arguments, None).await
            })
        })
        .collect();
    let mut failed = 0;
    for call in calls {
        failed += usize::from(!matches!(call.await, Ok(Ok(_))));
    }
    println!(
        "{CALL_COUNT} calls while a refresh of {} ms runs: {} refreshes, {failed} failed, all done after {} ms, {} posts of calls",
        REFRESH_DURATION.as_millis(),
        issuer.token_requests("refresh_token").len(),
        began.elapsed().as_millis(),
        server.requests_with_method("tools/call").len(),
    );
    app.host.close().await;
}
