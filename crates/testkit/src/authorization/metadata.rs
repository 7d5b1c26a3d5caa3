//! Metadata document of the scripted authorization server (RFC 8414, OpenID Connect Discovery).

use serde_json::{Map, Value, json};

use super::script::{AuthorizationMetadataLocation, AuthorizationScript, DpopBehaviour};

/// Returns the metadata document that the server provides at this path, or `None` if it provides none.
pub(super) fn metadata_document_at(script: &AuthorizationScript, origin: &str, path: &str) -> Option<Value> {
    let own = &script.path;
    let is_here = match script.metadata {
        AuthorizationMetadataLocation::OAuth => path == format!("/.well-known/oauth-authorization-server{own}"),
        AuthorizationMetadataLocation::OpenIdInserted => path == format!("/.well-known/openid-configuration{own}"),
        AuthorizationMetadataLocation::OpenIdAppended => path == format!("{own}/.well-known/openid-configuration"),
        AuthorizationMetadataLocation::None => false,
    };
    is_here.then(|| metadata_document(script, &format!("{origin}{own}")))
}

fn metadata_document(script: &AuthorizationScript, issuer: &str) -> Value {
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "token_endpoint_auth_methods_supported": script.auth_methods,
        "authorization_response_iss_parameter_supported": script.iss_advertised,
        "client_id_metadata_document_supported": script.client_id_metadata,
    });
    let is_open_id = matches!(
        script.metadata,
        AuthorizationMetadataLocation::OpenIdInserted | AuthorizationMetadataLocation::OpenIdAppended
    );
    let optional = [
        ("registration_endpoint", script.registration.then(|| json!(format!("{issuer}/register")))),
        ("revocation_endpoint", script.revocation.then(|| json!(format!("{issuer}/revoke")))),
        ("code_challenge_methods_supported", script.pkce.as_ref().map(|methods| json!(methods))),
        ("scopes_supported", script.scopes.as_ref().map(|scopes| json!(scopes))),
        ("dpop_signing_alg_values_supported", (script.dpop != DpopBehaviour::Off).then(|| json!(["ES256"]))),
        ("jwks_uri", is_open_id.then(|| json!(format!("{issuer}/jwks")))),
        ("subject_types_supported", is_open_id.then(|| json!(["public"]))),
        ("id_token_signing_alg_values_supported", is_open_id.then(|| json!(["RS256"]))),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            document[name] = value;
        }
    }
    crate::forbidden_url::add_forbidden_url_to_metadata(&mut document);
    override_members(&mut document, &script.overrides);
    document
}

/// Sets members of a JSON object. A null value removes the member.
pub(super) fn override_members(document: &mut Value, overrides: &Map<String, Value>) {
    let Some(members) = document.as_object_mut() else { return };
    for (name, value) in overrides {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
}
