//! The sandbox that a consent request for starting a server offers: choosing the sandbox changes the settings, ends the
//! request, and starts nothing that the user has not consented to.

use std::path::PathBuf;

use domain::consent_request::ConsentRequestId;
use host::view::{ConsentRequestBody, ConsentRequestView, SandboxOffer, ServerState, UserDecision};
use host::{DecisionError, SandboxStartError};
use policy::ApprovalScope;
use ports::server_config::{NetworkAccess, SandboxConfig, ServerEntry};
use testkit::app::{TestApp, scripted_config};

const SERVER: &str = "harbour";

fn is_server_start_request(request: &ConsentRequestView) -> bool {
    matches!(request.body, ConsentRequestBody::StartServer { .. })
}

async fn wait_for_start_request(app: &TestApp) -> ConsentRequestView {
    app.host.start_server(SERVER.into()).await.unwrap();
    app.consent_request(SERVER, "its start", is_server_start_request).await
}

/// Returns the sandbox that the host offers for the start that a consent request is for.
async fn offered_sandbox(app: &TestApp, request: ConsentRequestId, network: Option<NetworkAccess>) -> SandboxConfig {
    match app.host.offer_sandbox(request, network).await.expect("an offer") {
        SandboxOffer::Possible { sandbox, preview } => {
            assert_eq!(preview.plan.network, sandbox.network, "the plan is that of the offered sandbox");
            sandbox
        }
        other => panic!("a sandbox can be set up here: {other:?}"),
    }
}

async fn start_in_sandbox(
    app: &TestApp,
    shown: &ConsentRequestView,
    sandbox: SandboxConfig,
) -> Result<(), SandboxStartError> {
    app.host.move_start_into_sandbox(shown.id, shown.hash.to_string(), sandbox).await
}

async fn wait_for_sandboxed_start_request(app: &TestApp) -> ConsentRequestView {
    let has_plan =
        |request: &ConsentRequestView| matches!(&request.body, ConsentRequestBody::StartServer { plan: Some(_), .. });
    app.consent_request(SERVER, "its start in the sandbox", has_plan).await
}

fn working_directory(request: &ConsentRequestView) -> PathBuf {
    match &request.body {
        ConsentRequestBody::StartServer { working_directory, .. } => working_directory.clone(),
        other => panic!("it is a start: {other:?}"),
    }
}

#[tokio::test]
async fn chosen_sandbox_leads_to_another_request_with_another_hash() {
    let app = TestApp::start(vec![(SERVER, scripted_config(&[]))]).await;
    let before = wait_for_start_request(&app).await;
    let home = std::env::home_dir().unwrap_or_else(std::env::temp_dir);
    assert_eq!(working_directory(&before), home, "without a sandbox, the home of the user is shown");
    let sandbox = offered_sandbox(&app, before.id, None).await;
    assert_eq!(sandbox, SandboxConfig::default(), "the smallest sandbox is proposed");
    assert!(app.server(SERVER).await.config.as_stdio().unwrap().sandbox.is_none(), "an offer changes nothing");
    start_in_sandbox(&app, &before, sandbox.clone()).await.unwrap();
    let after = wait_for_sandboxed_start_request(&app).await;
    assert_ne!((after.id, &after.hash), (before.id, &before.hash), "the sandbox is a part of the payload");
    let ConsentRequestBody::StartServer { config, plan: Some(plan), .. } = &after.body else {
        panic!("the request shows the plan: {after:?}")
    };
    assert_eq!((config.sandbox.as_ref(), &plan.network), (Some(&sandbox), &NetworkAccess::None));
    assert_eq!(working_directory(&after), plan.reach.home, "in a sandbox, its home is shown");
    assert_eq!(app.server(SERVER).await.config.as_stdio().unwrap().sandbox, Some(sandbox), "it is in the settings");
    let allow = || UserDecision::Allow(ApprovalScope::Once);
    for (what, id) in [("request", before.id), ("hash", after.id)] {
        let decided = app.host.decide(id, before.hash.to_string(), allow()).await;
        assert!(decided.is_err(), "an approval with the old {what} has no effect");
    }
    assert_eq!(app.server(SERVER).await.pid, None, "nothing was started");
    app.decide(&after, allow()).await;
    let view = app.until(SERVER, "ready", |server| server.state == ServerState::Ready).await;
    assert_eq!(view.sandbox_mechanism, Some(plan.mechanism.name()), "what was displayed is enforced");
    app.host.close().await;
}

#[tokio::test]
async fn start_in_a_chosen_sandbox_requires_consent_even_if_approved_before() {
    let app = TestApp::start(vec![(SERVER, scripted_config(&[]))]).await;
    let first = wait_for_start_request(&app).await;
    start_in_sandbox(&app, &first, SandboxConfig::default()).await.unwrap();
    app.decide(&wait_for_sandboxed_start_request(&app).await, UserDecision::Allow(ApprovalScope::Always)).await;
    app.until(SERVER, "ready", |server| server.state == ServerState::Ready).await;
    let without = ServerEntry { name: SERVER.into(), config: scripted_config(&[]) };
    app.host.update_server(SERVER.into(), without).await.unwrap();
    app.until(SERVER, "stopped", |server| server.state == ServerState::Stopped).await;
    let second = wait_for_start_request(&app).await;
    start_in_sandbox(&app, &second, SandboxConfig::default()).await.unwrap();
    let request = wait_for_sandboxed_start_request(&app).await;
    assert_eq!(request.reason, "sandbox-chosen", "the command is the approved one");
    let is_marked = matches!(&request.body, ConsentRequestBody::StartServer { earlier_approval: Some(_), .. });
    assert!(!is_marked, "no change of the command is reported");
    assert_eq!(request.scopes, [ApprovalScope::Once], "the grant stays, and nothing is added to it");
    assert_eq!(app.server(SERVER).await.pid, None, "the grant does not start the server");
    app.decide(&request, UserDecision::Allow(ApprovalScope::Once)).await;
    let first = app.until(SERVER, "ready", |server| server.state == ServerState::Ready).await.pid;
    app.host.restart_server(SERVER.into()).await.unwrap();
    app.until(SERVER, "ready again", |server| server.state == ServerState::Ready && server.pid != first).await;
    assert!(app.consent_requests().await.is_empty(), "later starts are covered by the grant");
    app.host.close().await;
}

#[tokio::test]
async fn sandbox_is_not_chosen_with_another_hash_or_twice() {
    let app = TestApp::start(vec![(SERVER, scripted_config(&[]))]).await;
    let request = wait_for_start_request(&app).await;
    let other = app.host.move_start_into_sandbox(request.id, "0".repeat(64), SandboxConfig::default()).await;
    assert_eq!(other, Err(DecisionError::Stale.into()), "the hash is that of the displayed payload");
    assert_eq!(app.consent_requests().await, vec![request.clone()], "the request stays as it is");
    start_in_sandbox(&app, &request, SandboxConfig::default()).await.unwrap();
    let again = start_in_sandbox(&app, &request, SandboxConfig::default()).await;
    assert_eq!(again, Err(DecisionError::NotOpen.into()), "the request is closed");
    let contained = wait_for_sandboxed_start_request(&app).await;
    let again = start_in_sandbox(&app, &contained, SandboxConfig::default()).await;
    assert!(
        matches!(again, Err(SandboxStartError::Request(DecisionError::WrongKind(_)))),
        "a request with a sandbox offers none: {again:?}"
    );
    app.host.close().await;
}

#[tokio::test]
async fn no_sandbox_is_offered_for_a_container() {
    let mut config = scripted_config(&[]);
    let folder = tempfile::tempdir().unwrap();
    let docker = folder.path().join("docker");
    std::fs::copy(testkit::binaries::scripted_server(), &docker).unwrap();
    config.as_stdio_mut().unwrap().command = docker.display().to_string();
    let app = TestApp::start(vec![(SERVER, config)]).await;
    let request = wait_for_start_request(&app).await;
    assert_eq!(app.host.offer_sandbox(request.id, None).await, Ok(SandboxOffer::Container));
    app.host.close().await;
}

#[tokio::test]
async fn no_sandbox_is_offered_for_a_broad_working_folder() {
    for folder in [PathBuf::from("/"), std::env::home_dir().expect("a home")] {
        let mut config = scripted_config(&[]);
        config.as_stdio_mut().unwrap().cwd = Some(folder.clone());
        let app = TestApp::start(vec![(SERVER, config)]).await;
        let request = wait_for_start_request(&app).await;
        assert_eq!(app.host.offer_sandbox(request.id, None).await, Ok(SandboxOffer::BroadFolder { folder }));
        app.host.close().await;
    }
}
