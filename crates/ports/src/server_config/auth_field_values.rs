//! The sign-in settings as a list. Consent requests display it, pins compare it, and approvals include its hash. A
//! setting that is missing in the list doesn't compile, so no setting can be missing in one of the three.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::auth::{AuthConfig, AuthIdentityProvider};
use crate::secrets;

/// Identifies a sign-in setting of a remote server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AuthField {
    /// OAuth grant type with which Drawbridge obtains tokens.
    Grant,
    /// Issuer of the authorization server.
    Issuer,
    /// Client identifier at the authorization server.
    ClientId,
    /// Client authentication method at the authorization server.
    ClientAuth,
    /// Name of the secret that contains the client secret.
    ClientSecret,
    /// Name of the secret that contains the private key.
    PrivateKey,
    /// Signature algorithm of the private key.
    Algorithm,
    /// URL of the client ID metadata document.
    ClientMetadataUrl,
    /// Port of the redirect URI.
    RedirectPort,
    /// Scopes requested from the authorization server.
    Scopes,
    /// Binding of tokens to a key of this computer (DPoP).
    Dpop,
    /// Name of the secret with the workload's assertion.
    Assertion,
    /// Issuer of the identity provider.
    ProviderIssuer,
    /// Token endpoint of the identity provider.
    ProviderTokenEndpoint,
    /// Client identifier at the identity provider.
    ProviderClientId,
    /// Client authentication method at the identity provider.
    ProviderClientAuth,
    /// Name of the secret that contains the client secret for the identity provider.
    ProviderClientSecret,
    /// Name of the secret that contains the private key for the identity provider.
    ProviderPrivateKey,
    /// Signature algorithm of the private key for the identity provider.
    ProviderAlgorithm,
    /// Name of the secret with the user's ID token.
    ProviderIdToken,
}

impl AuthField {
    /// Returns the key of the setting in the `auth` object of `mcp.json`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Grant => "grant",
            Self::Issuer => "issuer",
            Self::ClientId => "clientId",
            Self::ClientAuth => "clientAuth",
            Self::ClientSecret => "clientSecret",
            Self::PrivateKey => "privateKey",
            Self::Algorithm => "algorithm",
            Self::ClientMetadataUrl => "clientMetadataUrl",
            Self::RedirectPort => "redirectPort",
            Self::Scopes => "scopes",
            Self::Dpop => "dpop",
            Self::Assertion => "assertion",
            Self::ProviderIssuer => "identityProvider.issuer",
            Self::ProviderTokenEndpoint => "identityProvider.tokenEndpoint",
            Self::ProviderClientId => "identityProvider.clientId",
            Self::ProviderClientAuth => "identityProvider.clientAuth",
            Self::ProviderClientSecret => "identityProvider.clientSecret",
            Self::ProviderPrivateKey => "identityProvider.privateKey",
            Self::ProviderAlgorithm => "identityProvider.algorithm",
            Self::ProviderIdToken => "identityProvider.idToken",
        }
    }

    /// Returns `true` if the setting's value is an address to which credentials or the user may be sent.
    #[must_use]
    pub const fn is_address(self) -> bool {
        matches!(self, Self::Issuer | Self::ClientMetadataUrl | Self::ProviderIssuer | Self::ProviderTokenEndpoint)
    }

    /// Returns `true` if the setting's value is the name of a secret.
    #[must_use]
    pub const fn is_secret(self) -> bool {
        matches!(
            self,
            Self::ClientSecret
                | Self::PrivateKey
                | Self::Assertion
                | Self::ProviderClientSecret
                | Self::ProviderPrivateKey
                | Self::ProviderIdToken
        )
    }
}

/// One sign-in setting with its value. For a secret, the value is the secret's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthFieldValue {
    /// Identifies the setting that has this value.
    pub field: AuthField,
    /// Value of the setting as text, not escaped for display. For a secret, its name.
    pub value: String,
}

impl AuthConfig {
    /// Returns the configured sign-in settings, each once, in display order.
    #[must_use]
    pub fn field_values(&self) -> Vec<AuthFieldValue> {
        // No `..`, so that a new field must be added to the list.
        let Self {
            client_id,
            client_secret,
            redirect_port,
            client_auth,
            client_metadata_url,
            issuer,
            scopes,
            grant,
            private_key,
            algorithm,
            identity_provider,
            dpop,
            assertion,
        } = self;
        let mut terms = Vec::new();
        let mut add = |field: AuthField, value: Option<String>| {
            terms.extend(value.map(|value| AuthFieldValue { field, value }));
        };
        add(AuthField::Grant, Some(grant.name().to_owned()));
        add(AuthField::Issuer, issuer.clone());
        if let Some(provider) = identity_provider {
            provider.for_each_setting(&mut add);
        }
        add(AuthField::ClientId, client_id.clone());
        add(AuthField::ClientAuth, client_auth.clone());
        add(AuthField::ClientSecret, client_secret.as_deref().map(secret_name));
        add(AuthField::PrivateKey, private_key.as_deref().map(secret_name));
        add(AuthField::Algorithm, algorithm.clone());
        add(AuthField::ClientMetadataUrl, client_metadata_url.clone());
        add(AuthField::RedirectPort, redirect_port.map(|port| port.to_string()));
        add(AuthField::Scopes, (!scopes.is_empty()).then(|| scopes.join(" ")));
        add(AuthField::Dpop, dpop.map(|dpop| if dpop { "always" } else { "never" }.to_owned()));
        add(AuthField::Assertion, assertion.as_deref().map(secret_name));
        terms
    }

    /// Returns the configured sign-in settings by their keys in `mcp.json`.
    #[must_use]
    pub fn settings_by_key(&self) -> Map<String, Value> {
        self.field_values().into_iter().map(|term| (term.field.key().to_owned(), term.value.into())).collect()
    }
}

impl AuthIdentityProvider {
    fn for_each_setting(&self, add: &mut impl FnMut(AuthField, Option<String>)) {
        // No `..`, so that a new field must be added to the list.
        let Self { issuer, token_endpoint, client_id, client_secret, client_auth, private_key, algorithm, id_token } =
            self;
        add(AuthField::ProviderIssuer, Some(issuer.clone()));
        add(AuthField::ProviderTokenEndpoint, token_endpoint.clone());
        add(AuthField::ProviderClientId, Some(client_id.clone()));
        add(AuthField::ProviderClientAuth, client_auth.clone());
        add(AuthField::ProviderClientSecret, client_secret.as_deref().map(secret_name));
        add(AuthField::ProviderPrivateKey, private_key.as_deref().map(secret_name));
        add(AuthField::ProviderAlgorithm, algorithm.clone());
        add(AuthField::ProviderIdToken, id_token.as_deref().map(secret_name));
    }
}

/// Returns the name in `${secret:NAME}`. If the text contains no reference, returns an empty text, so that nothing else
/// is disclosed.
fn secret_name(text: &str) -> String {
    secrets::referenced_secret_names(text).join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use super::*;
    use crate::server_config::GrantType;

    fn auth_with_all_settings() -> AuthConfig {
        let secret = |name: &str| Some(secrets::secret_reference(name));
        let text = |text: &str| Some(text.to_owned());
        AuthConfig {
            client_id: text("us"),
            client_secret: secret("one"),
            redirect_port: Some(4711),
            client_auth: text("client_secret_basic"),
            client_metadata_url: text("https://app.example/client.json"),
            issuer: text("https://as.example"),
            scopes: vec!["read".to_owned(), "write".to_owned()],
            grant: GrantType::EnterpriseManaged,
            private_key: secret("two"),
            algorithm: text("ES256"),
            identity_provider: Some(AuthIdentityProvider {
                issuer: "https://idp.example".to_owned(),
                token_endpoint: text("https://idp.example/token"),
                client_id: "us-there".to_owned(),
                client_secret: secret("three"),
                client_auth: text("client_secret_post"),
                private_key: secret("four"),
                algorithm: text("RS256"),
                id_token: secret("five"),
            }),
            dpop: Some(true),
            assertion: secret("six"),
        }
    }

    #[test]
    fn s01_every_setting_is_listed_once() {
        let terms = auth_with_all_settings().field_values();
        let fields: BTreeSet<AuthField> = terms.iter().map(|term| term.field).collect();
        assert_eq!((fields.len(), terms.len()), (20, 20), "each setting once");
        let keys: BTreeSet<&str> = fields.iter().map(|field| field.key()).collect();
        assert_eq!(keys.len(), fields.len(), "keys are unique");
        // The derived serialization contains every field and does not depend on the list.
        let written = serde_json::to_value(auth_with_all_settings()).unwrap();
        let inner = written["identity_provider"].as_object().unwrap().len();
        assert_eq!(terms.len(), written.as_object().unwrap().len() - 1 + inner, "the list contains every setting");
    }

    #[test]
    fn hashed_and_displayed_settings_have_separate_field_names() {
        let names =
            |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>();
        let hashed = serde_json::to_value(auth_with_all_settings()).unwrap();
        let in_hash = [
            "algorithm",
            "client_auth",
            "client_id",
            "client_secret",
            "id_token",
            "issuer",
            "private_key",
            "token_endpoint",
        ];
        let expected = BTreeSet::from(in_hash.map(str::to_owned));
        assert_eq!(names(&hashed["identity_provider"]), expected, "renamed members would invalidate all approvals");
        assert!(names(&hashed).contains("redirect_port"), "members of the outer object are unchanged");
        let shown = serde_json::to_value(auth_with_all_settings().identity_provider.unwrap()).unwrap();
        let camel_case = names(&shown).into_iter().all(|name| !name.contains('_'));
        assert!(
            camel_case && shown["tokenEndpoint"] == "https://idp.example/token",
            "the page receives camelCase members: {shown}"
        );
    }

    #[test]
    fn s01_each_setting_changes_its_own_term() {
        let provider = |change: fn(&mut AuthIdentityProvider)| {
            let mut auth = auth_with_all_settings();
            auth.identity_provider.iter_mut().for_each(change);
            auth
        };
        let with = |change: fn(&mut AuthConfig)| {
            let mut auth = auth_with_all_settings();
            change(&mut auth);
            auth
        };
        let changed = [
            with(|auth| auth.client_id = None),
            with(|auth| auth.client_secret = None),
            with(|auth| auth.redirect_port = Some(1)),
            with(|auth| auth.client_auth = None),
            with(|auth| auth.client_metadata_url = None),
            with(|auth| auth.issuer = Some("https://evil.example".to_owned())),
            with(|auth| auth.scopes.push("admin".to_owned())),
            with(|auth| auth.grant = GrantType::ClientCredentials),
            with(|auth| auth.private_key = None),
            with(|auth| auth.algorithm = None),
            with(|auth| auth.dpop = Some(false)),
            with(|auth| auth.assertion = None),
            provider(|provider| provider.issuer.push('/')),
            provider(|provider| provider.token_endpoint = Some("https://evil.example/token".to_owned())),
            provider(|provider| provider.client_id.push('2')),
            provider(|provider| provider.client_secret = None),
            provider(|provider| provider.client_auth = None),
            provider(|provider| provider.private_key = None),
            provider(|provider| provider.algorithm = None),
            provider(|provider| provider.id_token = None),
        ];
        let before = auth_with_all_settings().settings_by_key();
        let mut terms = BTreeSet::new();
        for auth in changed {
            let after = auth.settings_by_key();
            let keys: Vec<&String> = before.keys().filter(|key| before.get(*key) != after.get(*key)).collect();
            assert_eq!(keys.len(), 1, "S01: one setting changes one term: {keys:?}");
            terms.insert(keys[0].clone());
        }
        assert_eq!(terms.len(), before.len(), "S01: each term has been changed");
    }

    #[test]
    fn s01_secrets_are_listed_by_name_only() {
        for term in auth_with_all_settings().field_values().iter().filter(|term| term.field.is_secret()) {
            assert!(["one", "two", "three", "four", "five", "six"].contains(&term.value.as_str()), "{term:?}");
        }
        let bare = AuthConfig { client_secret: Some("s3cret".to_owned()), ..AuthConfig::default() };
        assert!(
            !format!("{:?}", bare.field_values()).contains("s3cret"),
            "a value that is not a reference is not disclosed"
        );
    }
}
