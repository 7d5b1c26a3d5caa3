//! Token endpoint of the authorization server.

use std::io;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::issued::{IssuedCredentials, IssuedGrant};
use super::script::{AuthorizationScript, DpopBehaviour, RefreshBehaviour};
use super::{AuthorizationServerState, parameter_value, random_text_with_prefix, respond_with_error};
use crate::http::{HttpRequest, HttpResponder};

/// Grant type of a token exchange (RFC 8693).
const TOKEN_EXCHANGE_GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

/// HTTP status, OAuth error code and description of a refused token request.
type TokenRefusal = (u16, String, &'static str);

fn refuse_token_request<T>(error: &str, why: &'static str) -> Result<T, TokenRefusal> {
    Err((400, error.to_owned(), why))
}

pub(super) async fn respond_to_token_request(
    state: &AuthorizationServerState,
    script: &AuthorizationScript,
    issuer: &str,
    request: &HttpRequest,
    mut answer: HttpResponder,
) -> io::Result<()> {
    let form = request.form();
    if parameter_value(&form, "grant_type") == Some("refresh_token")
        && let RefreshBehaviour::Down(status) = script.refresh
    {
        return answer.status(status).await;
    }
    let granted = {
        let mut issued = state.issued();
        check_dpop_proof(&mut issued, script, request, &format!("{issuer}/token"))
            .and_then(|()| issue_grant(&mut issued, script, request, &form))
            .map(|grant| token_response(&mut issued, script, grant))
    };
    match granted {
        Ok(mut body) => {
            if parameter_value(&form, "grant_type") == Some(TOKEN_EXCHANGE_GRANT) {
                body["issued_token_type"] = json!("urn:ietf:params:oauth:token-type:id-jag");
                body["token_type"] = json!("N_A");
            }
            answer.json(&body).await
        }
        Err((status, error, why)) => {
            let nonce = state.issued().nonce.clone().filter(|_| error == "use_dpop_nonce");
            let nonce = nonce.map(|nonce| format!("dpop-nonce: {nonce}\r\n")).unwrap_or_default();
            respond_with_error(answer, status, &error, why, &nonce).await
        }
    }
}

/// Issues tokens for a grant, and returns the token response.
fn token_response(issued: &mut IssuedCredentials, script: &AuthorizationScript, grant: IssuedGrant) -> Value {
    let is_bound = script.dpop != DpopBehaviour::Off;
    let token = issued.issue_access_token(grant.clone(), script.lifetime, is_bound);
    let mut body = json!({ "access_token": token, "token_type": if is_bound { "DPoP" } else { "Bearer" } });
    if let Some(seconds) = script.lifetime {
        body["expires_in"] = json!(seconds);
    }
    if !grant.scope.is_empty() {
        body["scope"] = json!(grant.scope);
    }
    let has_refresh = issued.refresh.values().any(|token| token.grant.family == grant.family && !token.is_ended);
    let is_of_user = grant.family != 0;
    if is_of_user && script.refresh != RefreshBehaviour::None && !has_refresh {
        body["refresh_token"] = json!(issued.issue_refresh_token(grant));
    }
    body
}

fn issue_grant(
    issued: &mut IssuedCredentials,
    script: &AuthorizationScript,
    request: &HttpRequest,
    form: &[(String, String)],
) -> Result<IssuedGrant, TokenRefusal> {
    let get = |name: &str| parameter_value(form, name);
    let client = authenticate_client(issued, script, request, form)?;
    match get("grant_type") {
        Some("authorization_code") => redeem_authorization_code(issued, &client, form),
        Some("refresh_token") => {
            let presented = get("refresh_token").unwrap_or_default();
            redeem_refresh_token(issued, script, &client, presented)
        }
        Some("client_credentials" | "urn:ietf:params:oauth:grant-type:jwt-bearer" | TOKEN_EXCHANGE_GRANT) => {
            Ok(IssuedGrant {
                client,
                scope: get("scope").unwrap_or_default().to_owned(),
                resource: get("resource").map(str::to_owned),
                family: 0,
            })
        }
        _ => refuse_token_request("unsupported_grant_type", "there is no such grant type here"),
    }
}

fn redeem_authorization_code(
    issued: &mut IssuedCredentials,
    client: &str,
    form: &[(String, String)],
) -> Result<IssuedGrant, TokenRefusal> {
    let get = |name: &str| parameter_value(form, name);
    let presented = get("code").unwrap_or_default();
    let Some(code) = issued.codes.get_mut(presented) else {
        return refuse_token_request("invalid_grant", "there is no such code");
    };
    if std::mem::replace(&mut code.is_used, true) {
        let family = code.grant.family;
        issued.invalidate_tokens_of_authorization(family);
        return refuse_token_request("invalid_grant", "the code was used before");
    }
    let code = code.clone();
    let verifier = Sha256::digest(get("code_verifier").unwrap_or_default());
    if code.grant.client != client {
        refuse_token_request("invalid_grant", "the code is another client's")
    } else if Some(code.redirect_uri.as_str()) != get("redirect_uri") {
        refuse_token_request("invalid_grant", "the redirect URI is another one")
    } else if BASE64_URL_SAFE_NO_PAD.encode(verifier) != code.challenge {
        refuse_token_request("invalid_grant", "the verifier does not fit the challenge")
    } else if code.grant.resource.as_deref() != get("resource") {
        refuse_token_request("invalid_target", "the resource is another one")
    } else {
        Ok(code.grant)
    }
}

fn redeem_refresh_token(
    issued: &mut IssuedCredentials,
    script: &AuthorizationScript,
    client: &str,
    presented: &str,
) -> Result<IssuedGrant, TokenRefusal> {
    if let RefreshBehaviour::Fails(error) = &script.refresh {
        return refuse_token_request(error, "refreshing is not possible");
    }
    let Some(token) = issued.refresh.get_mut(presented) else {
        return refuse_token_request("invalid_grant", "there is no such refresh token");
    };
    let grant = token.grant.clone();
    if token.is_ended {
        issued.invalidate_tokens_of_authorization(grant.family);
        return refuse_token_request("invalid_grant", "the refresh token is no longer good");
    }
    if grant.client != client {
        return refuse_token_request("invalid_grant", "the refresh token is another client's");
    }
    token.is_ended = script.refresh == RefreshBehaviour::Rotating;
    Ok(grant)
}

/// Authenticates the client with the method that its registration requires, and returns the client id.
fn authenticate_client(
    issued: &IssuedCredentials,
    script: &AuthorizationScript,
    request: &HttpRequest,
    form: &[(String, String)],
) -> Result<String, TokenRefusal> {
    let get = |name: &str| parameter_value(form, name).map(str::to_owned);
    let (id, secret, method) = if let Some((id, secret)) = basic_auth_credentials(request) {
        (id, Some(secret), "client_secret_basic")
    } else if get("client_assertion").is_some() {
        (jwt_subject(&get("client_assertion").unwrap_or_default()), None, "private_key_jwt")
    } else if get("client_secret").is_some() {
        (get("client_id").unwrap_or_default(), get("client_secret"), "client_secret_post")
    } else {
        (get("client_id").unwrap_or_default(), None, "none")
    };
    let unknown = || (401, "invalid_client".to_owned(), "the client is not known, or not by this method or secret");
    let registered = issued.clients.get(&id).map(|client| client.secret.clone());
    let is_document = script.client_id_metadata && id.starts_with("https://");
    let known = registered.or_else(|| script.clients.get(&id).cloned()).or(is_document.then_some(None));
    let expected = known.ok_or_else(unknown)?;
    let is_right = method == "private_key_jwt" || expected == secret;
    let is_offered = script.auth_methods.iter().any(|offered| offered == method);
    if is_right && is_offered { Ok(id) } else { Err(unknown()) }
}

/// Decodes client id and secret of an `Authorization: Basic` header, each form-encoded as in RFC 6749 section 2.3.1.
fn basic_auth_credentials(request: &HttpRequest) -> Option<(String, String)> {
    let encoded = request.header("authorization")?.strip_prefix("Basic ")?;
    let text = String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let decoded = |text: &str| url::form_urlencoded::parse(text.as_bytes()).next().map(|(name, _)| name.into_owned());
    Some((decoded(id)?, decoded(secret)?))
}

/// Returns the claims of a JWT without checking its signature.
pub(super) fn jwt_claims(jwt: &str) -> Value {
    let payload = jwt.split('.').nth(1).and_then(|part| BASE64_URL_SAFE_NO_PAD.decode(part).ok());
    payload.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn jwt_subject(jwt: &str) -> String {
    jwt_claims(jwt)["sub"].as_str().unwrap_or_default().to_owned()
}

/// Checks that a request contains the DPoP proof that the script requires.
pub(super) fn check_dpop_proof(
    issued: &mut IssuedCredentials,
    script: &AuthorizationScript,
    request: &HttpRequest,
    url: &str,
) -> Result<(), TokenRefusal> {
    if script.dpop == DpopBehaviour::Off {
        return Ok(());
    }
    let claims = jwt_claims(request.header("dpop").unwrap_or_default());
    if claims["htm"] != json!(request.method) || claims["htu"] != json!(url) {
        return refuse_token_request("invalid_dpop_proof", "there is no proof, or for something else");
    }
    if script.dpop == DpopBehaviour::Required {
        return Ok(());
    }
    let nonce = issued.nonce.get_or_insert_with(|| random_text_with_prefix("nonce"));
    if claims["nonce"] == json!(nonce) {
        Ok(())
    } else {
        refuse_token_request("use_dpop_nonce", "the proof lacks the nonce")
    }
}
