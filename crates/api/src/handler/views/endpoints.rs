//! Conversion of configured and discovered sign-in endpoints for the page.

use credentials::sign_in::{EndpointUse as HostUse, SignInEndpoint as HostEndpoint};
use ports::server_config::AuthConfig;

use crate::data::{AuthField, AuthSetting, EndpointUse, SignInEndpoint, UrlParts};

/// Converts a server's sign-in settings to a list for a consent request, in the order in which the approval's hash
/// includes them.
pub(super) fn auth_settings_view(auth: Option<&AuthConfig>) -> Vec<AuthSetting> {
    let terms = auth.map(AuthConfig::field_values).unwrap_or_default();
    let provider = terms.iter().find(|term| term.field == AuthField::ProviderIssuer).map(|term| term.value.clone());
    let is_elsewhere = |field: AuthField, value: &str| {
        field == AuthField::ProviderTokenEndpoint
            && provider.as_ref().is_some_and(|issuer| has_other_registrable_domain(value, issuer))
    };
    terms
        .into_iter()
        .map(|term| AuthSetting {
            field: term.field,
            secret: term.field.is_secret(),
            url: term.field.is_address().then(|| UrlParts::parse(&term.value)),
            is_on_other_domain: is_elsewhere(term.field, &term.value),
            value: term.value,
        })
        .collect()
}

pub(super) fn endpoint_view(endpoint: HostEndpoint) -> SignInEndpoint {
    SignInEndpoint {
        purpose: match endpoint.purpose {
            HostUse::Token => EndpointUse::Token,
            HostUse::Provider => EndpointUse::Provider,
            HostUse::Registration => EndpointUse::Registration,
            HostUse::Revocation => EndpointUse::Revocation,
        },
        is_on_other_domain: has_other_registrable_domain(&endpoint.url, &endpoint.issuer),
        url: UrlParts::parse(&endpoint.url),
        issuer: endpoint.issuer,
    }
}

/// Returns `true` if two URLs have different registrable domains.
pub(super) fn has_other_registrable_domain(address: &str, issuer: &str) -> bool {
    UrlParts::parse(address).domain != UrlParts::parse(issuer).domain
}
