//! The project's signature of the manifest: minisign (https://jedisct1.github.io/minisign/), in base64 once more as Tauri's bundler writes
//! it. That of the file is checked by what puts it in place ([`Install`](crate::Install)).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minisign_verify::{PublicKey, Signature};

use crate::refusal::{Refusal, SignatureProblem};

/// The name of the manifest in the comment of its signature. A signature of another file does not pass for one of a manifest.
pub(crate) const MANIFEST_NAME: &str = "latest.json";

/// The project's public key.
#[derive(Clone)]
pub struct ReleaseKey {
    key: PublicKey,
    text: String,
    id: String,
}

impl ReleaseKey {
    /// Reads a key as `tauri signer generate` writes it into its `.pub` file.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let bad = || Refusal::Build("its public key can't be read".to_owned());
        let text = text.trim();
        let lines = decoded(text).ok_or_else(bad)?;
        let key = PublicKey::decode(&lines).map_err(|_| bad())?;
        let id = lines.lines().nth(1).and_then(key_id).ok_or_else(bad)?;
        Ok(Self { key, text: text.to_owned(), id })
    }

    /// The key as it was read.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The number that minisign gives the key, in hexadecimal digits as it writes them.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Checks that the project signed these bytes as the manifest of a release.
    ///
    /// # Errors
    /// [`Refusal::ManifestSignature`] if it did not.
    pub fn verify_manifest(&self, manifest: &[u8], signature: &str) -> Result<(), Refusal> {
        let comment = self.verify(manifest, signature).map_err(Refusal::ManifestSignature)?;
        // An artifact of the project is signed as well, and is no manifest.
        if comment.split('\t').any(|field| field.strip_prefix("file:") == Some(MANIFEST_NAME)) {
            Ok(())
        } else {
            Err(Refusal::ManifestSignature(SignatureProblem::Changed))
        }
    }

    /// The trusted comment of a signature that fits, which the signature covers: fields divided by tabs, as in
    /// `timestamp:1700000000`, `file:latest.json`.
    fn verify(&self, bytes: &[u8], signature: &str) -> Result<String, SignatureProblem> {
        let signature = decoded(signature.trim()).ok_or(SignatureProblem::Unreadable)?;
        let signature = Signature::decode(&signature).map_err(|_| SignatureProblem::Unreadable)?;
        // Not legacy: those sign the bytes without hashing them, and the project never made one.
        self.key.verify(bytes, &signature, false).map_err(|error| SignatureProblem::from(&error))?;
        Ok(signature.trusted_comment().to_owned())
    }
}

impl fmt::Debug for ReleaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReleaseKey({})", self.id)
    }
}

fn decoded(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text).ok()?).ok()
}

/// The number of the key in its second line: after two bytes for the algorithm, eight bytes with the lowest first.
fn key_id(line: &str) -> Option<String> {
    let bytes = STANDARD.decode(line.trim()).ok()?;
    let id: [u8; 8] = bytes.get(2..10)?.try_into().ok()?;
    Some(format!("{:016X}", u64::from_le_bytes(id)))
}
