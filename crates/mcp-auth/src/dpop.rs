//! DPoP proofs, which show that a request is from the holder of the key that the token is bound to (RFC 9449).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::error::AuthErrorCause;
use crate::stored_secret::{self, StoredSecret};

/// Maximum length of a DPoP nonce in bytes.
const MAX_DPOP_NONCE_BYTES: usize = 1024;
/// Maximum number of authorization servers for which a nonce is stored.
const MAX_STORED_DPOP_NONCES: usize = 8;

/// P-256 key pair to which the tokens of one account are bound.
#[derive(Clone)]
pub(crate) struct DpopKey {
    /// Key pair as PKCS#8, encoded in base64, as stored in the vault.
    encoded: StoredSecret,
    signing: EncodingKey,
    public: Jwk,
}

impl DpopKey {
    /// Generates a new key.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Key`] if this system cannot generate a key.
    pub(crate) fn generate() -> Result<DpopKey, AuthErrorCause> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map_err(|_| dpop_key_error())?;
        let document = pair.to_pkcs8v1().map_err(|_| dpop_key_error())?;
        DpopKey::from_stored_secret(StoredSecret::from(STANDARD.encode(document.as_ref()).as_str()))
    }

    /// Decodes a stored key.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Key`] if `encoded` is not a valid key.
    pub(crate) fn from_stored_secret(encoded: StoredSecret) -> Result<DpopKey, AuthErrorCause> {
        let document = STANDARD.decode(encoded.text()).map_err(|_| dpop_key_error())?;
        let signing = EncodingKey::from_ec_der(&document);
        let mut public = Jwk::from_encoding_key(&signing, Algorithm::ES256).map_err(|_| dpop_key_error())?;
        // The JWT header of the proof contains the algorithm already.
        public.common = jsonwebtoken::jwk::CommonParameters::default();
        Ok(DpopKey { encoded, signing, public })
    }

    pub(crate) fn stored(&self) -> &StoredSecret {
        &self.encoded
    }

    /// Creates a DPoP proof for one request. With `token`, the proof is for a request that carries this access token.
    /// Without `token`, it is for a token request.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Key`] if signing fails.
    pub(crate) fn sign_proof(
        &self,
        method: &str,
        url: &Url,
        token: Option<&str>,
        nonce: Option<&str>,
        now: SystemTime,
    ) -> Result<String, AuthErrorCause> {
        let mut address = url.clone();
        address.set_query(None);
        address.set_fragment(None);
        let mut claims = json!({
            "jti": stored_secret::random_id().ok_or_else(dpop_key_error)?,
            "htm": method,
            "htu": address.as_str(),
            "iat": unix_seconds(now),
        });
        if let Some(token) = token {
            claims["ath"] = json!(URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes())));
        }
        if let Some(nonce) = nonce {
            claims["nonce"] = json!(nonce);
        }
        let mut header = Header::new(Algorithm::ES256);
        header.typ = Some("dpop+jwt".to_owned());
        header.jwk = Some(self.public.clone());
        jsonwebtoken::encode(&header, &claims, &self.signing).map_err(|_| dpop_key_error())
    }
}

/// Latest DPoP nonces of authorization servers, as pairs of issuer and nonce.
#[derive(Debug, Default)]
pub(crate) struct DpopNonces(Mutex<Vec<(String, String)>>);

impl DpopNonces {
    fn lock(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, issuer: &str) -> Option<String> {
        self.lock().iter().find(|(known, _)| known == issuer).map(|(_, nonce)| nonce.clone())
    }

    pub(crate) fn set(&self, issuer: &str, nonce: String) {
        let mut all = self.lock();
        all.retain(|(known, _)| known != issuer);
        if all.len() >= MAX_STORED_DPOP_NONCES {
            all.remove(0);
        }
        all.push((issuer.to_owned(), nonce));
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }
}

/// Returns the text of a header if it is a valid DPoP nonce, and otherwise `None`.
pub(crate) fn parse_dpop_nonce(text: &str) -> Option<String> {
    let is_fit =
        !text.is_empty() && text.len() <= MAX_DPOP_NONCE_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_fit.then(|| text.to_owned())
}

/// Converts a time to seconds since the Unix epoch.
pub(crate) fn unix_seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_secs())
}

fn dpop_key_error() -> AuthErrorCause {
    AuthErrorCause::Key { cause: "no key for binding tokens could be made or read on this system".to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use jsonwebtoken::{DecodingKey, Validation, decode, decode_header};
    use serde_json::Value;

    use super::*;

    fn dpop_proof_claims(proof: &str) -> Value {
        let header = decode_header(proof).unwrap();
        let key = DecodingKey::from_jwk(header.jwk.as_ref().unwrap()).unwrap();
        let mut validation = Validation::new(Algorithm::ES256);
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        decode::<Value>(proof, &key, &validation).unwrap().claims
    }

    #[test]
    fn dpop_nonce_belongs_to_its_authorization_server() {
        let nonces = DpopNonces::default();
        nonces.set("https://one.example", "n1".to_owned());
        nonces.set("https://two.example", "n2".to_owned());
        nonces.set("https://one.example", "n3".to_owned());
        assert_eq!(nonces.get("https://one.example").as_deref(), Some("n3"), "the latest nonce must be used");
        assert_eq!(nonces.get("https://two.example").as_deref(), Some("n2"), "each issuer must have its own nonce");
        assert_eq!(nonces.get("https://three.example"), None, "an unknown issuer must have no nonce");
        (0..100).for_each(|number| nonces.set(&format!("https://{number}.example"), "n".to_owned()));
        assert_eq!(nonces.lock().len(), MAX_STORED_DPOP_NONCES, "the number of nonces must be limited");
    }

    #[test]
    fn dpop_proof_contains_all_claims_of_rfc_9449() {
        let key = DpopKey::generate().unwrap();
        let url = Url::parse("https://a.example/mcp?x=1#y").unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let proof = key.sign_proof("POST", &url, Some("token"), Some("n0"), now).unwrap();
        let header = decode_header(&proof).unwrap();
        assert_eq!((header.typ.as_deref(), header.alg), (Some("dpop+jwt"), Algorithm::ES256), "type and algorithm");
        let shown = serde_json::to_value(&header.jwk).unwrap();
        assert!(shown.get("d").is_none() && shown["crv"] == "P-256", "only the public key must be included: {shown}");
        let found = dpop_proof_claims(&proof);
        assert_eq!(found["htu"], "https://a.example/mcp", "without query and fragment");
        assert_eq!((&found["htm"], &found["nonce"]), (&json!("POST"), &json!("n0")), "method and nonce");
        assert_eq!(found["iat"], 1_800_000_000_u64, "time of creation");
        // RFC 9449, 4.2: the SHA-256 of the token.
        assert_eq!(found["ath"], "PEaenWxYddN6Q_NT1PiOYfz4EsZu7jRXRlpAsNpBU-A", "hash of the token");
        let second = key.sign_proof("POST", &url, Some("token"), Some("n0"), now).unwrap();
        assert_ne!(found["jti"], dpop_proof_claims(&second)["jti"], "proofs must be unique");
        let again = DpopKey::from_stored_secret(key.stored().clone()).unwrap();
        assert_eq!(serde_json::to_value(&again.public).unwrap(), shown, "a stored key must be restored");
    }
}
