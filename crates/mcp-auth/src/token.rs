//! Requests to a token endpoint: every grant, every way to prove who the client is, DPoP, and patient reading of the
//! answer. The grants that `oauth2` knows are made with it.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Method, Request, Response};
use oauth2::basic::{BasicClient, BasicErrorResponse, BasicTokenResponse, BasicTokenType};
use oauth2::{
    AsyncHttpClient, AuthType, AuthorizationCode, ClientId, ClientSecret, EndpointNotSet, EndpointSet,
    PkceCodeVerifier, RedirectUrl, RefreshToken, RequestTokenError, Scope, TokenResponse as _, TokenUrl,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use url::{Url, form_urlencoded};

use crate::address;
use crate::assertion;
use crate::client::{Authentication, Client};
use crate::document;
use crate::dpop::{self, DpopKey};
use crate::error::{AuthError, Cause, Phase};
use crate::scopes;
use crate::web::Web;

/// RFC 7523, 2.1.
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// RFC 8693, 2.1.
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:id_token";
/// Enterprise-managed authorization: an identity assertion that is an authorization grant.
const ID_JAG_TYPE: &str = "urn:ietf:params:oauth:token-type:id-jag";
/// No lifetime is believed that is longer than ten years, in seconds.
const LONGEST_LIFE: f64 = 315_360_000.0;

type TokenClient = BasicClient<EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;
type Failure = RequestTokenError<AuthError, BasicErrorResponse>;

/// A token endpoint, and who asks there.
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) web: &'a Web,
    pub(crate) phase: Phase,
    pub(crate) url: &'a Url,
    /// The audience of signed statements.
    pub(crate) issuer: &'a str,
    pub(crate) client: &'a Client,
    pub(crate) dpop: Option<&'a DpopKey>,
    /// The last nonce of this authorization server.
    pub(crate) nonce: &'a Mutex<Option<String>>,
    pub(crate) now: SystemTime,
}

/// What a token endpoint granted.
pub(crate) struct Granted {
    pub(crate) access: SecretString,
    /// Whether the token is bound to the key.
    pub(crate) bound: bool,
    pub(crate) refresh: Option<SecretString>,
    pub(crate) lifetime: Option<Duration>,
    /// None if they are those that were asked for.
    pub(crate) scopes: Option<Vec<String>>,
    /// The ID token of OpenID Connect.
    pub(crate) id_token: Option<SecretString>,
}

/// The way of `oauth2` to the token endpoint.
struct Exchange<'a> {
    endpoint: &'a TokenEndpoint<'a>,
    /// What `oauth2` drops of the answer.
    id_token: Mutex<Option<SecretString>>,
}

impl<'c> AsyncHttpClient<'c> for Exchange<'_> {
    type Error = AuthError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Vec<u8>>, AuthError>> + Send + 'c>>;

    fn call(&'c self, request: Request<Vec<u8>>) -> Self::Future {
        Box::pin(self.endpoint.exchange(request, &self.id_token))
    }
}

impl TokenEndpoint<'_> {
    /// Redeems a code (RFC 6749, 4.1.3; RFC 7636, 4.5).
    ///
    /// # Errors
    /// If it is refused, or no answer that can be used came.
    pub(crate) async fn code(
        &self,
        code: &SecretString,
        verifier: PkceCodeVerifier,
        redirect_uri: &Url,
        resource: Option<&str>,
    ) -> Result<Granted, AuthError> {
        let client = self.oauth_client();
        let redirect = RedirectUrl::from_url(redirect_uri.clone());
        let mut request = client
            .exchange_code(AuthorizationCode::new(code.expose_secret().to_owned()))
            .set_pkce_verifier(verifier)
            .set_redirect_uri(Cow::Owned(redirect));
        for (name, value) in self.proof()?.into_iter().chain(resource_parameter(resource)) {
            request = request.add_extra_param(name, value);
        }
        let exchange = Exchange { endpoint: self, id_token: Mutex::new(None) };
        let granted = request.request_async(&exchange).await;
        self.granted(granted, exchange.id_token)
    }

    /// Renews a token (RFC 6749, 6). The scopes stay as they are.
    ///
    /// # Errors
    /// As [`code`](Self::code).
    pub(crate) async fn refresh(&self, token: &SecretString, resource: Option<&str>) -> Result<Granted, AuthError> {
        let client = self.oauth_client();
        let token = RefreshToken::new(token.expose_secret().to_owned());
        let mut request = client.exchange_refresh_token(&token);
        for (name, value) in self.proof()?.into_iter().chain(resource_parameter(resource)) {
            request = request.add_extra_param(name, value);
        }
        let exchange = Exchange { endpoint: self, id_token: Mutex::new(None) };
        let granted = request.request_async(&exchange).await;
        self.granted(granted, exchange.id_token)
    }

    /// Asks as the app itself (RFC 6749, 4.4).
    ///
    /// # Errors
    /// As [`code`](Self::code).
    pub(crate) async fn client_credentials(
        &self,
        scopes: &[String],
        resource: Option<&str>,
    ) -> Result<Granted, AuthError> {
        let client = self.oauth_client();
        let scopes = scopes.iter().cloned().map(Scope::new);
        let mut request = client.exchange_client_credentials().add_scopes(scopes);
        for (name, value) in self.proof()?.into_iter().chain(resource_parameter(resource)) {
            request = request.add_extra_param(name, value);
        }
        let exchange = Exchange { endpoint: self, id_token: Mutex::new(None) };
        let granted = request.request_async(&exchange).await;
        self.granted(granted, exchange.id_token)
    }

    /// Redeems a signed statement of somebody else (RFC 7523, 2.1).
    ///
    /// # Errors
    /// As [`code`](Self::code).
    pub(crate) async fn jwt_bearer(
        &self,
        statement: &SecretString,
        scopes: &[String],
        resource: Option<&str>,
    ) -> Result<Granted, AuthError> {
        let mut parameters =
            vec![("grant_type", JWT_BEARER.to_owned()), ("assertion", statement.expose_secret().to_owned())];
        parameters.extend(scope_parameter(scopes));
        parameters.extend(resource_parameter(resource));
        let members = self.own(parameters).await?;
        self.read(&members)
    }

    /// Exchanges the user's ID token for a grant that the authorization server `audience` takes (RFC 8693), and the scopes
    /// that it is good for if they are others than were asked for.
    ///
    /// # Errors
    /// As [`code`](Self::code).
    pub(crate) async fn identity_grant(
        &self,
        id_token: &SecretString,
        audience: &str,
        resource: &str,
        scopes: &[String],
    ) -> Result<(SecretString, Option<Vec<String>>), AuthError> {
        let mut parameters = vec![
            ("grant_type", TOKEN_EXCHANGE.to_owned()),
            ("requested_token_type", ID_JAG_TYPE.to_owned()),
            ("audience", audience.to_owned()),
            ("resource", resource.to_owned()),
            ("subject_token", id_token.expose_secret().to_owned()),
            ("subject_token_type", ID_TOKEN_TYPE.to_owned()),
        ];
        parameters.extend(scope_parameter(scopes));
        let members = self.own(parameters).await?;
        let kind = document::string(&members, "issued_token_type");
        if kind.is_some_and(|kind| kind != ID_JAG_TYPE) {
            return Err(self.unreadable("it holds another kind of token than was asked for"));
        }
        let grant = document::string(&members, "access_token").map(SecretString::from);
        let grant = grant.ok_or_else(|| self.unreadable("it holds no grant"))?;
        self.web.learn(&grant);
        self.web.conclude("the identity provider gave a grant");
        Ok((grant, document::string(&members, "scope").map(|text| crate::scopes::parse(&text))))
    }

    /// Revokes a token at `endpoint` (RFC 7009).
    ///
    /// # Errors
    /// If it is refused, or no answer came.
    pub(crate) async fn revoke(&self, token: &SecretString, hint: &str) -> Result<(), AuthError> {
        let parameters = vec![("token", token.expose_secret().to_owned()), ("token_type_hint", hint.to_owned())];
        let answer = self.post(self.form(parameters)?).await?;
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            self.web.conclude("it is revoked");
            return Ok(());
        }
        let members = object(answer.body()).unwrap_or_default();
        let cause = match document::string(&members, "error") {
            Some(code) if status < 500 => self.refused(&code, document::string(&members, "error_description")),
            _ => Cause::Status { address: address::plain(self.url), status },
        };
        self.web.conclude(&cause.to_string());
        Err(self.phase.error(cause))
    }

    fn oauth_client(&self) -> TokenClient {
        let client =
            BasicClient::new(ClientId::new(self.client.id.clone())).set_token_uri(TokenUrl::from_url(self.url.clone()));
        match &self.client.authentication {
            Authentication::Basic(secret) => {
                client.set_auth_type(AuthType::BasicAuth).set_client_secret(ClientSecret::new(secret.text().to_owned()))
            }
            Authentication::Post(secret) => client
                .set_auth_type(AuthType::RequestBody)
                .set_client_secret(ClientSecret::new(secret.text().to_owned())),
            Authentication::None | Authentication::PrivateKeyJwt { .. } => client.set_auth_type(AuthType::RequestBody),
        }
    }

    /// The signed statement of a client that proves itself so.
    fn proof(&self) -> Result<Vec<(&'static str, String)>, AuthError> {
        let Authentication::PrivateKeyJwt { key_pem, algorithm } = &self.client.authentication else {
            return Ok(Vec::new());
        };
        let statement = assertion::sign(&self.client.id, self.issuer, key_pem.text(), algorithm, self.now);
        let statement = statement.map_err(|cause| self.phase.error(cause))?;
        self.web.learn(&SecretString::from(statement.as_str()));
        Ok(vec![("client_assertion_type", assertion::TYPE.to_owned()), ("client_assertion", statement)])
    }

    /// Sends a grant that `oauth2` does not know.
    async fn own(&self, parameters: Vec<(&'static str, String)>) -> Result<Map<String, Value>, AuthError> {
        let extra = Mutex::new(None);
        let answer = self.exchange(self.form(parameters)?, &extra).await?;
        let members = object(answer.body()).unwrap_or_default();
        if answer.status().is_success() {
            return Ok(members);
        }
        let code = document::string(&members, "error").unwrap_or_default();
        Err(self.phase.error(self.refused(&code, document::string(&members, "error_description"))))
    }

    fn form(&self, mut parameters: Vec<(&'static str, String)>) -> Result<Request<Vec<u8>>, AuthError> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(self.url.as_str())
            .header("accept", "application/json")
            .header("content-type", "application/x-www-form-urlencoded");
        match &self.client.authentication {
            Authentication::Basic(secret) => {
                // RFC 6749, 2.3.1: both are form-encoded first.
                let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encode(&self.client.id), encode(secret.text()));
                request = request.header("authorization", format!("Basic {}", STANDARD.encode(pair)));
            }
            Authentication::Post(secret) => {
                parameters.push(("client_id", self.client.id.clone()));
                parameters.push(("client_secret", secret.text().to_owned()));
            }
            Authentication::None | Authentication::PrivateKeyJwt { .. } => {
                parameters.push(("client_id", self.client.id.clone()));
                parameters.extend(self.proof()?);
            }
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        request.body(body.into_bytes()).map_err(|_| self.unreadable("the request could not be made"))
    }

    /// Sends a token request, with a proof of the key if there is one, and again with the nonce that is asked for.
    async fn post(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, AuthError> {
        let first = self.send(&request).await?;
        let wants_nonce = self.dpop.is_some()
            && first.headers().contains_key("dpop-nonce")
            && object(first.body()).and_then(|members| document::string(&members, "error")).as_deref()
                == Some("use_dpop_nonce");
        if !wants_nonce {
            return Ok(first);
        }
        self.web.conclude("it wants its nonce in the proof");
        self.send(&request).await
    }

    async fn send(&self, request: &Request<Vec<u8>>) -> Result<Response<Vec<u8>>, AuthError> {
        let mut request = request.clone();
        if let Some(key) = self.dpop {
            let nonce = self.nonce.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
            let proof = key.proof("POST", self.url, None, nonce.as_deref(), self.now);
            let proof = proof.map_err(|cause| self.phase.error(cause))?;
            let proof = HeaderValue::from_str(&proof).map_err(|_| self.unreadable("the proof could not be sent"))?;
            request.headers_mut().insert("dpop", proof);
        }
        let answer = self.web.send(self.phase, request).await?;
        let nonce = answer.headers().get("dpop-nonce").and_then(|value| dpop::nonce(value.to_str().ok()?));
        if let Some(nonce) = nonce {
            *self.nonce.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(nonce);
        }
        Ok(answer)
    }

    /// [`post`](Self::post), with the answer made such that strict parsers take it. `id_token` gets what `oauth2` drops.
    async fn exchange(
        &self,
        request: Request<Vec<u8>>,
        id_token: &Mutex<Option<SecretString>>,
    ) -> Result<Response<Vec<u8>>, AuthError> {
        let answer = self.post(request).await?;
        let status = answer.status().as_u16();
        let Some(mut members) = object(answer.body()).filter(|_| status < 500 && !(300..400).contains(&status)) else {
            let cause = if (200..300).contains(&status) {
                return Err(self.conclude(self.unreadable("it is no JSON object")));
            } else {
                Cause::Status { address: address::plain(self.url), status }
            };
            return Err(self.conclude(self.phase.error(cause)));
        };
        if document::string(&members, "error").is_some() {
            // Some say so with 200.
            let error = json!({ "error": members["error"], "error_description": members.get("error_description").filter(|text| text.is_string()) });
            let cause = self.refused(error["error"].as_str().unwrap_or_default(), None);
            self.web.conclude(&cause.to_string());
            return self.response(400, error);
        }
        if !(200..300).contains(&status) {
            let cause = Cause::Status { address: address::plain(self.url), status };
            return Err(self.conclude(self.phase.error(cause)));
        }
        let found = document::string(&members, "id_token").map(SecretString::from);
        *id_token.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = found;
        normalise(&mut members);
        self.response(200, Value::Object(members))
    }

    fn response(&self, status: u16, body: Value) -> Result<Response<Vec<u8>>, AuthError> {
        let response = Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes());
        response.map_err(|_| self.unreadable("it could not be read"))
    }

    fn granted(
        &self,
        granted: Result<BasicTokenResponse, Failure>,
        id_token: Mutex<Option<SecretString>>,
    ) -> Result<Granted, AuthError> {
        match granted {
            Ok(response) => {
                let mut granted = self.take(&response)?;
                granted.id_token = id_token.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
                if let Some(token) = &granted.id_token {
                    self.web.learn(token);
                }
                Ok(granted)
            }
            Err(RequestTokenError::Request(error)) => Err(error),
            Err(RequestTokenError::ServerResponse(response)) => {
                let description = response.error_description().cloned();
                Err(self.phase.error(self.refused(response.error().as_ref(), description)))
            }
            // Neither is shown: the first holds the answer's bytes.
            Err(RequestTokenError::Parse(..) | RequestTokenError::Other(_)) => {
                Err(self.conclude(self.unreadable("it holds no token that can be read")))
            }
        }
    }

    fn read(&self, members: &Map<String, Value>) -> Result<Granted, AuthError> {
        let response = serde_json::from_value::<BasicTokenResponse>(Value::Object(members.clone()));
        let unreadable = |_| self.conclude(self.unreadable("it holds no token that can be read"));
        self.take(&response.map_err(unreadable)?)
    }

    fn take(&self, response: &BasicTokenResponse) -> Result<Granted, AuthError> {
        let access = SecretString::from(response.access_token().secret().clone());
        self.web.learn(&access);
        let refresh = response.refresh_token().map(|token| SecretString::from(token.secret().clone()));
        if let Some(refresh) = &refresh {
            self.web.learn(refresh);
        }
        let is_fit = |token: &SecretString| {
            let token = token.expose_secret();
            !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !is_fit(&access) {
            return Err(self.conclude(self.unreadable("its token holds characters that no header can carry")));
        }
        let bound = match response.token_type() {
            BasicTokenType::Bearer => false,
            BasicTokenType::Extension(kind) if kind.eq_ignore_ascii_case("dpop") && self.dpop.is_some() => true,
            _ => return Err(self.conclude(self.unreadable("its token is of a kind that was not asked for"))),
        };
        self.web.conclude("a token was granted");
        Ok(Granted {
            access,
            bound,
            refresh,
            lifetime: response.expires_in(),
            scopes: response.scopes().map(|list| scopes::distinct(list.iter().map(|scope| scope.as_str()))),
            id_token: None,
        })
    }

    fn refused(&self, code: &str, description: Option<String>) -> Cause {
        Cause::Refused { code: self.web.clean(code), description: description.map(|text| self.web.clean(&text)) }
    }

    fn unreadable(&self, cause: &str) -> AuthError {
        self.phase.error(Cause::Unreadable { address: address::plain(self.url), cause: cause.to_owned() })
    }

    fn conclude(&self, error: AuthError) -> AuthError {
        self.web.conclude(&error.cause.to_string());
        error
    }
}

fn resource_parameter(resource: Option<&str>) -> Option<(&'static str, String)> {
    resource.map(|resource| ("resource", resource.to_owned()))
}

fn scope_parameter(scopes: &[String]) -> Option<(&'static str, String)> {
    (!scopes.is_empty()).then(|| ("scope", scopes.join(" ")))
}

fn object(body: &[u8]) -> Option<Map<String, Value>> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    }
}

/// Brings a token response into the form of RFC 6749, 5.1: lifetimes in strings and fractions, scopes in lists, empty
/// and null members, a missing type.
fn normalise(members: &mut Map<String, Value>) {
    members.retain(|_, value| !value.is_null());
    let lifetime = match members.get("expires_in") {
        Some(Value::String(text)) => text.trim().parse::<f64>().ok(),
        Some(value) => value.as_f64(),
        None => None,
    };
    match lifetime.filter(|seconds| (0.0..=LONGEST_LIFE).contains(seconds)) {
        // Within the bounds, so nothing is lost but a fraction.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(seconds) => members.insert("expires_in".to_owned(), json!(seconds as u64)),
        None => members.remove("expires_in"),
    };
    let scope = match members.get("scope") {
        Some(Value::Array(items)) => Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        Some(Value::String(text)) => Some(scopes::parse(text).join(" ")),
        _ => None,
    };
    match scope.filter(|scope| !scope.is_empty()) {
        Some(scope) => members.insert("scope".to_owned(), Value::from(scope)),
        None => members.remove("scope"),
    };
    if document::string(members, "refresh_token").is_none() {
        members.remove("refresh_token");
    }
    if !members.contains_key("token_type") {
        members.insert("token_type".to_owned(), json!("Bearer"));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn answers_of_real_servers_are_understood() {
        // members besides the token -> lifetime, scopes, refresh token, type
        let table = [
            (json!({ "expires_in": 3600, "token_type": "Bearer" }), Some(3600), None, false),
            (json!({ "expires_in": "3600", "token_type": "bearer" }), Some(3600), None, false),
            (json!({ "expires_in": 3599.6 }), Some(3599), None, false),
            (json!({ "expires_in": -5 }), None, None, false),
            (json!({ "expires_in": 1e300 }), None, None, false),
            (json!({ "expires_in": null, "scope": null, "refresh_token": null }), None, None, false),
            (json!({ "expires_in": "soon", "scope": "" }), None, None, false),
            (json!({ "scope": ["a", "b"] }), None, Some("a b"), false),
            (json!({ "scope": " a  b ", "refresh_token": "r" }), None, Some("a b"), true),
            (json!({ "refresh_token": "", "unknown": [1, { "x": null }] }), None, None, false),
        ];
        for (given, lifetime, scope, has_refresh) in table {
            let mut members = given.as_object().unwrap().clone();
            members.insert("access_token".to_owned(), json!("t"));
            normalise(&mut members);
            let read: BasicTokenResponse = serde_json::from_value(Value::Object(members)).unwrap();
            assert_eq!(read.expires_in().map(|life| life.as_secs()), lifetime, "the lifetime in {given}");
            let scopes =
                read.scopes().map(|list| list.iter().map(|scope| scope.to_string()).collect::<Vec<_>>().join(" "));
            assert_eq!(scopes.as_deref(), scope, "the scopes in {given}");
            assert_eq!(
                read.refresh_token().is_some(),
                has_refresh,
                "[auth-refresh-not-assumed] a refresh token in {given}"
            );
            assert_eq!(*read.token_type(), BasicTokenType::Bearer, "the type in {given}");
        }
    }
}
