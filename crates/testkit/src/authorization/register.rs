//! Endpoint for dynamic client registration (RFC 7591).

use std::io;

use serde_json::json;

use super::issued::RegisteredClient;
use super::script::AuthorizationScript;
use super::{AuthorizationServerState, random_text_with_prefix, respond_with_error};
use crate::http::{HttpRequest, HttpResponder};

pub(super) async fn respond_to_registration(
    state: &AuthorizationServerState,
    script: &AuthorizationScript,
    request: &HttpRequest,
    mut answer: HttpResponder,
) -> io::Result<()> {
    let registration = request.json();
    let redirect_uris: Vec<String> = serde_json::from_value(registration["redirect_uris"].clone()).unwrap_or_default();
    if let Some(error) = &script.registration_error {
        return respond_with_error(answer, 400, error, "no client like that", "").await;
    }
    if redirect_uris.is_empty() {
        return respond_with_error(answer, 400, "invalid_redirect_uri", "redirect_uris is empty", "").await;
    }
    let auth_method = registration["token_endpoint_auth_method"].as_str().unwrap_or("client_secret_basic").to_owned();
    let is_offered = script.auth_methods.contains(&auth_method);
    let method = if is_offered { Some(&auth_method) } else { script.auth_methods.first() };
    let method = method.map_or("none", String::as_str);
    let id = random_text_with_prefix("client");
    let secret = method.starts_with("client_secret").then(|| random_text_with_prefix("secret"));
    let mut registered = registration.clone();
    registered["client_id"] = json!(id);
    registered["token_endpoint_auth_method"] = json!(method);
    if let Some(secret) = &secret {
        registered["client_secret"] = json!(secret);
        registered["client_secret_expires_at"] = json!(0);
    }
    state.issued().clients.insert(id, RegisteredClient { secret, redirect_uris });
    answer.respond(201, "content-type: application/json\r\n", registered.to_string().as_bytes()).await
}
