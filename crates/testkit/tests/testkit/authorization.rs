//! Tests of the scripted authorization server, so that its faults are not mistaken for faults of a client.

use serde_json::{Value, json};
use testkit::authorization::{
    AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer, RefusalBehaviour,
    find_leaked_credentials,
};
use testkit::browser;
use url::Url;

/// HTTP status, head and JSON body of a response.
type HttpReply = (u16, String, Value);

async fn send(method: &str, url: &str, headers: &str, body: &str) -> HttpReply {
    let page = browser::send(url, method, headers, body).await.unwrap();
    (page.status, page.head, serde_json::from_str(&page.body).unwrap_or_default())
}

async fn call_echo_with_token(server: &ProtectedServer, token: &str) -> HttpReply {
    let headers = format!("authorization: Bearer {token}\r\n");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": { "name": "echo", "arguments": { "text": "hello" } } });
    send("POST", &server.url(), &headers, &body.to_string()).await
}

/// Registers a client, requests an authorization code and exchanges it for tokens. Returns the client id and the token
/// response.
async fn sign_in(issuer: &AuthorizationServer, server: &ProtectedServer, scope: &str) -> (String, Value) {
    let redirect = "http://127.0.0.1:1/callback";
    let registration = json!({ "redirect_uris": [redirect], "token_endpoint_auth_method": "none" }).to_string();
    let (status, _, client) = send("POST", &format!("{}/register", issuer.issuer()), "", &registration).await;
    assert_eq!(status, 201, "a client should be registered");
    let client = client["client_id"].as_str().unwrap().to_owned();
    let verifier = "verifier-of-a-length-that-the-specification-wants";
    // The PKCE code challenge is the SHA-256 hash of the verifier in base64url.
    let challenge = {
        use base64::Engine as _;
        use sha2::Digest as _;
        base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(sha2::Sha256::digest(verifier))
    };
    let mut url = Url::parse(&format!("{}/authorize", issuer.issuer())).unwrap();
    url.query_pairs_mut().extend_pairs([
        ("response_type", "code"),
        ("client_id", &client),
        ("redirect_uri", redirect),
        ("state", "s"),
        ("scope", scope),
        ("resource", &server.url()),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]);
    let (status, head, _) = send("GET", url.as_str(), "", "").await;
    assert_eq!(status, 302, "the user should be signed in without a page");
    let location = head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    let location = Url::parse(location).unwrap();
    let get = |name: &str| location.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned());
    assert_eq!(
        (get("state"), get("iss")),
        (Some("s".into()), Some(issuer.issuer())),
        "the redirect should contain the state and the issuer"
    );
    let code = get("code").unwrap();
    let form = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("client_id", &client),
            ("redirect_uri", redirect),
            ("code_verifier", verifier),
            ("resource", &server.url()),
        ])
        .finish();
    let token_endpoint = format!("{}/token", issuer.issuer());
    let (status, _, tokens) = send("POST", &token_endpoint, "", &form).await;
    assert_eq!(status, 200, "the code should be accepted: {tokens}");
    (client, tokens)
}

async fn request_token_refresh(issuer: &AuthorizationServer, client: &str, token: &Value) -> HttpReply {
    let form = format!("grant_type=refresh_token&client_id={client}&refresh_token={}", token.as_str().unwrap());
    send("POST", &format!("{}/token", issuer.issuer()), "", &form).await
}

#[tokio::test]
async fn client_signs_in_and_its_token_is_valid_for_its_server_only() {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let script = ProtectedScript { tool_scopes: [("echo".into(), "write".into())].into(), ..Default::default() };
    let server = ProtectedServer::start(script, &[&issuer]).await;
    let other = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;

    let (status, head, _) = send("POST", &server.url(), "", "{}").await;
    assert_eq!(status, 401, "a request without a token should be refused");
    let metadata = head.split("resource_metadata=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let (_, _, document) = send("GET", metadata, "", "").await;
    assert_eq!(document["authorization_servers"], json!([issuer.issuer()]), "the header should lead to the issuer");

    let (_, tokens) = sign_in(&issuer, &server, "write").await;
    let token = tokens["access_token"].as_str().unwrap();
    let (status, _, response) = call_echo_with_token(&server, token).await;
    assert_eq!((status, &response["result"]["content"][0]["text"]), (200, &json!("hello")), "the call should succeed");
    assert_eq!(find_leaked_credentials(&[&issuer], &[&server, &other]), [""; 0], "nothing should have leaked so far");
    assert_eq!(call_echo_with_token(&other, token).await.0, 401, "a token for another server should be refused");
    let found = find_leaked_credentials(&[&issuer], &[&server, &other]);
    assert_eq!(found.len(), 1, "the leaked token should be reported: {found:?}");

    let (_, tokens) = sign_in(&issuer, &server, "read").await;
    let (status, head, _) = call_echo_with_token(&server, tokens["access_token"].as_str().unwrap()).await;
    assert_eq!(status, 403, "the scope should be insufficient");
    assert!(
        head.contains("error=\"insufficient_scope\", scope=\"write\""),
        "the challenge should contain the required scope: {head}"
    );

    server.set(|script| script.refusing = RefusalBehaviour::Unauthorized);
    assert_eq!(call_echo_with_token(&server, token).await.0, 401, "every request should be refused");
}

#[tokio::test]
async fn refresh_token_is_valid_once_and_revoked_token_is_invalid() {
    let issuer = AuthorizationServer::start(AuthorizationScript::default()).await;
    let server = ProtectedServer::start(ProtectedScript::default(), &[&issuer]).await;
    let (client, first) = sign_in(&issuer, &server, "").await;
    let (status, _, second) = request_token_refresh(&issuer, &client, &first["refresh_token"]).await;
    assert_eq!(status, 200, "the refresh token should be accepted: {second}");
    assert_ne!(first["refresh_token"], second["refresh_token"], "the refresh token should be replaced");
    assert_eq!(
        call_echo_with_token(&server, second["access_token"].as_str().unwrap()).await.0,
        200,
        "the new access token should be accepted"
    );
    assert_eq!(
        request_token_refresh(&issuer, &client, &first["refresh_token"]).await.0,
        400,
        "the old refresh token should be refused"
    );
    assert_eq!(issuer.valid_token_counts(), (0, 0), "reusing a refresh token should invalidate its family");

    let (_, tokens) = sign_in(&issuer, &server, "").await;
    let form = format!("token={}", tokens["refresh_token"].as_str().unwrap());
    send("POST", &format!("{}/revoke", issuer.issuer()), "", &form).await;
    assert_eq!(issuer.valid_token_counts(), (0, 0), "revoking a refresh token should revoke its access tokens");
    assert_eq!(issuer.token_requests("refresh_token").len(), 2, "the token requests should be recorded");
}
