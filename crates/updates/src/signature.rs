//! Verification of the signature of a release manifest: minisign (https://jedisct1.github.io/minisign/), encoded in
//! base64 again, as Tauri's bundler does. The signature of the release's file is verified on installation
//! ([`ReleaseInstaller`](crate::ReleaseInstaller)).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minisign_verify::{PublicKey, Signature};

use crate::refusal::{SignatureProblem, UpdateRefusal};

/// File name that the trusted comment of a manifest's signature must contain. So the signature of another file is not
/// accepted for a manifest.
pub(crate) const MANIFEST_FILE_NAME: &str = "latest.json";

/// The project's public minisign key, which verifies release manifests.
#[derive(Clone)]
pub struct ReleasePublicKey {
    key: PublicKey,
    text: String,
    id: String,
}

impl ReleasePublicKey {
    /// Parses the public key in the format of the `.pub` file that `tauri signer generate` writes.
    ///
    /// # Errors
    /// Returns [`UpdateRefusal::Build`] if the text is not a key.
    pub fn parse(text: &str) -> Result<Self, UpdateRefusal> {
        let bad = || UpdateRefusal::Build("its public key can't be read".to_owned());
        let text = text.trim();
        let lines = decode_base64_text(text).ok_or_else(bad)?;
        let key = PublicKey::decode(&lines).map_err(|_| bad())?;
        let id = lines.lines().nth(1).and_then(parse_key_id).ok_or_else(bad)?;
        Ok(Self { key, text: text.to_owned(), id })
    }

    /// Returns the text from which the key was parsed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the identifier of the minisign key, as hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Checks that the project has signed these bytes as a release manifest.
    ///
    /// # Errors
    ///
    /// Returns [`UpdateRefusal::ManifestSignature`] if it did not.
    pub fn verify_manifest(&self, manifest: &[u8], signature: &str) -> Result<(), UpdateRefusal> {
        let comment = self.verify(manifest, signature).map_err(UpdateRefusal::ManifestSignature)?;
        // The project's artifacts are signed too, but they are no manifests.
        if comment.split('\t').any(|field| field.strip_prefix("file:") == Some(MANIFEST_FILE_NAME)) {
            Ok(())
        } else {
            Err(UpdateRefusal::ManifestSignature(SignatureProblem::Changed))
        }
    }

    /// Verifies the signature of `bytes`, and returns its trusted comment, which the signature covers as well. The
    /// comment consists of fields separated by tabs, such as `timestamp:1700000000` and `file:latest.json`.
    fn verify(&self, bytes: &[u8], signature: &str) -> Result<String, SignatureProblem> {
        let signature = decode_base64_text(signature.trim()).ok_or(SignatureProblem::Unreadable)?;
        let signature = Signature::decode(&signature).map_err(|_| SignatureProblem::Unreadable)?;
        // Legacy signatures, which are not over a hash of the bytes, are refused. The project never made one.
        self.key.verify(bytes, &signature, false).map_err(|error| SignatureProblem::from(&error))?;
        Ok(signature.trusted_comment().to_owned())
    }
}

impl fmt::Debug for ReleasePublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReleasePublicKey({})", self.id)
    }
}

fn decode_base64_text(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text).ok()?).ok()
}

/// Returns the key identifier in the second line of a public key file, in hexadecimal. In the decoded line, it is eight
/// bytes in little-endian order, after two bytes for the algorithm.
fn parse_key_id(line: &str) -> Option<String> {
    let bytes = STANDARD.decode(line.trim()).ok()?;
    let id: [u8; 8] = bytes.get(2..10)?.try_into().ok()?;
    Some(format!("{:016X}", u64::from_le_bytes(id)))
}
