//! Tests that no process of a server remains after its end, however its session ends.

use std::time::Duration;

use serde_json::json;
use testkit::deadline::poll_until;
use testkit::processes::{is_alive, living_processes_in_group};

use crate::support::{result_text, start_ready_driver, tool_call};

const PROCESS_GROUP_EXIT_TIMEOUT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn grandchildren_end_with_the_server() {
    let mut server = start_ready_driver(&["--misbehave", "grandchild"]).await;
    let call = server.start_call(tool_call("echo", json!({}))).await;
    let grandchild: u32 = result_text(&server.wait_for_result(call).await).parse().unwrap();
    assert!(is_alive(grandchild), "the grandchild must be running");
    let group = server.handle.process.group;
    server.stop().await;
    assert!(
        poll_until(PROCESS_GROUP_EXIT_TIMEOUT, || living_processes_in_group(group).is_empty() && !is_alive(grandchild))
            .await,
        "a grandchild that ignores signals must end with the server"
    );
}

#[tokio::test]
async fn grandchildren_end_after_the_server_has_exited() {
    let mut server = start_ready_driver(&["--misbehave", "grandchild-exit"]).await;
    let error = server.echo("hello").await.expect_err("the server must end");
    server.wait_until_driver_ends().await;
    let grandchild: u32 = server.handle.stderr.last_lines(1)[0].parse().unwrap();
    let group = server.handle.process.group;
    assert!(
        poll_until(PROCESS_GROUP_EXIT_TIMEOUT, || living_processes_in_group(group).is_empty() && !is_alive(grandchild))
            .await,
        "a grandchild must be ended even if the group leader has exited ({error})"
    );
}

#[test]
fn servers_end_with_the_tokio_runtime() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (group, _events) = runtime.block_on(async {
        let server = start_ready_driver(&["--misbehave", "never-exits"]).await;
        // Keeps the channel open, so that the driver ends with the runtime and not because its handle is dropped.
        std::mem::forget(server.handle.commands.clone());
        (server.handle.process.group, server.events)
    });
    assert!(!living_processes_in_group(group).is_empty(), "the server must be running");
    drop(runtime);
    let have_ended = (0..200).any(|_| {
        // sleep: polls until the group is empty, since no event reports it.
        std::thread::sleep(Duration::from_millis(10));
        living_processes_in_group(group).is_empty()
    });
    assert!(have_ended, "no server must outlive the runtime");
}
