//! The format of `secrets.json`: encrypted entries, each bound to its name.

use std::collections::BTreeMap;

use aws_lc_rs::aead::{AES_256_GCM, Aad, Nonce, RandomizedNonceKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Version of the format of `secrets.json`.
const SECRETS_FORMAT_VERSION: u32 = 1;
/// Length of the key that encrypts `secrets.json`, in bytes.
pub(super) const KEY_BYTES: usize = 32;
/// Name with which [`EncryptedSecretsFile::check`] is encrypted in place of the name of a secret. Names of secrets are
/// never empty.
const KEY_CHECK_NAME: &str = "";

/// The key that encrypts one `secrets.json`.
pub(super) struct SecretsKey {
    /// Identifier of the key, which the name of its keychain entry and the encrypted file contain.
    pub(super) id: String,
    cipher: RandomizedNonceKey,
}

/// Error of encrypting or decrypting a secret: wrong key, wrong name, or damaged data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecretCipherError;

impl SecretsKey {
    pub(super) fn new(id: &str, bytes: &[u8]) -> Result<Self, SecretCipherError> {
        let cipher = RandomizedNonceKey::new(&AES_256_GCM, bytes).map_err(|_| SecretCipherError)?;
        Ok(Self { id: id.to_owned(), cipher })
    }

    /// Creates a random key, and returns its identifier and its bytes.
    pub(super) fn generate() -> Result<(String, Zeroizing<[u8; KEY_BYTES]>), SecretCipherError> {
        let (mut id, mut bytes) = ([0; 8], Zeroizing::new([0; KEY_BYTES]));
        aws_lc_rs::rand::fill(&mut id).map_err(|_| SecretCipherError)?;
        aws_lc_rs::rand::fill(bytes.as_mut_slice()).map_err(|_| SecretCipherError)?;
        Ok((id.iter().map(|byte| format!("{byte:02x}")).collect(), bytes))
    }

    /// Encrypts a secret with a random nonce, and binds the result to its name: it can't be decrypted under another
    /// name.
    pub(super) fn encrypt(&self, name: &str, secret: &str) -> Result<EncryptedSecret, SecretCipherError> {
        let mut bytes = secret.as_bytes().to_vec();
        let nonce = self.cipher.seal_in_place_append_tag(Aad::from(name.as_bytes()), &mut bytes);
        let nonce = nonce.map_err(|_| SecretCipherError)?;
        Ok(EncryptedSecret { nonce: STANDARD.encode(nonce.as_ref()), ciphertext: STANDARD.encode(bytes) })
    }

    /// Decrypts a secret that was encrypted under this name.
    pub(super) fn decrypt(&self, name: &str, entry: &EncryptedSecret) -> Result<String, SecretCipherError> {
        let nonce = STANDARD.decode(&entry.nonce).map_err(|_| SecretCipherError)?;
        let nonce = Nonce::try_assume_unique_for_key(&nonce).map_err(|_| SecretCipherError)?;
        let mut bytes = Zeroizing::new(STANDARD.decode(&entry.ciphertext).map_err(|_| SecretCipherError)?);
        let opened = self.cipher.open_in_place(nonce, Aad::from(name.as_bytes()), &mut bytes);
        String::from_utf8(opened.map_err(|_| SecretCipherError)?.to_vec()).map_err(|_| SecretCipherError)
    }
}

/// The JSON content of `secrets.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EncryptedSecretsFile {
    version: u32,
    /// Identifier of the key that encrypts the file.
    pub(super) key: String,
    /// An empty text encrypted with the key of the file. A key is the right one if it decrypts this text.
    check: EncryptedSecret,
    /// Encrypted secrets by name.
    pub(super) entries: BTreeMap<String, EncryptedSecret>,
}

/// An encrypted secret as nonce and ciphertext, in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EncryptedSecret {
    nonce: String,
    #[serde(rename = "sealed")]
    ciphertext: String,
}

impl EncryptedSecretsFile {
    pub(super) fn new(key: &SecretsKey) -> Result<Self, SecretCipherError> {
        let check = key.encrypt(KEY_CHECK_NAME, "")?;
        Ok(Self { version: SECRETS_FORMAT_VERSION, key: key.id.clone(), check, entries: BTreeMap::new() })
    }

    /// Parses the bytes of `secrets.json`.
    ///
    /// # Errors
    /// Returns a message that explains why it can't be parsed.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let file: Self = serde_json::from_slice(bytes).map_err(|error| format!("line {}: {error}", error.line()))?;
        if file.version != SECRETS_FORMAT_VERSION {
            return Err(format!("it is of version {}, which a newer Drawbridge wrote", file.version));
        }
        Ok(file)
    }

    /// Returns `true` if this key encrypts `secrets.json`.
    pub(super) fn is_encrypted_with(&self, key: &SecretsKey) -> bool {
        self.key == key.id && key.decrypt(KEY_CHECK_NAME, &self.check).is_ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn key() -> SecretsKey {
        let (id, bytes) = SecretsKey::generate().unwrap();
        SecretsKey::new(&id, bytes.as_slice()).unwrap()
    }

    #[test]
    fn secret_is_decrypted_with_its_key_and_name_only() {
        let (one, two) = (key(), key());
        let encrypted = one.encrypt("a", "top-secret").unwrap();
        assert_eq!(one.decrypt("a", &encrypted).as_deref(), Ok("top-secret"), "the right key and name must decrypt");
        assert_eq!(one.decrypt("b", &encrypted), Err(SecretCipherError), "another name must not decrypt");
        assert_eq!(two.decrypt("a", &encrypted), Err(SecretCipherError), "another key must not decrypt");
        assert_ne!(one.encrypt("a", "top-secret").unwrap(), encrypted, "each encryption must use a new nonce");
        let mut bytes = STANDARD.decode(&encrypted.ciphertext).unwrap();
        for at in 0..bytes.len() {
            bytes[at] ^= 1;
            let changed = EncryptedSecret { ciphertext: STANDARD.encode(&bytes), ..encrypted.clone() };
            assert_eq!(
                one.decrypt("a", &changed),
                Err(SecretCipherError),
                "a file with a changed byte {at} must not be decrypted"
            );
            bytes[at] ^= 1;
        }
        for strange in ["", "AAAA", "no base64"] {
            let entry = EncryptedSecret { nonce: strange.to_owned(), ciphertext: strange.to_owned() };
            assert_eq!(one.decrypt("a", &entry), Err(SecretCipherError), "{strange:?} must not decrypt");
        }
    }

    #[test]
    fn secrets_file_recognizes_its_key() {
        let (one, two) = (key(), key());
        let file = EncryptedSecretsFile::new(&one).unwrap();
        assert!(
            file.is_encrypted_with(&one) && !file.is_encrypted_with(&two),
            "a file must recognize only its own key"
        );
        let same_name = SecretsKey::new(&one.id, &[7; KEY_BYTES]).unwrap();
        assert!(!file.is_encrypted_with(&same_name), "another key of the same name must not be recognized");
        assert!(EncryptedSecretsFile::read(b"{\"version\":2}").is_err(), "another version must be refused");
    }
}
