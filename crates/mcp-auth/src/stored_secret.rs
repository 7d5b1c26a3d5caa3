//! Secrets in entries of the vault, and generation of random identifiers.

use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Secret that may be serialized, but only into entries of the vault.
#[derive(Clone)]
pub(crate) struct StoredSecret(pub(crate) SecretString);

impl StoredSecret {
    pub(crate) fn text(&self) -> &str {
        self.0.expose_secret()
    }
}

impl From<&str> for StoredSecret {
    fn from(text: &str) -> StoredSecret {
        StoredSecret(SecretString::from(text))
    }
}

impl std::fmt::Debug for StoredSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

impl Serialize for StoredSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl<'de> Deserialize<'de> for StoredSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoredSecret, D::Error> {
        SecretString::deserialize(deserializer).map(StoredSecret)
    }
}

/// Returns 128 random bits as text for a unique identifier, or `None` if this system has no random source.
pub(crate) fn random_id() -> Option<String> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(URL_SAFE_NO_PAD.encode(bytes))
}

/// Compares two secrets in constant time.
pub(crate) fn constant_time_eq(one: &str, other: &str) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(one.as_bytes(), other.as_bytes()).is_ok()
}
