//! Data of a sign-in for the user: its consent request and its progress. Used by `host/src/owner/sign_in`.

use credentials::sign_in::conversion::{client_identity, endpoint_view, to_sign_in_phase, to_sign_in_reason};
use credentials::sign_in::{SignInPhase, SignInProgress};
use domain::Millis;
use mcp_auth::{AuthPhase, AuthProgress, AuthReason, ConsentPrompt};
use url::Url;

use crate::view::ConsentRequestBody;

/// Data about a sign-in in progress that is displayed to the user in addition to its phase.
#[derive(Debug, Clone)]
pub struct DisplayedSignInProgress {
    /// Reason why the sign-in was started.
    pub reason: AuthReason,
    /// Time at which the sign-in was started.
    pub since: Millis,
    /// Redirect URI of the sign-in, or `None` before it is known.
    pub redirect_uri: Option<Url>,
    /// End of the wait for the browser, or `None` before the browser was opened.
    pub ends_at: Option<Millis>,
    /// Reason why the browser could not be opened, if it failed.
    pub browser_problem: Option<String>,
}

impl DisplayedSignInProgress {
    /// Returns the data to display about a sign-in that has just been started.
    #[must_use]
    pub const fn new(reason: AuthReason, since: Millis) -> Self {
        Self { reason, since, redirect_uri: None, ends_at: None, browser_problem: None }
    }
}

/// Returns the consent request for a sign-in.
#[must_use]
pub fn sign_in_consent_body(consent: ConsentPrompt) -> ConsentRequestBody {
    ConsentRequestBody::SignIn {
        url: consent.server.into(),
        issuer: consent.issuer,
        resource: consent.resource,
        held_scopes: consent.scopes.iter().filter(|scope| !consent.new_scopes.contains(scope)).cloned().collect(),
        scopes: consent.scopes,
        client: client_identity(consent.client),
        client_id: consent.client_id,
        endpoints: consent.endpoints.into_iter().map(endpoint_view).collect(),
        redirect_uri: consent.redirect_uri.map(Into::into),
        authorization_url: consent.authorize_url.map(Into::into),
        reason: to_sign_in_reason(consent.reason),
    }
}

/// Returns the phase of a sign-in that has just been started, without an authorization URL.
#[must_use]
pub const fn initial_sign_in_progress() -> AuthProgress {
    AuthProgress { phase: AuthPhase::ResourceMetadata, authorize_url: None }
}

/// Returns the view of a sign-in's progress for observers.
#[must_use]
pub fn sign_in_progress_view(progress: AuthProgress, displayed: &DisplayedSignInProgress) -> SignInProgress {
    let phase = to_sign_in_phase(progress.phase);
    let waits = phase == SignInPhase::AwaitingBrowser;
    SignInProgress {
        phase,
        reason: to_sign_in_reason(displayed.reason.clone()),
        since: displayed.since,
        ends_at: displayed.ends_at.filter(|_| waits),
        authorization_url: progress.authorize_url.filter(|_| waits).map(Into::into),
        redirect_uri: displayed.redirect_uri.clone().filter(|_| waits).map(Into::into),
        browser_problem: displayed.browser_problem.clone().filter(|_| waits),
    }
}

/// Checks that a URL pasted by the user is the redirect URI with an authorization response.
///
/// # Errors
///
/// Returns a description of the problem for the user.
pub fn check_pasted_redirect(address: &str, redirect_uri: &str) -> Result<(), String> {
    let (Ok(pasted), Ok(expected)) = (Url::parse(address), Url::parse(redirect_uri)) else {
        return Err(format!("it must begin with {redirect_uri}"));
    };
    if (pasted.origin(), pasted.path()) != (expected.origin(), expected.path()) {
        return Err(format!("it must begin with {redirect_uri}"));
    }
    let has = |name: &str| pasted.query_pairs().any(|(key, _)| key == name);
    if has("state") && (has("code") || has("error")) {
        Ok(())
    } else {
        Err("it contains no response; copy the complete address".to_owned())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcp_auth::{AuthEndpoint, AuthReason, ClientKind, EndpointUse as AuthUse};

    use super::*;
    use crate::consent_payload_hash;

    #[test]
    fn only_a_complete_redirect_url_is_accepted() {
        let expected = "http://127.0.0.1:4321/callback";
        let cases = [
            ("http://127.0.0.1:4321/callback?code=a&state=b", true),
            ("http://127.0.0.1:4321/callback?error=access_denied&state=b&iss=x", true),
            ("http://127.0.0.1:4321/callback?code=a", false),
            ("http://127.0.0.1:4321/callback?state=b", false),
            ("http://127.0.0.1:4321/other?code=a&state=b", false),
            ("http://127.0.0.1:4322/callback?code=a&state=b", false),
            ("https://evil.example/callback?code=a&state=b", false),
            ("code=a&state=b", false),
        ];
        for (address, is_taken) in cases {
            assert_eq!(check_pasted_redirect(address, expected).is_ok(), is_taken, "validity of {address}");
        }
    }

    #[test]
    fn s07_another_endpoint_changes_the_consent_hash() {
        let consent = |token: &str, purpose: AuthUse| {
            sign_in_consent_body(ConsentPrompt {
                server: "https://mcp.example/".parse().unwrap(),
                resource: "https://mcp.example/".to_owned(),
                issuer: "https://as.example".to_owned(),
                scopes: Vec::new(),
                new_scopes: Vec::new(),
                client: ClientKind::Registered,
                client_id: "us".to_owned(),
                endpoints: vec![AuthEndpoint {
                    purpose,
                    url: token.parse().unwrap(),
                    issuer: "https://as.example".to_owned(),
                }],
                authorize_url: None,
                redirect_uri: None,
                reason: AuthReason::SignIn,
            })
        };
        let hash = |token, purpose| consent_payload_hash("s", &consent(token, purpose), None);
        let own = hash("https://as.example/token", AuthUse::Token);
        assert_ne!(own, hash("https://evil.example/token", AuthUse::Token), "S07: the hash depends on the endpoint");
        assert_ne!(
            own,
            hash("https://as.example/token", AuthUse::Revocation),
            "S07: the hash depends on the purpose of the endpoint"
        );
    }
}
