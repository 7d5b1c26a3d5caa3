//! Tests of processes that resist termination (X34).

use testkit::app::scripted_config;
use testkit::processes;

use crate::pair::GoodAndBadServers;

/// Waits up to 10 s until a process has ended. Returns `true` if it has.
async fn wait_until_exited(pid: u32) -> bool {
    testkit::deadline::poll_until(std::time::Duration::from_secs(10), || !processes::is_alive(pid)).await
}

#[tokio::test]
async fn x34_child_processes_end_with_their_server() {
    let what = "X34, a process that the server started and that ignores signals";
    let pair = GoodAndBadServers::ready(scripted_config(&["--misbehave", "grandchild"])).await;
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &[]);
    let result = serde_json::json!(call.result.unwrap());
    let child: u32 = result["content"][0]["text"].as_str().unwrap().parse().unwrap();
    assert!(processes::is_alive(child), "{what}: the process is running");
    pair.app.host.stop_server("bad".into()).await.unwrap();
    assert!(
        pair.while_good_server_responds(what, wait_until_exited(child)).await,
        "{what}: the process ends within 10 s"
    );
    pair.close(what).await;
}

#[tokio::test]
async fn x34_exited_server_leaves_no_processes() {
    let what = "X34, a server that exits and leaves a process that ignores signals";
    let pair = GoodAndBadServers::ready(scripted_config(&["--misbehave", "grandchild-exit"])).await;
    let group = pair.app.server("bad").await.pid.expect("the process is running");
    let call = pair.call_bad_server(what).await;
    pair.assert_call_ended(what, &call, &["ended", "exit", "closed"]);
    let empty = || processes::living_processes_in_group(group).is_empty();
    let left = testkit::deadline::poll_until(std::time::Duration::from_secs(10), empty).await;
    assert!(left, "{what}: the processes {:?} remain", processes::living_processes_in_group(group));
    pair.close(what).await;
}

#[tokio::test]
async fn x34_server_that_ignores_termination_is_killed() {
    let what = "X34, a server that ignores SIGTERM and the end of its input";
    let pair = GoodAndBadServers::ready(scripted_config(&["--misbehave", "never-exits"])).await;
    let pid = pair.app.server("bad").await.pid.expect("the process is running");
    pair.app.host.stop_server("bad".into()).await.unwrap();
    assert!(
        pair.while_good_server_responds(what, wait_until_exited(pid)).await,
        "{what}: the process ends within 10 s"
    );
    pair.close(what).await;
}
