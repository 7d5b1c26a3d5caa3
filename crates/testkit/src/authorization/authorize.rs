//! Authorization endpoint. If the client or its redirect URI is unknown, errors are shown on a page, and otherwise they
//! are part of the redirect.

use std::io;

use url::Url;

use super::issued::{IssuedAuthorizationCode, IssuedGrant};
use super::script::{AuthorizationBehaviour, AuthorizationScript, IssParameter};
use super::{AuthorizationServerState, parameter_value, random_text_with_prefix};
use crate::http::{HttpRequest, HttpResponder};

pub(super) async fn respond_to_authorization(
    state: &AuthorizationServerState,
    script: &AuthorizationScript,
    issuer: &str,
    request: &HttpRequest,
    mut answer: HttpResponder,
) -> io::Result<()> {
    let query = request.query();
    let get = |name: &str| parameter_value(&query, name);
    let client = get("client_id").unwrap_or_default();
    let redirect_uri = get("redirect_uri").unwrap_or_default();
    let Some(mut redirect) = permitted_redirect_url(state, script, client, redirect_uri) else {
        return answer.respond(400, "content-type: text/plain\r\n", b"the client or its redirect URI is unknown").await;
    };
    if script.authorizing == AuthorizationBehaviour::ShowsPage {
        return answer.respond(200, "content-type: text/html\r\n", b"<title>Sign in</title>").await;
    }
    let challenge = get("code_challenge").filter(|_| get("code_challenge_method") == Some("S256"));
    let ended = match (get("response_type"), challenge, &script.authorizing) {
        (_, _, AuthorizationBehaviour::Denies(error)) => Err(error.as_str()),
        (Some("code"), Some(challenge), authorizing) => {
            let scope = match authorizing {
                AuthorizationBehaviour::GrantsOnly(scope) => scope.clone(),
                _ => get("scope").unwrap_or_default().to_owned(),
            };
            let mut issued = state.issued();
            let family = issued.next_authorization_number();
            let resource = get("resource").map(str::to_owned);
            let grant = IssuedGrant { client: client.to_owned(), scope, resource, family };
            let code = random_text_with_prefix("code");
            let given = IssuedAuthorizationCode {
                grant,
                redirect_uri: redirect_uri.to_owned(),
                challenge: challenge.to_owned(),
                is_used: false,
            };
            issued.codes.insert(code.clone(), given);
            Ok(code)
        }
        _ => Err("invalid_request"),
    };
    {
        let mut pairs = redirect.query_pairs_mut();
        match ended {
            Ok(code) => pairs.append_pair("code", &code),
            Err(error) => pairs.append_pair("error", error),
        };
        if let Some(state) = get("state") {
            pairs.append_pair("state", state);
        }
        match &script.iss {
            IssParameter::Own => drop(pairs.append_pair("iss", issuer)),
            IssParameter::Other(other) => drop(pairs.append_pair("iss", other)),
            IssParameter::Missing => {}
        }
    }
    answer.respond(302, &format!("location: {redirect}\r\n"), b"").await
}

/// Returns the redirect URL if the client may use it, or `None`. The port of a loopback URL is ignored (RFC 8252
/// section 7.3).
fn permitted_redirect_url(
    state: &AuthorizationServerState,
    script: &AuthorizationScript,
    client: &str,
    redirect_uri: &str,
) -> Option<Url> {
    let url = Url::parse(redirect_uri).ok()?;
    let without_port = |text: &str| {
        let mut url = Url::parse(text).ok()?;
        url.set_port(None).ok()?;
        Some(url)
    };
    let registered = state.issued().clients.get(client).map(|client| client.redirect_uris.clone());
    let may = match registered {
        Some(uris) => uris.iter().any(|uri| without_port(uri) == without_port(redirect_uri)),
        None => {
            let is_document = script.client_id_metadata && client.starts_with("https://");
            is_document || script.clients.contains_key(client)
        }
    };
    may.then_some(url)
}
