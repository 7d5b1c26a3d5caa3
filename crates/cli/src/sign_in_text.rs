//! Describes sign-ins: the consent request, the account, and the recorded steps.

use api::data::{
    Account, Authorization, ClientIdentity, ConsentRequestBody, SignInFailure, SignInReason, SignInStep, TokenStorage,
    UrlParts,
};

use crate::endpoints;
use crate::table::format_time;
use crate::terminal_escape::{escape_and_prefix_lines, escape_line};

/// Describes the data that a sign-in would send and its receivers. Returns `None` if the consent request is not about a
/// sign-in. `address` formats a URL with its warnings.
pub(crate) fn sign_in_request_text(
    server: &str,
    body: &ConsentRequestBody,
    address: impl Fn(&UrlParts) -> String,
) -> Option<String> {
    match body {
        ConsentRequestBody::SignIn {
            url,
            issuer,
            resource,
            scopes,
            held_scopes,
            client,
            client_id,
            endpoints: used,
            redirect_uri,
            authorization_url,
            is_page_on_other_domain,
            reason,
            ..
        } => {
            let mut text = match authorization_url {
                Some(page) => authorization_page_text(server, url, page, &address),
                None => format!("── Get a token for {server}? Drawbridge requests it directly; no page opens.\n"),
            };
            if *is_page_on_other_domain {
                let issuer = escape_line(issuer);
                text.push_str(&format!("  WARNING: this page is outside the domain of its issuer {issuer}\n"));
            }
            match reason {
                SignInReason::SignIn => {}
                SignInReason::ChangeAccount => text.push_str("  You can choose another account on it.\n"),
                SignInReason::StepUp { operation } => {
                    text.push_str(&format!(
                        "  For {} the server requires more permissions than you granted.\n",
                        escape_line(operation)
                    ));
                }
                SignInReason::Again { cause } => text.push_str(&format!("  Required again: {}\n", escape_line(cause))),
            }
            let note = if authorization_url.is_some() { "Sent to the page" } else { "Permissions" };
            text.push_str(&format!("  {note}:\n"));
            let client_id = format!("Drawbridge, as {} ({})", escape_line(client_id), client_identity_text(*client));
            let back = redirect_uri.as_deref().map(|uri| ("and back to", escape_line(uri)));
            let rows = [("client", client_id), ("resource", escape_line(resource))];
            for (name, words) in rows.into_iter().chain(back) {
                text.push_str(&format!("    {name:<12} {words}\n"));
            }
            for scope in scopes {
                let note = if held_scopes.is_empty() {
                    ""
                } else if held_scopes.contains(scope) {
                    "  (as before)"
                } else {
                    "  (NEW)"
                };
                text.push_str(&format!("    {:<12} {}{note}\n", "scope", oauth_scope_line(scope)));
            }
            if scopes.is_empty() {
                text.push_str("    no scope; the issuer decides what is granted\n");
            }
            text.push_str(&endpoints::sign_in_endpoints_text(used));
            if url_path(resource).len() < url_path(&url.url).len() {
                let place = escape_line(resource);
                text.push_str(&format!("  The token will be valid for all of {place}, not only for this server.\n"));
            }
            text.push_str(&format!(
                "  {server} then receives a token from {} with each request.\n",
                escape_line(issuer)
            ));
            Some(text)
        }
        ConsentRequestBody::ClientId { issuer_url, redirect_uri, .. } => {
            let mut text = format!(
                "── {server} requires a client id to sign you in. Enter the one that you received for this page:\n"
            );
            text.push_str(&address(issuer_url));
            text.push_str("  Its operator issues one for an app with this redirect URI:\n");
            text.push_str(&format!("    {}\n", escape_line(redirect_uri)));
            Some(text)
        }
        _ => None,
    }
}

/// Describes the authorization page that the browser would open, with a note if its domain differs from the server's.
fn authorization_page_text(
    server: &str,
    url: &UrlParts,
    page: &UrlParts,
    address: impl Fn(&UrlParts) -> String,
) -> String {
    let mut text = format!("── Sign in to {server}? You sign in on this page, in your browser:\n");
    text.push_str(&address(page));
    if url.domain != page.domain {
        text.push_str(&format!("  It is not at the domain of the server, which is {}\n", escape_line(&url.domain)));
    }
    text
}

/// Returns the path of a URL without a trailing slash.
fn url_path(address: &str) -> &str {
    let (_, rest) = address.split_once("://").unwrap_or_default();
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    rest.split_once('/').map_or("", |(_, path)| path.trim_end_matches('/'))
}

/// Describes the authorization state of a remote server: its account and its sign-in.
pub(crate) fn authorization_text(known: &Authorization) -> String {
    let mut text = String::new();
    if let Some(cause) = &known.unsupported_reason {
        text.push_str(&format!("no sign-in: {}\n", escape_line(cause)));
    }
    match &known.account {
        Some(account) => text.push_str(&account_text(account)),
        None if known.unsupported_reason.is_none() => text.push_str("not signed in\n"),
        None => {}
    }
    if let Some(persistence) = &known.token_storage {
        let words = match persistence {
            TokenStorage::Keychain => String::from("encrypted, under a key in the keychain"),
            TokenStorage::ThisRun { cause } => format!("until this program ends: {}", escape_line(cause)),
        };
        text.push_str(&sign_in_detail_line("tokens stored", &words));
    }
    if let Some(cause) = &known.failure_message {
        text.push_str(&sign_in_detail_line(
            if known.failure == Some(SignInFailure::Declined) { "last sign-in" } else { "last failed" },
            &escape_line(cause),
        ));
    }
    text
}

fn account_text(account: &Account) -> String {
    let scopes: Vec<String> = account.scopes.iter().map(|scope| oauth_scope_line(scope)).collect();
    let scopes = if scopes.is_empty() { String::from("unknown") } else { scopes.join(", ") };
    let until = account.expires_at.map_or_else(|| String::from("unknown"), format_time);
    let renewal = if account.can_refresh { "renewed automatically" } else { "not renewed" };
    let mut text = sign_in_detail_line("signed in at", &escape_line(&account.issuer));
    text.push_str(&sign_in_detail_line("for", &escape_line(&account.resource)));
    text.push_str(&sign_in_detail_line("known by", client_identity_text(account.client)));
    text.push_str(&sign_in_detail_line("scopes", &scopes));
    text.push_str(&sign_in_detail_line("since", &format_time(account.signed_in_at)));
    text.push_str(&sign_in_detail_line("until", &format!("{until}, {renewal}")));
    if let Some(at) = account.refreshed_at {
        text.push_str(&sign_in_detail_line("last renewed", &format_time(at)));
    }
    if account.is_dpop_bound {
        text.push_str(&sign_in_detail_line("bound to", "a key of this computer (DPoP)"));
    }
    if let Some(cause) = &account.reauthentication_reason {
        text.push_str(&sign_in_detail_line("ENDED", &escape_line(cause)));
    }
    text
}

/// Formats all requests and responses of a sign-in. Their secrets are already redacted by the host.
pub(crate) fn sign_in_steps_text(steps: &[SignInStep]) -> String {
    let mut text = String::new();
    for (number, step) in (1..).zip(steps) {
        text.push_str(&format!("{number}. {} ({} ms)\n", escape_line(&step.purpose), step.duration_milliseconds));
        for (mark, message) in [("  > ", &step.request), ("  < ", &step.response)] {
            text.push_str(
                &message.as_deref().map(|message| escape_and_prefix_lines(message, mark)).unwrap_or_default(),
            );
        }
        let mark = if step.failed { "FAILED: " } else { "" };
        text.push_str(&escape_and_prefix_lines(&format!("{mark}{}", step.conclusion), "  = "));
    }
    text
}

fn sign_in_detail_line(name: &str, words: &str) -> String {
    format!("{name:<13} {words}\n")
}

const fn client_identity_text(client: ClientIdentity) -> &'static str {
    match client {
        ClientIdentity::Configured => "the client ID in the settings",
        ClientIdentity::MetadataDocument => "client metadata document",
        ClientIdentity::Registered => "registered by Drawbridge",
        ClientIdentity::Entered => "the client ID that was entered",
    }
}

/// Formats a scope, with an explanation if OpenID Connect Core 1.0 defines it (sections 5.4 and 11).
fn oauth_scope_line(scope: &str) -> String {
    let meaning = match scope {
        "openid" => " (know which account is yours)",
        "profile" => " (see your name and picture)",
        "email" => " (see your email address)",
        "address" => " (see your postal address)",
        "phone" => " (see your phone number)",
        "offline_access" => " (stay signed in)",
        _ => "",
    };
    format!("{}{meaning}", escape_line(scope))
}
