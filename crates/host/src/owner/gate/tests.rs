//! Tests that a departure authorizes exactly one payload, once.

use mcp_proto::types::ElicitResult;
use serde_json::Map;

use super::*;

#[test]
fn s07_only_what_is_made_for_one_use_may_differ_in_a_sign_in_page() {
    let shown = "https://as.example/authorize?response_type=code&client_id=c&code_challenge_method=S256&scope=read";
    let opens = |opened: &str| {
        let departure = SendPermit { to: "far".to_owned(), leaves: sign_in_page_hash(shown) };
        departure.authorize_sign_in_url("far", opened.to_owned()).is_ok()
    };
    assert!(
        opens(&format!("{shown}&state=a&code_challenge=b&nonce=c")),
        "parameters generated per use are not part of the hash"
    );
    let others = [
        shown.replace("scope=read", "scope=read+write"),
        shown.replace("client_id=c", "client_id=d"),
        shown.replace("S256", "plain"),
        shown.replace("&scope=read", ""),
        format!("{shown}&redirect_uri=https%3A%2F%2Fevil.example%2F"),
        format!("{shown}&scope=write"),
        format!("{shown}#part"),
        shown.replace("authorize", "other"),
        "https://as.example/authorize?client_id=c&response_type=code&code_challenge_method=S256&scope=read".to_owned(),
    ];
    for other in others {
        assert!(!opens(&other), "{other} differs from the displayed URL");
    }
}

#[test]
fn a_refusal_tells_nothing_that_was_entered() {
    let elicited = |action, content| ClientResponse::Elicitation(ElicitResult { action, content });
    for harmless in
        [elicited(ElicitAction::Decline, None), elicited(ElicitAction::Cancel, None), ClientResponse::Roots(vec![])]
    {
        assert_eq!(refuses(harmless.clone()).into_inner(), harmless, "a denial without content is sent unmodified");
    }
    let entered = || Some(Map::new());
    for telling in [
        elicited(ElicitAction::Accept, None),
        elicited(ElicitAction::Accept, entered()),
        elicited(ElicitAction::Decline, entered()),
    ] {
        let left = refuses(telling.clone()).into_inner();
        assert!(matches!(left, ClientResponse::Refused { .. }), "{telling:?} is replaced: {left:?}");
    }
}

#[test]
fn a_link_is_opened_at_the_address_that_was_shown_or_not_at_all() {
    let opened = |url: &str| followed_link(UrlParts::parse(url)).map(AuthorizedPayload::into_inner);
    assert_eq!(opened("https://a.example/x?y=1").as_deref(), Some("https://a.example/x?y=1"));
    assert_eq!(opened("javascript:alert(1)"), None, "a script URL is not opened");
}
