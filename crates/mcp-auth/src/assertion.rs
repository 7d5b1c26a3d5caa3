//! Signed statements by which a client proves who it is (`private_key_jwt`: RFC 7523, OpenID Connect Core 9).

use std::str::FromStr as _;
use std::time::SystemTime;

use jsonwebtoken::{Algorithm, AlgorithmFamily, EncodingKey, Header};
use serde_json::json;

use crate::dpop::seconds;
use crate::error::Cause;
use crate::secret;

/// What goes into `client_assertion_type`.
pub(crate) const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How long a statement counts, in seconds: it is used at once.
const LIFETIME: u64 = 60;

/// A statement for the authorization server with this issuer.
///
/// # Errors
/// If the key or the algorithm cannot be used.
pub(crate) fn sign(
    client_id: &str,
    issuer: &str,
    key_pem: &str,
    algorithm: &str,
    now: SystemTime,
) -> Result<String, Cause> {
    let key_error = |cause: &str| Cause::Key { cause: cause.to_owned() };
    let algorithm = Algorithm::from_str(algorithm).map_err(|_| key_error("its algorithm is not known"))?;
    let pem = key_pem.as_bytes();
    let key = match algorithm.family() {
        AlgorithmFamily::Rsa => EncodingKey::from_rsa_pem(pem),
        AlgorithmFamily::Ec => EncodingKey::from_ec_pem(pem),
        AlgorithmFamily::Ed => EncodingKey::from_ed_pem(pem),
        AlgorithmFamily::Hmac => return Err(key_error("a shared secret is no private key")),
    };
    let key = key.map_err(|_| key_error("it is no private key in PKCS#8 PEM that goes with its algorithm"))?;
    let now = seconds(now);
    let jti = secret::random().ok_or_else(|| key_error("this system has no randomness"))?;
    // RFC 7523bis: the audience is the issuer identifier and nothing else.
    let claims = json!({
        "iss": client_id, "sub": client_id, "aud": issuer, "jti": jti, "iat": now, "exp": now + LIFETIME,
    });
    let signed = jsonwebtoken::encode(&Header::new(algorithm), &claims, &key);
    signed.map_err(|_| key_error("it cannot sign"))
}
