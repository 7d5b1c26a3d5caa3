//! Where a sign-in sends credentials.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::UrlParts;

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

/// The settings of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AuthField {
    /// How tokens are got.
    Grant,
    /// The authorization server.
    Issuer,
    /// The client id there.
    ClientId,
    /// How the client proves who it is there.
    ClientAuth,
    /// The name of the client secret.
    ClientSecret,
    /// The name of the private key.
    PrivateKey,
    /// The algorithm of the private key.
    Algorithm,
    /// The document that describes the client.
    ClientMetadataUrl,
    /// The port of the redirect URI.
    RedirectPort,
    /// The scopes to ask for.
    Scopes,
    /// The binding of tokens to a key.
    Dpop,
    /// The name of the workload's assertion.
    Assertion,
    /// The identity provider.
    ProviderIssuer,
    /// The identity provider's token endpoint.
    ProviderTokenEndpoint,
    /// The client id at the identity provider.
    ProviderClientId,
    /// How the client proves who it is at the identity provider.
    ProviderClientAuth,
    /// The name of the client secret for the identity provider.
    ProviderClientSecret,
    /// The name of the private key for the identity provider.
    ProviderPrivateKey,
    /// The algorithm of the private key for the identity provider.
    ProviderAlgorithm,
    /// The name of the user's ID token.
    ProviderIdToken,
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
