//! Whether anything of one server, issuer or resource got to another.

use super::{AuthorizationServer, ProtectedServer};
use crate::http::Request;

/// Every place where something turned up that does not belong there, in words. Empty: nothing did.
pub fn leaks(issuers: &[&AuthorizationServer], servers: &[&ProtectedServer]) -> Vec<String> {
    let mut found = Vec::new();
    let all_issuers: Vec<(String, Vec<Request>)> = issuers.iter().map(|i| (i.issuer(), i.seen())).collect();
    let all_servers: Vec<(String, Vec<Request>)> = servers.iter().map(|s| (s.url(), s.seen())).collect();
    for issuer in issuers {
        let home = issuer.issuer();
        for belonging in belongings(issuer) {
            for (place, requests) in &all_issuers {
                let may = belonging.at_issuer && *place == home;
                found.extend(turned_up(&belonging, &home, place, requests, may));
            }
            for (place, requests) in &all_servers {
                let may = belonging.at_server.as_deref() == Some(place);
                found.extend(turned_up(&belonging, &home, place, requests, may));
            }
        }
    }
    found
}

struct Belonging {
    what: &'static str,
    text: String,
    /// Whether it may be sent back to where it came from.
    at_issuer: bool,
    /// The MCP server that may get it.
    at_server: Option<String>,
}

/// What an authorization server gave away, and where it may turn up.
fn belongings(issuer: &AuthorizationServer) -> Vec<Belonging> {
    let issued = issuer.state.issued();
    let home = |what, text: &String| Belonging { what, text: text.clone(), at_issuer: true, at_server: None };
    let mut all: Vec<Belonging> = issued.clients.keys().map(|id| home("client id", id)).collect();
    all.extend(issued.clients.values().filter_map(|client| Some(home("client secret", client.secret.as_ref()?))));
    all.extend(issued.codes.keys().map(|code| home("code", code)));
    all.extend(issued.refresh.keys().map(|token| home("refresh token", token)));
    all.extend(issued.access.iter().map(|(text, token)| Belonging {
        what: "access token",
        text: text.clone(),
        // Only to be revoked.
        at_issuer: true,
        at_server: token.grant.resource.clone(),
    }));
    all
}

fn turned_up(belonging: &Belonging, home: &str, place: &str, requests: &[Request], may: bool) -> Option<String> {
    let has = |request: &&Request| {
        request.head.contains(&belonging.text) || String::from_utf8_lossy(&request.body).contains(&belonging.text)
    };
    let request = requests.iter().filter(|_| !may).find(has)?;
    let Belonging { what, .. } = belonging;
    Some(format!("a {what} of {home} got to {place}: {} {}", request.method, request.path))
}
