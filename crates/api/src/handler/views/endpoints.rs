//! Where a sign-in sends credentials: the settings that say so, and the endpoints that were found.

use credentials::sign_in::{EndpointUse as HostUse, SignInEndpoint as HostEndpoint};
use ports::server_config::{AuthConfig, AuthField as HostField};
use ports::url_parts::UrlParts as HostUrl;

use super::question::url_parts;
use crate::data::{AuthField, AuthSetting, EndpointUse, SignInEndpoint};

/// The settings of a sign-in, as they are hashed.
pub(super) fn settings(auth: Option<&AuthConfig>) -> Vec<AuthSetting> {
    let terms = auth.map(AuthConfig::terms).unwrap_or_default();
    let provider = terms.iter().find(|term| term.field == HostField::ProviderIssuer).map(|term| term.value.clone());
    let is_elsewhere = |field: HostField, value: &str| {
        field == HostField::ProviderTokenEndpoint && provider.as_ref().is_some_and(|issuer| elsewhere(value, issuer))
    };
    terms
        .into_iter()
        .map(|term| AuthSetting {
            field: field(term.field),
            secret: term.field.is_secret(),
            url: term.field.is_address().then(|| url_parts(HostUrl::of(&term.value))),
            elsewhere: is_elsewhere(term.field, &term.value),
            value: term.value,
        })
        .collect()
}

pub(super) fn endpoint(endpoint: HostEndpoint) -> SignInEndpoint {
    SignInEndpoint {
        purpose: match endpoint.purpose {
            HostUse::Token => EndpointUse::Token,
            HostUse::Provider => EndpointUse::Provider,
            HostUse::Registration => EndpointUse::Registration,
            HostUse::Revocation => EndpointUse::Revocation,
        },
        elsewhere: elsewhere(&endpoint.url, &endpoint.issuer),
        url: url_parts(HostUrl::of(&endpoint.url)),
        issuer: endpoint.issuer,
    }
}

/// True if two addresses have different registrable domains.
pub(super) fn elsewhere(address: &str, issuer: &str) -> bool {
    HostUrl::of(address).domain != HostUrl::of(issuer).domain
}

const fn field(field: HostField) -> AuthField {
    match field {
        HostField::Grant => AuthField::Grant,
        HostField::Issuer => AuthField::Issuer,
        HostField::ClientId => AuthField::ClientId,
        HostField::ClientAuth => AuthField::ClientAuth,
        HostField::ClientSecret => AuthField::ClientSecret,
        HostField::PrivateKey => AuthField::PrivateKey,
        HostField::Algorithm => AuthField::Algorithm,
        HostField::ClientMetadataUrl => AuthField::ClientMetadataUrl,
        HostField::RedirectPort => AuthField::RedirectPort,
        HostField::Scopes => AuthField::Scopes,
        HostField::Dpop => AuthField::Dpop,
        HostField::Assertion => AuthField::Assertion,
        HostField::ProviderIssuer => AuthField::ProviderIssuer,
        HostField::ProviderTokenEndpoint => AuthField::ProviderTokenEndpoint,
        HostField::ProviderClientId => AuthField::ProviderClientId,
        HostField::ProviderClientAuth => AuthField::ProviderClientAuth,
        HostField::ProviderClientSecret => AuthField::ProviderClientSecret,
        HostField::ProviderPrivateKey => AuthField::ProviderPrivateKey,
        HostField::ProviderAlgorithm => AuthField::ProviderAlgorithm,
        HostField::ProviderIdToken => AuthField::ProviderIdToken,
    }
}
