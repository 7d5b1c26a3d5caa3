//! Sign-in settings and endpoints, as a consent request displays them.

use serde::Serialize;
use ts_rs::TS;

use super::{AuthField, UrlParts};

/// Sign-in setting of a server, displayed in a consent request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuthSetting {
    /// Name of the setting that the value belongs to.
    pub field: AuthField,
    /// Value of the setting. For a secret, the name of the secret.
    pub value: String,
    /// `true` if the setting is a secret, so that `value` is its name.
    pub secret: bool,
    /// Value parsed into its parts, if it is a URL.
    pub url: Option<UrlParts>,
    /// `true` if the URL is on another domain than the configured issuer.
    pub is_on_other_domain: bool,
}

/// Endpoint that receives credentials, codes or tokens during or after a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInEndpoint {
    /// Purpose for which the endpoint receives data.
    pub purpose: EndpointUse,
    /// URL of the endpoint, parsed into its parts.
    pub url: UrlParts,
    /// Issuer identifier of the authorization server whose metadata lists the endpoint.
    pub issuer: String,
    /// `true` if the endpoint is on another domain than the issuer.
    pub is_on_other_domain: bool,
}

/// Purpose of an endpoint in a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EndpointUse {
    /// Token endpoint, which issues and refreshes tokens for the server.
    Token,
    /// Token endpoint of the enterprise identity provider, which issues an assertion of the user's identity.
    Provider,
    /// Endpoint for dynamic client registration.
    Registration,
    /// Endpoint for token revocation.
    Revocation,
}
