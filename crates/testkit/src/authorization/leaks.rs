//! Search for leaked credentials: credentials of one server or issuer in the requests to another.

use super::{AuthorizationServer, ProtectedServer};
use crate::http::HttpRequest;

/// Returns a description of each recorded request that contains a credential not meant for its receiver. Empty if
/// nothing leaked.
pub fn find_leaked_credentials(issuers: &[&AuthorizationServer], servers: &[&ProtectedServer]) -> Vec<String> {
    let mut found = Vec::new();
    let all_issuers: Vec<(String, Vec<HttpRequest>)> =
        issuers.iter().map(|i| (i.issuer(), i.received_requests())).collect();
    let all_servers: Vec<(String, Vec<HttpRequest>)> =
        servers.iter().map(|s| (s.url(), s.received_requests())).collect();
    for issuer in issuers {
        let home = issuer.issuer();
        for belonging in issued_credentials_with_receivers(issuer) {
            for (place, requests) in &all_issuers {
                let may = belonging.at_issuer && *place == home;
                found.extend(describe_leak(&belonging, &home, place, requests, may));
            }
            for (place, requests) in &all_servers {
                let may = belonging.at_server.as_deref() == Some(place);
                found.extend(describe_leak(&belonging, &home, place, requests, may));
            }
        }
    }
    found
}

struct CredentialWithReceivers {
    what: &'static str,
    text: String,
    /// Set if clients may send the credential to the authorization server that issued it.
    at_issuer: bool,
    /// URL of the only MCP server that may receive the credential, or `None` if no MCP server may.
    at_server: Option<String>,
}

/// Returns all credentials that an authorization server issued, each with its permitted receivers.
fn issued_credentials_with_receivers(issuer: &AuthorizationServer) -> Vec<CredentialWithReceivers> {
    let issued = issuer.state.issued();
    let home =
        |what, text: &String| CredentialWithReceivers { what, text: text.clone(), at_issuer: true, at_server: None };
    let mut all: Vec<CredentialWithReceivers> = issued.clients.keys().map(|id| home("client id", id)).collect();
    all.extend(issued.clients.values().filter_map(|client| Some(home("client secret", client.secret.as_ref()?))));
    all.extend(issued.codes.keys().map(|code| home("code", code)));
    all.extend(issued.refresh.keys().map(|token| home("refresh token", token)));
    all.extend(issued.access.iter().map(|(text, token)| CredentialWithReceivers {
        what: "access token",
        text: text.clone(),
        // A client sends an access token to the issuer to revoke it.
        at_issuer: true,
        at_server: token.grant.resource.clone(),
    }));
    all
}

fn describe_leak(
    belonging: &CredentialWithReceivers,
    home: &str,
    place: &str,
    requests: &[HttpRequest],
    may: bool,
) -> Option<String> {
    let has = |request: &&HttpRequest| {
        request.head.contains(&belonging.text) || String::from_utf8_lossy(&request.body).contains(&belonging.text)
    };
    let request = requests.iter().filter(|_| !may).find(has)?;
    let CredentialWithReceivers { what, .. } = belonging;
    Some(format!("a {what} of {home} got to {place}: {} {}", request.method, request.path))
}
