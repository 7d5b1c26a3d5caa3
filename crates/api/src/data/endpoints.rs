//! Endpoints that receive credentials during a sign-in.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{AuthField, UrlParts};

/// Sign-in setting of a server, as displayed in a consent request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuthSetting {
    /// Kind of the setting.
    pub field: AuthField,
    /// Value of the setting, or the name of the secret if it is one.
    pub value: String,
    /// `true` if the value is the name of a secret.
    pub secret: bool,
    /// Value parsed into its parts, if it is a URL.
    pub url: Option<UrlParts>,
    /// `true` if the endpoint belongs to another domain than the configured issuer.
    pub elsewhere: bool,
}

/// Endpoint that receives data of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInEndpoint {
    /// Purpose of the endpoint.
    pub purpose: EndpointUse,
    /// URL of the endpoint, parsed into its parts.
    pub url: UrlParts,
    /// Issuer of the authorization server that lists the endpoint.
    pub issuer: String,
    /// `true` if the endpoint belongs to another domain than the issuer.
    pub elsewhere: bool,
}

/// Purpose of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EndpointUse {
    /// Token endpoint, which issues and refreshes tokens for the server.
    Token,
    /// Token endpoint of the identity provider, which identifies the user.
    Provider,
    /// Endpoint for dynamic client registration.
    Registration,
    /// Endpoint for token revocation.
    Revocation,
}
