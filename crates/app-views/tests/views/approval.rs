//! Approval of pages: nothing is shown before it, and it is valid for one version of a page.

use app_views::{AppPageError, AppPageReview, AppViewError, AppViews};
use chat::Chat;
use domain::app_view::AppViewChange;
use mcp_apps::{CspSourceReach, CspSourceUse, PagePermission, SandboxGrants, ViewCloseCause};
use ports::AuditQuery;
use serde_json::json;

use super::{PAGE_HTML, SERVER, TOOL, TestViews, context, displayed_call};

// [apps-unlisted-ui]
#[tokio::test]
async fn an_app_is_shown_only_after_its_approval() {
    let test =
        TestViews::start(&[PAGE_HTML], json!({ "connectDomains": ["https://api.example.com", "*; script-src *"] }))
            .await;
    let page = test.views.page_for_review(SERVER, TOOL).await.unwrap();
    assert_eq!((page.review, page.bytes), (AppPageReview::New, PAGE_HTML.len() as u64));
    let sources: Vec<_> = page.sources.iter().map(|source| (source.used_as, &*source.origin, source.reach)).collect();
    assert_eq!(sources, [(CspSourceUse::Connect, "https://api.example.com", CspSourceReach::Internet)]);
    assert_eq!(page.notes.len(), 1, "the refused domain should be listed: {:?}", page.notes);
    let refused = test.views.open(SERVER.into(), TOOL.into(), displayed_call(), context()).await;
    assert!(matches!(refused, Err(AppViewError::NotApproved)), "{refused:?}");
    test.approve().await;
    let opened = test.open().await;
    let policy = test.views.document(&opened.view).unwrap().policy;
    assert!(
        policy.contains("connect-src https://api.example.com;"),
        "the approval should grant what was shown: {policy}"
    );
    assert_eq!(test.views.page_for_review(SERVER, TOOL).await.unwrap().review, AppPageReview::Approved);
}

#[tokio::test]
async fn approval_of_an_app_is_in_the_audit_log_with_its_domains() {
    let test = TestViews::start(&[PAGE_HTML], json!({ "connectDomains": ["https://api.example.com"] })).await;
    test.approve().await;
    let query = AuditQuery { kind: Some("app".to_owned()), ..AuditQuery::latest(10) };
    let entries = test.app.host.ports().audit.read(&query).unwrap();
    let [entry] = &entries[..] else { panic!("expected one entry: {entries:?}") };
    assert_eq!((&*entry.server, &*entry.decision), (SERVER, "allowed"));
    for part in ["https://api.example.com", "declaredOrigins", "ui://board/app.html"] {
        assert!(entry.subject.contains(part), "{part} should be in {}", entry.subject);
    }
}

#[tokio::test]
async fn a_changed_app_page_requires_another_approval() {
    let test =
        TestViews::start(&[PAGE_HTML, PAGE_HTML, "<!doctype html><p>Other", "<!doctype html><p>Other"], json!({}))
            .await;
    test.approve().await;
    let changed = test.views.page_for_review(SERVER, TOOL).await.unwrap();
    assert_eq!(changed.review, AppPageReview::Changed);
    let refused = test.views.open(SERVER.into(), TOOL.into(), displayed_call(), context()).await;
    assert!(matches!(refused, Err(AppViewError::NotApproved)), "{refused:?}");
}

#[tokio::test]
async fn an_approval_applies_only_to_the_page_that_the_user_saw() {
    let test = TestViews::start(&[PAGE_HTML, "<!doctype html><p>Other"], json!({})).await;
    let page = test.views.page_for_review(SERVER, TOOL).await.unwrap();
    let approved = test.views.approve_page(SERVER, TOOL, &page.hash, SandboxGrants::default()).await;
    assert!(matches!(approved, Err(AppViewError::OtherPage)), "{approved:?}");
    assert_eq!(test.views.page_for_review(SERVER, TOOL).await.unwrap().review, AppPageReview::New);
}

#[tokio::test]
async fn revoking_an_app_approval_closes_its_view() {
    let mut test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let opened = test.open_initialized().await;
    let uri = test.views.page_for_review(SERVER, TOOL).await.unwrap().uri;
    assert!(test.views.revoke_page_approval(SERVER, &uri).await.unwrap(), "the page should have an approval");
    test.wait_for_change(&opened, |change| matches!(change, AppViewChange::Closed { cause: ViewCloseCause::PageGone }))
        .await;
    assert_eq!(test.views.respond_to_frame(&opened.view, "/").status, 404, "the page should not be served any more");
    let refused = test.views.open(SERVER.into(), TOOL.into(), displayed_call(), context()).await;
    assert!(matches!(refused, Err(AppViewError::NotApproved)), "{refused:?}");
    assert!(!test.views.revoke_page_approval(SERVER, &uri).await.unwrap(), "the approval should be removed");
}

#[tokio::test]
async fn no_app_is_shown_without_a_ui_resource_or_frame_support() {
    let test = TestViews::start(&[PAGE_HTML], json!({})).await;
    let without = test.views.page_for_review(SERVER, "environment").await;
    assert!(matches!(without, Err(AppViewError::Page(AppPageError::NoPage))), "{without:?}");
    let views = AppViews::new(test.app.host.clone(), Chat::new(test.app.host.clone()));
    let unsupported = views.page_for_review(SERVER, TOOL).await;
    assert!(matches!(unsupported, Err(AppViewError::Unsupported(_))), "{unsupported:?}");
}

#[tokio::test]
async fn unsupported_permissions_of_an_app_are_listed_instead_of_granted() {
    let csp = json!({ "connectDomains": ["https://api.example.com"], "frameDomains": ["https://frames.example.com"] });
    let test = TestViews::start(&[PAGE_HTML], csp).await;
    let page = test.views.page_for_review(SERVER, TOOL).await.unwrap();
    let origins: Vec<_> = page.sources.iter().map(|source| &*source.origin).collect();
    assert_eq!(origins, ["https://api.example.com"], "only the connection should be offered for approval");
    let [note] = &page.notes[..] else { panic!("expected one note: {:?}", page.notes) };
    assert!(note.starts_with("frameDomains https://frames.example.com is not available: the window"), "{note}");
    test.approve().await;
    let policy = test.views.document(&test.open().await.view).unwrap().policy;
    assert!(policy.contains("frame-src 'none'"), "{policy}");
    let loaded = test.views.load_page(SERVER, TOOL).await.unwrap();
    assert_eq!(loaded.requested_access_texts().len(), 2, "the command line should show all that the page requests");
}

#[tokio::test]
async fn clipboard_is_available_only_if_requested_and_approved() {
    let metadata = json!({ "permissions": { "clipboardWrite": {}, "camera": {} }, "domain": "a.example" });
    let test = TestViews::start_with_metadata(&[PAGE_HTML], metadata).await;
    let page = test.views.page_for_review(SERVER, TOOL).await.unwrap();
    assert_eq!(page.permissions.iter().collect::<Vec<_>>(), [PagePermission::ClipboardWrite]);
    let notes: Vec<_> = page.notes.iter().filter_map(|note| note.split_once(" is not available: ")).collect();
    assert_eq!(notes.iter().map(|(declared, _)| *declared).collect::<Vec<_>>(), ["camera", "domain a.example"]);
    for (granted, allow) in [(&[][..], ""), (&PagePermission::ALL[..], "clipboard-write")] {
        let permissions = granted.iter().copied().collect();
        let grants = SandboxGrants { permissions, ..SandboxGrants::default() };
        test.views.approve_page(SERVER, TOOL, &page.hash, grants).await.unwrap();
        let opened = test.open().await;
        assert_eq!(opened.allow, allow);
        let headers = test.views.respond_to_frame(&opened.view, "/").headers;
        let (_, policy) = headers.iter().find(|(name, _)| *name == "Permissions-Policy").unwrap();
        let expected = if allow.is_empty() { "clipboard-write=()" } else { "clipboard-write=(self)" };
        assert!(policy.contains(expected) && policy.contains("camera=()"), "{policy}");
    }
}
