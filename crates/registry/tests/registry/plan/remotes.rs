//! Tests of plans for remotes.

use super::*;

#[test]
fn remote_has_a_url_and_headers() {
    let described = json!({
        "type": "streamable-http", "url": "https://{tenant}.example/{unknown}/mcp",
        "variables": { "tenant": { "default": "main" } },
        "headers": [
            { "name": "Authorization", "value": "Bearer {token}", "isSecret": true, "variables": { "token": {} } },
            { "name": "X-Mode", "default": "safe" },
            { "name": "X-Other" },
        ],
    });
    let plan = plan_remote_json(&described).unwrap();
    let config = filled_http(&plan, &[]);
    assert_eq!((config.url.as_str(), config.kind), ("https://main.example/{unknown}/mcp", Some(HttpKind::Http)));
    assert_eq!(config.headers, [("X-Mode".to_owned(), "safe".to_owned())].into());
    assert_eq!(filled_http(&plan, &[("tenant", &["blue"])]).url, "https://blue.example/{unknown}/mcp");
    let filled = plan.fill(&input_values(&[("token", &["s3cret"])]), None).unwrap();
    let (entry, secrets) = filled.into_settings(Vec::new());
    assert_eq!(entry.config.as_http().unwrap().headers["Authorization"], "Bearer ${secret:notes.Authorization}");
    assert_eq!(secrets.len(), 1);
}

#[test]
fn private_remote_address_is_noted() {
    let notes = |url: &str| {
        let variables = json!({ "path": {}, "host": {} });
        notes_text(&plan_remote_json(&json!({ "type": "sse", "url": url, "variables": variables })).unwrap())
    };
    for url in
        ["https://127.0.0.1/mcp", "https://192.168.1.1/{path}", "https://[::ffff:10.0.0.1]", "https://a.localhost"]
    {
        assert!(notes(url).contains("into your network"), "{url}: {}", notes(url));
    }
    for url in ["https://mcp.example.com", "https://8.8.8.8/{path}", "https://{host}/mcp"] {
        assert_eq!(notes(url), "", "{url}");
    }
}

#[test]
fn unusable_remote_is_reported() {
    let at = |kind: &str, url: &str| plan_remote_json(&json!({ "type": kind, "url": url }));
    for url in
        ["", "ftp://a.example", "javascript:alert(1)", "https://ann:pass@a.example", "https://a b.example", "a.example"]
    {
        assert!(matches!(at("sse", url), Err(PlanError::Address(..))), "{url}");
    }
    assert!(matches!(at("websocket", "https://a.example"), Err(PlanError::Transport(_))));
    assert_eq!(at("sse", "http://a.example").unwrap().notes, [InstallNote::Unencrypted]);
    let headers =
        |headers: Value| plan_remote_json(&json!({ "type": "sse", "url": "https://a.example", "headers": headers }));
    for wrong in
        [json!([{ "name": "Host" }]), json!([{ "name": "a b" }]), json!([{ "name": "X-A" }, { "name": "x-a" }])]
    {
        assert!(matches!(headers(wrong.clone()), Err(PlanError::Name(_))), "{wrong}");
    }
    let own = json!({ "type": "sse", "url": "{base}/mcp", "variables": { "base": {} } });
    let plan = plan_remote_json(&own).unwrap();
    assert_eq!(plan.notes, [InstallNote::UrlFromInput]);
    assert!(plan.fill(&InputValues::new(), None).is_err(), "a missing variable of the URL must be an error");
    assert!(plan.fill(&input_values(&[("base", &["file:///etc"])]), None).is_err());
    assert_eq!(filled_http(&plan, &[("base", &["https://a.example"])]).url, "https://a.example/mcp");
}
