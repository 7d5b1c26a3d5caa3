//! Signed client assertions (`private_key_jwt`: RFC 7523, OpenID Connect Core 9).

use std::str::FromStr as _;
use std::time::SystemTime;

use jsonwebtoken::{Algorithm, AlgorithmFamily, EncodingKey, Header};
use serde_json::json;

use crate::dpop::unix_seconds;
use crate::error::AuthErrorCause;
use crate::stored_secret;

/// Value of `client_assertion_type` in token requests.
pub(crate) const CLIENT_ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// Lifetime of an assertion in seconds. An assertion is sent immediately after it is signed.
const ASSERTION_LIFETIME_SECONDS: u64 = 60;

/// Signs a client assertion for the authorization server with this issuer.
///
/// # Errors
/// Returns [`AuthErrorCause::Key`] if the key or the algorithm cannot be used.
pub(crate) fn sign_client_assertion(
    client_id: &str,
    issuer: &str,
    key_pem: &str,
    algorithm: &str,
    now: SystemTime,
) -> Result<String, AuthErrorCause> {
    let dpop_key_error = |cause: &str| AuthErrorCause::Key { cause: cause.to_owned() };
    let algorithm = Algorithm::from_str(algorithm).map_err(|_| dpop_key_error("its algorithm is unknown"))?;
    let pem = key_pem.as_bytes();
    let key = match algorithm.family() {
        AlgorithmFamily::Rsa => EncodingKey::from_rsa_pem(pem),
        AlgorithmFamily::Ec => EncodingKey::from_ec_pem(pem),
        AlgorithmFamily::Ed => EncodingKey::from_ed_pem(pem),
        AlgorithmFamily::Hmac => return Err(dpop_key_error("a shared secret is not a private key")),
    };
    let key = key.map_err(|_| dpop_key_error("it is not a PKCS#8 PEM private key for its algorithm"))?;
    let now = unix_seconds(now);
    let jti = stored_secret::random_id().ok_or_else(|| dpop_key_error("this system has no random source"))?;
    // RFC 7523bis: the audience is the issuer identifier alone.
    let claims = json!({
        "iss": client_id, "sub": client_id, "aud": issuer, "jti": jti, "iat": now, "exp": now + ASSERTION_LIFETIME_SECONDS,
    });
    let signed = jsonwebtoken::encode(&Header::new(algorithm), &claims, &key);
    signed.map_err(|_| dpop_key_error("signing failed"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use aws_lc_rs::encoding::AsDer as _;
    use aws_lc_rs::rsa;
    use aws_lc_rs::signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    };
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use jsonwebtoken::jwk::Jwk;
    use jsonwebtoken::{DecodingKey, Validation, decode};

    use super::*;

    fn private_key_to_pem(document: &[u8]) -> String {
        let text = STANDARD.encode(document);
        let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
    }

    #[test]
    fn every_kind_of_key_signs_a_verifiable_assertion() {
        let p256 = private_key_to_pem(
            EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap().to_pkcs8v1().unwrap().as_ref(),
        );
        let p384 = private_key_to_pem(
            EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING).unwrap().to_pkcs8v1().unwrap().as_ref(),
        );
        let ed = private_key_to_pem(Ed25519KeyPair::generate().unwrap().to_pkcs8v1().unwrap().as_ref());
        let rsa = private_key_to_pem(rsa::KeyPair::generate(rsa::KeySize::Rsa2048).unwrap().as_der().unwrap().as_ref());
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for (pem, name) in [
            (&p256, "ES256"),
            (&p384, "ES384"),
            (&ed, "EdDSA"),
            (&rsa, "RS256"),
            (&rsa, "RS384"),
            (&rsa, "RS512"),
            (&rsa, "PS256"),
            (&rsa, "PS384"),
            (&rsa, "PS512"),
        ] {
            let signed = sign_client_assertion("us", "https://as.example", pem, name, now)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let algorithm = Algorithm::from_str(name).unwrap();
            let private = match algorithm.family() {
                AlgorithmFamily::Rsa => EncodingKey::from_rsa_pem(pem.as_bytes()),
                AlgorithmFamily::Ec => EncodingKey::from_ec_pem(pem.as_bytes()),
                _ => EncodingKey::from_ed_pem(pem.as_bytes()),
            };
            let public = DecodingKey::from_jwk(&Jwk::from_encoding_key(&private.unwrap(), algorithm).unwrap()).unwrap();
            let mut validation = Validation::new(algorithm);
            validation.validate_exp = false;
            validation.set_audience(&["https://as.example"]);
            let claims = decode::<serde_json::Value>(&signed, &public, &validation).map(|token| token.claims);
            let claims = claims.unwrap_or_else(|error| panic!("[auth-cc-auth-method] {name} verifies: {error}"));
            assert_eq!((&claims["iss"], &claims["sub"]), (&json!("us"), &json!("us")), "[auth-cc-auth-method] {name}");
        }
    }
}
