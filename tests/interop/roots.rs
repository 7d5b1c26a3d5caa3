//! Tests of roots: the user selects them once, the server receives them, and is notified of each change.

use std::path::{Path, PathBuf};

use domain::consent_request::ConsentRequestOrigin;
use host::view::{ConsentRequestBody, UserDecision};
use serde_json::json;
use testkit::app::TestApp;

use crate::installed;
use crate::user::{
    activity_entries, call_tool, call_until_result_contains, result_text, sent_methods, wait_for_complete_catalog,
};

fn create_folder(parent: &tempfile::TempDir, name: &str) -> PathBuf {
    let path = std::fs::canonicalize(parent.path()).unwrap().join(name);
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("file.txt"), name).unwrap();
    path
}

/// Returns the text with which the server's tool shows a folder.
fn displayed_path(path: &Path) -> String {
    path.display().to_string()
}

async fn wait_for_roots_request(app: &TestApp, server: &str) -> host::view::ConsentRequestView {
    app.consent_request(server, "the folders", |q| q.body == ConsentRequestBody::Roots).await
}

#[tokio::test]
async fn everything_server_receives_the_shared_folders() {
    let parent = tempfile::tempdir().unwrap();
    let (first, second) = (create_folder(&parent, "first"), create_folder(&parent, "second"));
    let app = TestApp::start(vec![("everything", installed::everything_server())]).await;
    app.ready("everything").await;
    wait_for_complete_catalog(&app, "everything").await;
    let request = wait_for_roots_request(&app, "everything").await;
    assert_eq!(request.origin, ConsentRequestOrigin::Server, "the server requests the roots right after its start");
    assert_eq!(app.server("everything").await.roots, None, "[roots-consent]: nothing is decided yet");
    app.decide(&request, UserDecision::Share(vec![first.clone()])).await;

    call_until_result_contains(&app, "everything", "get-roots-list", &format!("file://{}", displayed_path(&first)))
        .await;
    app.host.set_roots("everything".into(), vec![first.clone(), second.clone()]).await.unwrap();
    let both = call_until_result_contains(
        &app,
        "everything",
        "get-roots-list",
        &format!("file://{}", displayed_path(&second)),
    )
    .await;
    assert!(result_text(&both).contains("(2 total)"), "[roots-list-answer]: the server knows both folders: {both:?}");
    app.host.set_roots("everything".into(), Vec::new()).await.unwrap();
    call_until_result_contains(&app, "everything", "get-roots-list", "no roots are currently configured").await;
    let announcements =
        sent_methods(&app, "everything").await.iter().filter(|m| *m == "notifications/roots/list_changed").count();
    assert_eq!(announcements, 2, "[roots-list-changed]: every change is announced");
    let decisions = app.decisions().iter().filter(|(kind, _, by)| kind == "roots" && by == "user").count();
    assert_eq!(decisions, 3, "[roots-consent]: the user made one decision and two changes");
}

#[tokio::test]
async fn filesystem_server_follows_the_shared_folders() {
    let parent = tempfile::tempdir().unwrap();
    let (configured, first, second) =
        (create_folder(&parent, "configured"), create_folder(&parent, "first"), create_folder(&parent, "second"));
    let app = TestApp::start(vec![("files", installed::filesystem_server(&configured))]).await;
    app.ready("files").await;
    let request = wait_for_roots_request(&app, "files").await;
    app.decide(&request, UserDecision::Share(vec![first.clone()])).await;
    call_until_result_contains(&app, "files", "list_allowed_directories", &displayed_path(&first)).await;
    let read = |path: PathBuf| call_tool(&app, "files", "read_text_file", json!({ "path": path }));
    assert_eq!(result_text(&read(first.join("file.txt")).await), "first", "a shared folder can be read");
    assert!(read(configured.join("file.txt")).await.is_error, "a folder that is no longer shared can't be read");

    app.host.set_roots("files".into(), vec![second.clone()]).await.unwrap();
    call_until_result_contains(&app, "files", "list_allowed_directories", &displayed_path(&second)).await;
    assert_eq!(
        result_text(&read(second.join("file.txt")).await),
        "second",
        "[roots-list-changed]: the new folder can be read"
    );
    assert!(read(first.join("file.txt")).await.is_error, "the old folder can't be read");
}

#[tokio::test]
async fn denied_roots_leave_a_server_with_its_configured_folder() {
    let parent = tempfile::tempdir().unwrap();
    let configured = create_folder(&parent, "configured");
    let app = TestApp::start(vec![("files", installed::filesystem_server(&configured))]).await;
    app.ready("files").await;
    let request = wait_for_roots_request(&app, "files").await;
    app.decide(&request, UserDecision::Deny).await;
    let result = call_tool(&app, "files", "read_text_file", json!({ "path": configured.join("file.txt") })).await;
    assert_eq!(result_text(&result), "configured", "[roots-list-answer]: an empty list of roots is a valid response");
    let complains =
        activity_entries(&app, "files").await.iter().any(|e| e.body().contains("Failed to request initial roots"));
    assert!(!complains, "the response is not an error");
}
