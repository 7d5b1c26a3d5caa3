//! Where a sign-in sends credentials.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{AuthField, UrlParts};

/// One setting of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuthSetting {
    /// Which one.
    pub field: AuthField,
    /// Its value. Of a secret the value is its name.
    pub value: String,
    /// True if the value is the name of a secret.
    pub secret: bool,
    /// The value taken apart, if it is an address.
    pub url: Option<UrlParts>,
    /// True for an endpoint of another domain than the issuer beside it.
    pub elsewhere: bool,
}

/// An address that gets something of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SignInEndpoint {
    /// The use of it.
    pub purpose: EndpointUse,
    /// The address, taken apart.
    pub url: UrlParts,
    /// The authorization server whose endpoint it is said to be.
    pub issuer: String,
    /// True if it belongs to another domain than that.
    pub elsewhere: bool,
}

/// The use of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EndpointUse {
    /// Gives and renews tokens for the server.
    Token,
    /// The identity provider's: it says who the user is.
    Provider,
    /// Drawbridge registered itself there.
    Registration,
    /// Tokens are sent there to be revoked.
    Revocation,
}
