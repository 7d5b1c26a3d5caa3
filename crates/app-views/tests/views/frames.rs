//! Documents of frames: what is served, with which headers, and how often.

use serde_json::json;

use super::{PAGE_HTML, TestViews};

fn header<'a>(response: &'a app_views::AppFrameResponse, name: &str) -> &'a str {
    response.headers.iter().find(|(header, _)| *header == name).map_or("", |(_, value)| value)
}

#[tokio::test]
async fn an_app_document_is_served_once_with_its_approved_content_security_policy() {
    let test = TestViews::start(&[PAGE_HTML], json!({ "connectDomains": ["https://api.example.com"] })).await;
    test.approve().await;
    let opened = test.open().await;
    let self_test = test.views.respond_to_frame(&opened.view, "/self-test");
    assert_eq!(self_test.status, 200);
    assert!(String::from_utf8(self_test.body.clone()).unwrap().contains("self-test"));
    let page = test.views.respond_to_frame(&opened.view, "/");
    assert_eq!(page.status, 200);
    let document = String::from_utf8(page.body.clone()).unwrap();
    let (doctype, rest) = PAGE_HTML.split_at("<!doctype html>".len());
    assert!(
        document.starts_with(&format!("{doctype}<script>")),
        "the document should begin with the script: {document}"
    );
    assert!(document.ends_with(&format!("</script>{rest}")), "the document should follow the script: {document}");
    assert_eq!(page.headers, self_test.headers, "the self-test should run under the policy of the app");
    let policy = header(&page, "Content-Security-Policy");
    for part in ["default-src 'none'", "connect-src https://api.example.com", "frame-ancestors tauri://localhost"] {
        assert!(policy.contains(part), "{part} should be in {policy}");
    }
    let scripts = policy.split("; ").find(|directive| directive.starts_with("script-src "));
    assert_eq!(scripts, Some("script-src 'self' 'unsafe-inline'"), "the script should add nothing to the policy");
    assert!(header(&page, "Permissions-Policy").contains("camera=()"), "nothing should be permitted by default");
    assert_eq!(test.views.respond_to_frame(&opened.view, "/").status, 404, "no frame should load the app again");
    assert_eq!(test.views.document(&opened.view).unwrap().html, PAGE_HTML, "the source should stay readable");
}

#[tokio::test]
async fn each_shown_app_has_an_origin_of_its_own_in_a_sandbox() {
    const SANDBOX: &str = "allow-scripts allow-same-origin allow-forms";
    let test = TestViews::start(&[PAGE_HTML, PAGE_HTML, PAGE_HTML, PAGE_HTML], json!({})).await;
    test.approve().await;
    let (first, second) = (test.open().await, test.open().await);
    assert_ne!(first.view, second.view, "the same page should get another origin each time");
    for opened in [first, second] {
        assert!(opened.view.len() == 32 && opened.view.bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", opened.view);
        assert_eq!(opened.sandbox, SANDBOX);
        let page = test.views.respond_to_frame(&opened.view, "/");
        let policy = header(&page, "Content-Security-Policy");
        assert!(policy.ends_with(&format!("; sandbox {SANDBOX}")), "{policy}");
    }
}

#[tokio::test]
async fn only_an_app_page_that_prefers_no_border_has_none() {
    for (metadata, has_border) in
        [(json!({ "prefersBorder": false }), false), (json!({ "prefersBorder": true }), true), (json!({}), true)]
    {
        let test = TestViews::start_with_metadata(&[PAGE_HTML], metadata.clone()).await;
        test.approve().await;
        assert_eq!(test.open().await.has_border, has_border, "{metadata}");
    }
}

#[tokio::test]
async fn unknown_views_and_paths_are_not_found() {
    let test = TestViews::start(&[PAGE_HTML], json!({})).await;
    test.approve().await;
    let opened = test.open().await;
    for (view, path) in [("0123456789abcdef0123456789abcdef", "/"), (&*opened.view, "/other"), (&*opened.view, "/..")] {
        let response = test.views.respond_to_frame(view, path);
        assert_eq!((response.status, response.body.len()), (404, 0), "{view} {path}");
        assert!(header(&response, "Content-Security-Policy").contains("sandbox"), "{view} {path}");
    }
}
