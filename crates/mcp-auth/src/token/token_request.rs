//! Sending of token requests: client authentication (RFC 6749, 2.3; RFC 7523, 2.2), and DPoP proofs with the server's
//! nonce (RFC 9449, 5 and 8).

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Method, Request, Response};
use oauth2::basic::BasicClient;
use oauth2::{AsyncHttpClient, AuthType, ClientId, ClientSecret, EndpointNotSet, EndpointSet, TokenUrl};
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::TokenEndpoint;
use super::token_response::{normalize_token_response, parse_json_object};
use crate::client_assertion;
use crate::dpop;
use crate::error::{AuthError, AuthErrorCause};
use crate::metadata_address;
use crate::metadata_document;
use crate::oauth_client::StoredClientAuth;

type TokenClient = BasicClient<EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

/// HTTP client that the crate `oauth2` uses to send requests to one token endpoint.
pub(super) struct TokenHttpClient<'a> {
    pub(super) endpoint: &'a TokenEndpoint<'a>,
    /// ID token of the last response, which `oauth2` does not return.
    pub(super) id_token: Mutex<Option<SecretString>>,
}

impl<'c> AsyncHttpClient<'c> for TokenHttpClient<'_> {
    type Error = AuthError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Vec<u8>>, AuthError>> + Send + 'c>>;

    fn call(&'c self, request: Request<Vec<u8>>) -> Self::Future {
        Box::pin(self.endpoint.send_token_request(request, &self.id_token))
    }
}

impl TokenEndpoint<'_> {
    pub(super) fn oauth_client(&self) -> TokenClient {
        let client =
            BasicClient::new(ClientId::new(self.client.id.clone())).set_token_uri(TokenUrl::from_url(self.url.clone()));
        match &self.client.authentication {
            StoredClientAuth::Basic(secret) => {
                client.set_auth_type(AuthType::BasicAuth).set_client_secret(ClientSecret::new(secret.text().to_owned()))
            }
            StoredClientAuth::Post(secret) => client
                .set_auth_type(AuthType::RequestBody)
                .set_client_secret(ClientSecret::new(secret.text().to_owned())),
            StoredClientAuth::None | StoredClientAuth::PrivateKeyJwt { .. } => {
                client.set_auth_type(AuthType::RequestBody)
            }
        }
    }

    /// Returns the form parameters with a client assertion, or an empty list if the client does not authenticate by an
    /// assertion.
    pub(super) fn assertion_parameters(&self) -> Result<Vec<(&'static str, String)>, AuthError> {
        let StoredClientAuth::PrivateKeyJwt { key_pem, algorithm } = &self.client.authentication else {
            return Ok(Vec::new());
        };
        let statement =
            client_assertion::sign_client_assertion(&self.client.id, self.issuer, key_pem.text(), algorithm, self.now);
        let statement = statement.map_err(|cause| self.phase.error(cause))?;
        self.web.register_secret(&SecretString::from(statement.as_str()));
        Ok(vec![
            ("client_assertion_type", client_assertion::CLIENT_ASSERTION_TYPE.to_owned()),
            ("client_assertion", statement),
        ])
    }

    /// Sends a token request for a grant that `oauth2` does not support.
    pub(super) async fn send_grant_request(
        &self,
        parameters: Vec<(&'static str, String)>,
    ) -> Result<Map<String, Value>, AuthError> {
        let extra = Mutex::new(None);
        let answer = self.send_token_request(self.build_form_request(parameters)?, &extra).await?;
        let members = parse_json_object(answer.body()).unwrap_or_default();
        if answer.status().is_success() {
            return Ok(members);
        }
        let code = metadata_document::string_member(&members, "error").unwrap_or_default();
        Err(self
            .phase
            .error(self.oauth_error_cause(&code, metadata_document::string_member(&members, "error_description"))))
    }

    pub(super) fn build_form_request(
        &self,
        mut parameters: Vec<(&'static str, String)>,
    ) -> Result<Request<Vec<u8>>, AuthError> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(self.url.as_str())
            .header("accept", "application/json")
            .header("content-type", "application/x-www-form-urlencoded");
        match &self.client.authentication {
            StoredClientAuth::Basic(secret) => {
                // RFC 6749, 2.3.1: both are form-encoded first.
                let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encode(&self.client.id), encode(secret.text()));
                request = request.header("authorization", format!("Basic {}", STANDARD.encode(pair)));
            }
            StoredClientAuth::Post(secret) => {
                parameters.push(("client_id", self.client.id.clone()));
                parameters.push(("client_secret", secret.text().to_owned()));
            }
            StoredClientAuth::None | StoredClientAuth::PrivateKeyJwt { .. } => {
                parameters.push(("client_id", self.client.id.clone()));
                parameters.extend(self.assertion_parameters()?);
            }
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        request.body(body.into_bytes()).map_err(|_| self.unreadable_response_error("the request could not be built"))
    }

    /// Sends a token request. If the client has a DPoP key, adds a proof. If the server then requires a nonce, sends
    /// the request again with that nonce.
    pub(super) async fn post(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, AuthError> {
        let first = self.send(&request).await?;
        let requires_nonce = self.dpop.is_some()
            && first.headers().contains_key("dpop-nonce")
            && parse_json_object(first.body())
                .and_then(|members| metadata_document::string_member(&members, "error"))
                .as_deref()
                == Some("use_dpop_nonce");
        if !requires_nonce {
            return Ok(first);
        }
        self.web.set_conclusion("it requires its nonce in the proof");
        self.send(&request).await
    }

    async fn send(&self, request: &Request<Vec<u8>>) -> Result<Response<Vec<u8>>, AuthError> {
        let mut request = request.clone();
        if let Some(key) = self.dpop {
            let nonce = self.nonces.get(self.issuer);
            let proof = key.sign_proof("POST", self.url, None, nonce.as_deref(), self.now);
            let proof = proof.map_err(|cause| self.phase.error(cause))?;
            let proof = HeaderValue::from_str(&proof)
                .map_err(|_| self.unreadable_response_error("the proof could not be sent"))?;
            request.headers_mut().insert("dpop", proof);
        }
        let answer = self.web.send(self.phase, request).await?;
        let nonce = answer.headers().get("dpop-nonce").and_then(|value| dpop::parse_dpop_nonce(value.to_str().ok()?));
        if let Some(nonce) = nonce {
            self.nonces.set(self.issuer, nonce);
        }
        Ok(answer)
    }

    /// Sends a token request and normalizes the response for strict parsers. Stores the ID token in `id_token`, since
    /// `oauth2` drops it.
    async fn send_token_request(
        &self,
        request: Request<Vec<u8>>,
        id_token: &Mutex<Option<SecretString>>,
    ) -> Result<Response<Vec<u8>>, AuthError> {
        let answer = self.post(request).await?;
        let status = answer.status().as_u16();
        let Some(mut members) =
            parse_json_object(answer.body()).filter(|_| status < 500 && !(300..400).contains(&status))
        else {
            let cause = if (200..300).contains(&status) {
                return Err(self.log_conclusion_of_error(self.unreadable_response_error("it is not a JSON object")));
            } else {
                AuthErrorCause::Status { address: metadata_address::displayed_url(self.url), status }
            };
            return Err(self.log_conclusion_of_error(self.phase.error(cause)));
        };
        if metadata_document::string_member(&members, "error").is_some() {
            // Some servers send errors with status 200.
            let error = json!({ "error": members["error"], "error_description": members.get("error_description").filter(|text| text.is_string()) });
            let cause = self.oauth_error_cause(error["error"].as_str().unwrap_or_default(), None);
            self.web.set_conclusion(&cause.to_string());
            return self.json_response(400, error);
        }
        if !(200..300).contains(&status) {
            let cause = AuthErrorCause::Status { address: metadata_address::displayed_url(self.url), status };
            return Err(self.log_conclusion_of_error(self.phase.error(cause)));
        }
        let found = metadata_document::string_member(&members, "id_token").map(SecretString::from);
        *id_token.lock().unwrap_or_else(PoisonError::into_inner) = found;
        normalize_token_response(&mut members);
        self.json_response(200, Value::Object(members))
    }

    fn json_response(&self, status: u16, body: Value) -> Result<Response<Vec<u8>>, AuthError> {
        let response = Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(body.to_string().into_bytes());
        response.map_err(|_| self.unreadable_response_error("the response could not be read"))
    }
}
