//! Encryption at rest: the key for conversation content (`history`) and for contents of the audit log (`audit`), and
//! SQL functions that encrypt and decrypt columns with it.
//!
//! An encrypted value is a BLOB: a version byte, a nonce, and the text encrypted with AES-256-GCM. An unencrypted value
//! is TEXT, as written without a keychain. The SQLite type of a value therefore shows if it is encrypted, and a file
//! can be read during its migration.

use std::sync::{Arc, PoisonError, RwLock};

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error};

/// Version of the format of encrypted values, stored as their first byte.
const ENCRYPTED_VALUE_VERSION: u8 = 1;
/// Number of bytes by which an encrypted value is longer than its text.
const ENCRYPTION_OVERHEAD_BYTES: usize = 1 + NONCE_LEN + 16;

/// The key that encrypts conversations and contents of the audit log. It is derived from a key in the operating
/// system's keychain.
pub(crate) struct ContentKey {
    /// Identifier of the key, which does not disclose the key.
    pub(crate) id: String,
    cipher: RandomizedNonceKey,
    names: hmac::Key,
}

/// Error for an encrypted value that can't be decrypted: it belongs to another key or column, or is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it can't be decrypted with the key in the keychain")]
pub(crate) struct ContentCipherError;

impl ContentKey {
    /// Creates a content key from two secrets of 32 bytes: `cipher` encrypts values, and `names` is the key of keyed
    /// hashes.
    pub(crate) fn new(id: String, cipher: &[u8], names: &[u8]) -> Result<Self, ContentCipherError> {
        let cipher = RandomizedNonceKey::new(&AES_256_GCM, cipher).map_err(|_| ContentCipherError)?;
        Ok(Self { id, cipher, names: hmac::Key::new(hmac::HMAC_SHA256, names) })
    }

    /// Encrypts a value, and binds the result to the name of its column: it can't be decrypted as the value of another
    /// column.
    pub(crate) fn encrypt(&self, column: &str, plain: &[u8]) -> Result<Vec<u8>, ContentCipherError> {
        let mut bytes = Vec::with_capacity(plain.len() + ENCRYPTION_OVERHEAD_BYTES);
        bytes.extend_from_slice(plain);
        let nonce = self.cipher.seal_in_place_append_tag(Aad::from(column.as_bytes()), &mut bytes);
        let nonce = nonce.map_err(|_| ContentCipherError)?;
        let head = std::iter::once(ENCRYPTED_VALUE_VERSION).chain(nonce.as_ref().iter().copied());
        bytes.splice(0..0, head);
        Ok(bytes)
    }

    /// Decrypts a value that was encrypted for the column of this name.
    pub(crate) fn decrypt(&self, column: &str, encrypted: &[u8]) -> Result<Vec<u8>, ContentCipherError> {
        let Some((&ENCRYPTED_VALUE_VERSION, rest)) = encrypted.split_first() else { return Err(ContentCipherError) };
        let (nonce, body) = rest.split_at_checked(NONCE_LEN).ok_or(ContentCipherError)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| ContentCipherError)?;
        let mut bytes = body.to_vec();
        let length = {
            let plain = self.cipher.open_in_place(nonce, Aad::from(column.as_bytes()), &mut bytes);
            plain.map_err(|_| ContentCipherError)?.len()
        };
        bytes.truncate(length);
        Ok(bytes)
    }

    pub(crate) fn decrypt_text(&self, column: &str, encrypted: &[u8]) -> Result<String, ContentCipherError> {
        String::from_utf8(self.decrypt(column, encrypted)?).map_err(|_| ContentCipherError)
    }

    /// Returns the length in bytes that this encrypted value has when it is decrypted.
    pub(crate) const fn plain_length(encrypted: &[u8]) -> usize {
        encrypted.len().saturating_sub(ENCRYPTION_OVERHEAD_BYTES)
    }

    /// Returns a keyed hash (MAC) of the bytes. Without the key, nobody can compute the hash of guessed contents to
    /// compare it with this one.
    pub(crate) fn keyed_hash(&self, bytes: &[u8]) -> [u8; 32] {
        let mut name = [0; 32];
        name.copy_from_slice(hmac::sign(&self.names, bytes).as_ref());
        name
    }
}

impl ContentKey {
    /// Returns `true` if `name` is the keyed hash of these bytes. Compares in constant time.
    pub(crate) fn verify_keyed_hash(&self, bytes: &[u8], name: &[u8]) -> bool {
        hmac::verify(&self.names, bytes, name).is_ok()
    }
}

/// Slot for the key with which the SQL functions of several database connections encrypt. Empty while the database is
/// not encrypted.
#[derive(Clone, Default)]
pub(crate) struct ContentKeySlot(Arc<RwLock<Option<Arc<ContentKey>>>>);

impl ContentKeySlot {
    pub(crate) fn get(&self) -> Option<Arc<ContentKey>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, key: Option<Arc<ContentKey>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = key;
    }
}

/// Adds SQL functions to a connection:
///
/// - `encrypted(column, value)` encrypts a text, or returns it unchanged without a key in the slot.
/// - `decrypted(column, value)` decrypts a value, and fails if that is impossible. Unencrypted values are returned
///   unchanged.
/// - `readable(column, value)` does the same, but returns NULL if the value can't be decrypted.
/// - `has_key()` returns true if there is a key in the slot.
pub(crate) fn add_encryption_functions(connection: &Connection, slot: &ContentKeySlot) -> rusqlite::Result<()> {
    // Must not be callable from a view or a trigger that another program wrote into the file.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    let own = slot.clone();
    connection.create_scalar_function("has_key", 0, flags, move |_| Ok(own.get().is_some()))?;
    let own = slot.clone();
    connection.create_scalar_function("encrypted", 2, flags, move |context| sql_encrypt_function(&own, context))?;
    let own = slot.clone();
    connection.create_scalar_function("decrypted", 2, flags, move |context| sql_decrypt_function(&own, context))?;
    let own = slot.clone();
    connection.create_scalar_function("readable", 2, flags, move |context| {
        Ok(sql_decrypt_function(&own, context).unwrap_or(Value::Null))
    })
}

/// Returns `true` if the slot of this connection contains a key, so that `encrypted()` encrypts values. The connection
/// must have the functions that [`add_encryption_functions`] adds.
pub(crate) fn is_content_key_set(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT has_key()")?.query_row([], |row| row.get(0))
}

fn sql_encrypt_function(slot: &ContentKeySlot, context: &Context<'_>) -> rusqlite::Result<Value> {
    let column = context.get_raw(0).as_str()?;
    match (context.get_raw(1), slot.get()) {
        (ValueRef::Text(text), Some(key)) => Ok(Value::Blob(key.encrypt(column, text).map_err(sql_cipher_error)?)),
        (value, _) => value.try_into().map_err(|error| sql_function_error(Box::new(error))),
    }
}

fn sql_decrypt_function(slot: &ContentKeySlot, context: &Context<'_>) -> rusqlite::Result<Value> {
    let column = context.get_raw(0).as_str()?;
    match (context.get_raw(1), slot.get()) {
        (ValueRef::Blob(bytes), Some(key)) => {
            Ok(Value::Text(key.decrypt_text(column, bytes).map_err(sql_cipher_error)?))
        }
        (ValueRef::Blob(_), None) => Err(sql_cipher_error(ContentCipherError)),
        (value, _) => value.try_into().map_err(|error| sql_function_error(Box::new(error))),
    }
}

pub(crate) fn sql_cipher_error(error: ContentCipherError) -> Error {
    sql_function_error(Box::new(error))
}

fn sql_function_error(error: Box<dyn std::error::Error + Send + Sync>) -> Error {
    Error::UserFunctionError(error)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn key(seed: u8) -> ContentKey {
        ContentKey::new(format!("{seed}"), &[seed; 32], &[seed + 1; 32]).unwrap()
    }

    #[test]
    fn value_is_decrypted_with_its_key_and_column_only() {
        let (one, two) = (key(1), key(2));
        let encrypted = one.encrypt("body", b"the fjord").unwrap();
        assert_eq!(
            encrypted.len(),
            "the fjord".len() + ENCRYPTION_OVERHEAD_BYTES,
            "encryption must add a fixed length"
        );
        assert_eq!(one.decrypt_text("body", &encrypted).as_deref(), Ok("the fjord"), "the key must decrypt its value");
        assert_eq!(one.decrypt("title", &encrypted), Err(ContentCipherError), "another column must not decrypt");
        assert_eq!(two.decrypt("body", &encrypted), Err(ContentCipherError), "another key must not decrypt");
        assert_ne!(one.encrypt("body", b"the fjord").unwrap(), encrypted, "equal texts must be encrypted differently");
        for at in 0..encrypted.len() {
            let mut changed = encrypted.clone();
            changed[at] ^= 1;
            assert_eq!(
                one.decrypt("body", &changed),
                Err(ContentCipherError),
                "a change of byte {at} must be detected"
            );
            assert_eq!(one.decrypt("body", &encrypted[..at]), Err(ContentCipherError), "{at} bytes must be too short");
        }
        assert_ne!(one.keyed_hash(b"x"), two.keyed_hash(b"x"), "a keyed hash must depend on the key");
    }

    #[test]
    fn sql_reads_plain_and_encrypted_values() {
        let connection = Connection::open_in_memory().unwrap();
        let slot = ContentKeySlot::default();
        add_encryption_functions(&connection, &slot).unwrap();
        connection
            .execute_batch("CREATE TABLE t (v ANY) STRICT; INSERT INTO t VALUES (encrypted('v', 'plain'))")
            .unwrap();
        slot.set(Some(Arc::new(key(1))));
        connection.execute_batch("INSERT INTO t VALUES (encrypted('v', 'secret')), (encrypted('v', NULL))").unwrap();
        let read = |sql: &str| -> rusqlite::Result<Vec<Option<String>>> {
            connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
        };
        assert_eq!(read("SELECT typeof(v) FROM t").unwrap(), ["text", "blob", "null"].map(|t| Some(t.to_owned())));
        let values = read("SELECT decrypted('v', v) FROM t").unwrap();
        assert_eq!(values, [Some("plain".to_owned()), Some("secret".to_owned()), None], "each value must be decrypted");
        slot.set(None);
        assert!(
            read("SELECT decrypted('v', v) FROM t").is_err(),
            "an encrypted value must be an error without the key"
        );
    }
}
