//! Data flow settings of a server: concurrent changes, their effect on waiting calls, and that they apply to one server
//! only.

use std::sync::atomic::Ordering;

use domain::data_flow::{DataFlow, MAX_TOOL_SETTINGS, ResultReview, SameServerFlow};
use host::view::{ConsentRequestBody, UserDecision};
use host::{CallOrigin, DataFlowError, HostOptions};
use mcp_proto::types::CallToolResult;
use ports::Document;
use ports::server_config::ServerEntry;
use serde_json::json;
use testkit::app::{TestApp, demo_config};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::audit::{sent_call_count, start_with_scripted_audit_log, wait_until_delayed};

const SERVER: &str = "harbour";

fn flow_after(same_server: SameServerFlow) -> DataFlow {
    DataFlow { same_server, ..DataFlow::default() }
}

async fn set_data_flow(app: &TestApp, flow: DataFlow) -> Result<(), DataFlowError> {
    app.host.set_data_flow(SERVER.into(), flow).await
}

/// Spawns a model's call of the tool for which a permanent grant exists.
fn spawn_add_call(
    app: &TestApp,
    conversation: &str,
    id: &str,
) -> JoinHandle<Result<CallToolResult, domain::call::CallFailure>> {
    let (host, id, conversation) = (app.host.clone(), id.to_owned(), conversation.to_owned());
    let arguments = json!({"a": 1, "b": 2}).as_object().cloned().unwrap();
    tokio::spawn(async move {
        let origin = CallOrigin::Model { conversation };
        host.call_tool_as(origin, id, SERVER.into(), "add".into(), arguments, oneshot::channel().0).await
    })
}

#[tokio::test]
async fn latest_data_flow_applies_while_the_audit_log_is_slow() {
    let (app, disk) = start_with_scripted_audit_log().await;
    disk.slow.store(true, Ordering::SeqCst);
    let set_later = |flow: DataFlow| {
        let host = app.host.clone();
        tokio::spawn(async move { host.set_data_flow(SERVER.into(), flow).await })
    };
    let changed = set_later(flow_after(SameServerFlow::Off));
    wait_until_delayed(&disk).await;
    let changed_back = set_later(DataFlow::default());
    // The spawned task takes its turn first, so that the second change is accepted before the audit log continues.
    tokio::task::yield_now().await;
    disk.slow.store(false, Ordering::SeqCst);
    disk.release_delayed_entries();
    changed.await.unwrap().expect("the first change succeeds");
    changed_back.await.unwrap().expect("the second change succeeds");
    assert_eq!(app.server(SERVER).await.flow, DataFlow::default(), "the latest change is in effect");
    app.host.close().await;
}

#[tokio::test]
async fn unchanged_data_flow_is_not_written_again() {
    let (app, disk) = start_with_scripted_audit_log().await;
    let entries = || app.entries_of_kind("data-flow").len();
    set_data_flow(&app, DataFlow::default()).await.unwrap();
    assert_eq!(entries(), 0, "an unchanged setting is not audited");
    set_data_flow(&app, flow_after(SameServerFlow::Off)).await.unwrap();
    set_data_flow(&app, flow_after(SameServerFlow::Off)).await.unwrap();
    assert_eq!(entries(), 1, "one change has one entry");
    disk.full.store(true, Ordering::SeqCst);
    let refused = set_data_flow(&app, flow_after(SameServerFlow::Everything)).await;
    assert!(matches!(refused, Err(DataFlowError::Store(_))), "a change that can't be written is refused: {refused:?}");
    disk.full.store(false, Ordering::SeqCst);
    set_data_flow(&app, flow_after(SameServerFlow::Off)).await.unwrap();
    assert_eq!(entries(), 1, "the setting before the failed change is unchanged");
    app.host.close().await;
}

#[tokio::test]
async fn number_of_tools_with_a_data_flow_setting_is_bounded() {
    let (app, _disk) = start_with_scripted_audit_log().await;
    let tools = |n: usize| {
        let tools = (0..n).map(|n| (n.to_string(), ResultReview::Off)).collect();
        DataFlow { tools, ..DataFlow::default() }
    };
    assert_eq!(
        set_data_flow(&app, tools(MAX_TOOL_SETTINGS)).await,
        Ok(()),
        "the maximum number of settings is accepted"
    );
    assert_eq!(
        set_data_flow(&app, tools(MAX_TOOL_SETTINGS + 1)).await,
        Err(DataFlowError::TooMany),
        "one more setting is rejected"
    );
    assert_eq!(app.server(SERVER).await.flow, tools(MAX_TOOL_SETTINGS), "the previous setting is unchanged");
    let nobody = app.host.set_data_flow("nobody".into(), DataFlow::default()).await;
    assert!(matches!(nobody, Err(DataFlowError::Server(_))), "a missing server is refused: {nobody:?}");
    app.host.close().await;
}

#[tokio::test]
async fn call_waiting_for_its_audit_entry_is_decided_by_the_current_data_flow() {
    let (app, disk) = start_with_scripted_audit_log().await;
    for by in ["the user", "another program"] {
        set_data_flow(&app, DataFlow::default()).await.unwrap();
        app.host.record_conversation_servers(by.to_owned(), Vec::new(), true).await.unwrap();
        spawn_add_call(&app, by, "reads").await.unwrap().expect("the call requires no consent");
        let before = sent_call_count(&app).await;
        disk.slow.store(true, Ordering::SeqCst);
        let waits = spawn_add_call(&app, by, "waits");
        wait_until_delayed(&disk).await;
        disk.slow.store(false, Ordering::SeqCst);
        let everything = flow_after(SameServerFlow::Everything);
        if by == "the user" {
            set_data_flow(&app, everything).await.unwrap();
        } else {
            let documents = app.host.ports().documents.clone();
            documents.write(Document::Flow, &json!({ SERVER: everything })).unwrap();
            app.until(SERVER, "set by another program", |s| s.flow.same_server == SameServerFlow::Everything).await;
        }
        disk.release_delayed_entries();
        let request =
            app.consent_request(SERVER, "the call", |q| matches!(q.body, ConsentRequestBody::Tool { .. })).await;
        assert_eq!(request.reason, "after-untrusted", "S26: the call requires consent, as {by} has set");
        assert_eq!(sent_call_count(&app).await, before, "nothing was sent");
        app.decide(&request, UserDecision::Deny).await;
        waits.await.unwrap().expect_err("the call is refused");
    }
    app.host.close().await;
}

#[tokio::test]
async fn data_flow_setting_belongs_to_one_server() {
    let entry = |name: &str| ServerEntry { name: name.to_owned(), config: demo_config(&[]) };
    let again = async |app: TestApp| {
        app.host.close().await;
        let TestApp { folder, host, .. } = app;
        drop(host);
        TestApp::start_in_folder(folder, vec![], HostOptions::default()).await
    };
    let app = TestApp::start(vec![(SERVER, demo_config(&[]))]).await;
    let off = flow_after(SameServerFlow::Off);
    set_data_flow(&app, off.clone()).await.unwrap();
    app.host.update_server(SERVER.into(), entry("renamed")).await.unwrap();
    assert_eq!(app.server("renamed").await.flow, off, "the setting follows a renamed server");
    app.host.add_server(entry(SERVER)).await.unwrap();
    assert_eq!(app.server(SERVER).await.flow, DataFlow::default(), "the old name has no setting");
    let app = again(app).await;
    assert_eq!(app.server("renamed").await.flow, off, "the setting is stored across restarts");
    assert_eq!(app.server(SERVER).await.flow, DataFlow::default(), "the old name has no stored setting");
    app.host.remove_server("renamed".into()).await.unwrap();
    app.host.add_server(entry("renamed")).await.unwrap();
    assert_eq!(app.server("renamed").await.flow, DataFlow::default(), "another server with that name has no setting");
    let app = again(app).await;
    assert_eq!(app.server("renamed").await.flow, DataFlow::default(), "the setting is stored across restarts");
    app.host.close().await;
}
