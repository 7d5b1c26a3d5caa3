//! Dynamic client registration (RFC 7591) and stored registrations.

use http::{Method, Request};
use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use url::Url;

use crate::account::ClientKind;
use crate::authorization_server::AuthorizationServerMetadata;
use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::http_client::AuthHttpClient;
use crate::metadata_address;
use crate::metadata_document;
use crate::oauth_client::{OAuthClient, StoredClientAuth, client_secret_method};
use crate::settings::{ClientIdSettings, ClientSecretMethod};
use crate::stored_secret::StoredSecret;

const PHASE: AuthPhase = AuthPhase::ClientId;

/// Stored client id of the app for one MCP server. Either an authorization server issued it, or the user entered it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClientRegistration {
    /// Issuer to which the client id belongs, exactly as its metadata spells it. The client id is not sent to any other
    /// issuer.
    pub(crate) issuer: String,
    pub(crate) client: OAuthClient,
    /// Redirect URI that is registered for the client id. If the user entered the client id, this is the URI that the
    /// app told the user to register.
    pub(crate) redirect_uri: Option<Url>,
    /// Time at which the client secret expires, in seconds since the Unix epoch, or `None` if it does not expire.
    pub(crate) expires_at: Option<u64>,
    /// `true` if the browser was opened with this client id and has not returned to the app. The authorization server
    /// may then have deleted the registration, which it would report only to the user in the browser.
    #[serde(default)]
    pub(crate) doubted: bool,
}

impl ClientRegistration {
    /// Parses a registration from an entry of the vault. Returns `None` if the registration is for another issuer, has
    /// expired, or may have been rejected by the authorization server (`doubted`).
    pub(crate) fn from_vault_entry(entry: &SecretSlice<u8>, issuer: &str, now: u64) -> Option<ClientRegistration> {
        let registration: ClientRegistration = serde_json::from_slice(entry.expose_secret()).ok()?;
        let is_current = registration.expires_at.is_none_or(|end| end > now) && !registration.doubted;
        (registration.issuer == issuer && is_current).then_some(registration)
    }

    pub(crate) fn to_vault_entry(&self) -> SecretSlice<u8> {
        serde_json::to_vec(self).unwrap_or_default().into()
    }
}

/// Registers the app at an authorization server (RFC 7591) with `redirect_uri`. If the server refuses that URI as
/// invalid, retries with the host `localhost` in it.
///
/// # Errors
/// Returns [`AuthErrorCause::Refused`] if the registration is refused, and [`AuthErrorCause::Status`] or
/// [`AuthErrorCause::Unreadable`] if the response cannot be used.
pub(crate) async fn register_client(
    web: &AuthHttpClient,
    source: &ClientIdSettings,
    server: &AuthorizationServerMetadata,
    endpoint: &Url,
    redirect_uri: &Url,
    dpop: bool,
) -> Result<ClientRegistration, AuthError> {
    match send_registration_request(web, source, server, endpoint, redirect_uri, dpop).await {
        Err(AuthError { cause: AuthErrorCause::Refused { code, .. }, .. }) if code == "invalid_redirect_uri" => {
            web.set_conclusion("the redirect URI is refused; trying localhost as its host");
            let mut named = redirect_uri.clone();
            let _ = named.set_host(Some("localhost"));
            send_registration_request(web, source, server, endpoint, &named, dpop).await
        }
        other => other,
    }
}

async fn send_registration_request(
    web: &AuthHttpClient,
    source: &ClientIdSettings,
    server: &AuthorizationServerMetadata,
    endpoint: &Url,
    redirect_uri: &Url,
    dpop: bool,
) -> Result<ClientRegistration, AuthError> {
    let method = token_endpoint_auth_method_to_register(server.auth_methods.as_deref());
    let mut body = json!({
        "client_name": source.name,
        "application_type": "native",
        "redirect_uris": [redirect_uri.as_str()],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
    });
    if let Some(uri) = &source.uri {
        body["client_uri"] = json!(uri.as_str());
    }
    if dpop {
        body["dpop_bound_access_tokens"] = json!(true);
    }
    let request = Request::builder()
        .method(Method::POST)
        .uri(endpoint.as_str())
        .header("accept", "application/json")
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes());
    let address = metadata_address::displayed_url(endpoint);
    let unreadable = |cause: &str| AuthErrorCause::Unreadable { address: address.clone(), cause: cause.to_owned() };
    let request = request.map_err(|_| PHASE.error(unreadable("the request could not be built")))?;
    let answer = web.send(PHASE, request).await?;
    let status = answer.status().as_u16();
    let members = serde_json::from_slice::<Value>(answer.body()).ok().and_then(|value| match value {
        Value::Object(members) => Some(members),
        _ => None,
    });
    let error = members.as_ref().and_then(|members| metadata_document::string_member(members, "error"));
    let failed = match (members, error) {
        (Some(members), None) if (200..300).contains(&status) => {
            return parse_registration_response(web, &members, server, redirect_uri, method)
                .map_err(|cause| PHASE.error(unreadable(cause)));
        }
        (Some(members), Some(code)) if status < 500 => AuthErrorCause::Refused {
            code: web.redact_and_escape_untrusted(&code),
            description: metadata_document::string_member(&members, "error_description")
                .map(|text| web.redact_and_escape_untrusted(&text)),
        },
        (None, _) if (200..300).contains(&status) => unreadable("it is not a JSON object"),
        _ => AuthErrorCause::Status { address: address.clone(), status },
    };
    web.set_conclusion(&failed.to_string());
    Err(PHASE.error(failed))
}

fn parse_registration_response(
    web: &AuthHttpClient,
    members: &Map<String, Value>,
    server: &AuthorizationServerMetadata,
    redirect_uri: &Url,
    requested_method: &str,
) -> Result<ClientRegistration, &'static str> {
    let id = metadata_document::string_member(members, "client_id").ok_or("it contains no client id")?;
    let secret =
        metadata_document::string_member(members, "client_secret").map(|text| StoredSecret::from(text.as_str()));
    if let Some(secret) = &secret {
        web.register_secret(&secret.0);
    }
    // If the response omits the method, the requested one applies, unless the server issued a secret that it would
    // ignore (RFC 7591, 2).
    let registered_method = metadata_document::string_member(members, "token_endpoint_auth_method");
    let methods = server.auth_methods.as_deref();
    let takes_none = methods.is_some_and(|list| list.iter().all(|method| method == "none"));
    let method = match (registered_method.as_deref(), &secret) {
        (Some(registered_method), _) => registered_method,
        (None, Some(_)) if requested_method == "none" && !takes_none => match client_secret_method(methods) {
            ClientSecretMethod::Basic => "client_secret_basic",
            ClientSecretMethod::Post => "client_secret_post",
        },
        (None, _) => requested_method,
    };
    let authentication = match (method, secret) {
        ("client_secret_basic", Some(secret)) => StoredClientAuth::Basic(secret),
        ("client_secret_post", Some(secret)) => StoredClientAuth::Post(secret),
        ("none", _) => StoredClientAuth::None,
        (_, None) => return Err("it requires a secret without issuing one"),
        (_, Some(_)) => return Err("it requires an authentication method that was not requested"),
    };
    web.set_conclusion("the app is registered");
    let expires_at = members.get("client_secret_expires_at").and_then(Value::as_u64).filter(|end| *end > 0);
    Ok(ClientRegistration {
        issuer: server.issuer.clone(),
        client: OAuthClient { kind: ClientKind::Registered, id, authentication },
        redirect_uri: Some(redirect_uri.clone()),
        expires_at,
        doubted: false,
    })
}

/// Returns the value of `token_endpoint_auth_method` with which to register the app: `none` if the server supports it,
/// since native apps are public clients.
pub(crate) fn token_endpoint_auth_method_to_register(methods: Option<&[String]>) -> &'static str {
    let Some(methods) = methods else { return "none" };
    let known = ["none", "client_secret_basic", "client_secret_post"];
    known.into_iter().find(|known| methods.iter().any(|method| method == known)).unwrap_or("none")
}
