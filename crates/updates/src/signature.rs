//! The project's signatures: minisign (https://jedisct1.github.io/minisign/), in base64 once more as Tauri's bundler writes them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minisign_verify::{Error, PublicKey, Signature};
use semver::Version;

use crate::refusal::{Refusal, SignatureProblem};

/// The name of the manifest in the comment of its signature. A signature of another file does not pass for one of a manifest.
pub(crate) const MANIFEST_NAME: &str = "latest.json";

/// The project's public key.
#[derive(Clone)]
pub struct ReleaseKey(PublicKey);

impl ReleaseKey {
    /// Reads a key as `tauri signer generate` writes it into its `.pub` file.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let bad = || Refusal::Build("its public key can't be read".to_owned());
        let text = decoded(text).ok_or_else(bad)?;
        PublicKey::decode(&text).map(Self).map_err(|_| bad())
    }

    /// Checks that the project signed these bytes as the manifest of a release.
    ///
    /// # Errors
    /// [`Refusal::ManifestSignature`] if it did not.
    pub fn verify_manifest(&self, manifest: &[u8], signature: &str) -> Result<(), Refusal> {
        let comment = self.verify(manifest, signature).map_err(Refusal::ManifestSignature)?;
        // An artifact of the project is signed as well, and is no manifest.
        if field(&comment, "file:") == Some(MANIFEST_NAME) {
            Ok(())
        } else {
            Err(Refusal::ManifestSignature(SignatureProblem::Changed))
        }
    }

    /// Checks that the project signed this file, as this very version: an older file does not pass for a newer one.
    ///
    /// # Errors
    /// [`Refusal::FileSignature`], [`Refusal::OtherVersion`] or [`Refusal::NoVersion`].
    pub fn verify_file(&self, file: &[u8], signature: &str, announced: &Version) -> Result<(), Refusal> {
        // Only what `verify` gives is covered by the signature.
        let comment = self.verify(file, signature).map_err(Refusal::FileSignature)?;
        let signed = field(&comment, "version:").ok_or(Refusal::NoVersion)?;
        match Version::parse(signed.trim_start_matches('v')) {
            Ok(version) if version == *announced => Ok(()),
            _ => Err(Refusal::OtherVersion { signed: signed.to_owned(), announced: announced.clone() }),
        }
    }

    /// The trusted comment of a signature that fits.
    fn verify(&self, bytes: &[u8], signature: &str) -> Result<String, SignatureProblem> {
        let signature = decoded(signature).ok_or(SignatureProblem::Unreadable)?;
        let signature = Signature::decode(&signature).map_err(|_| SignatureProblem::Unreadable)?;
        // Not legacy: those sign the bytes without hashing them, and the project never made one.
        self.0.verify(bytes, &signature, false).map_err(|error| match error {
            Error::UnexpectedKeyId => SignatureProblem::OtherKey,
            Error::InvalidEncoding => SignatureProblem::Unreadable,
            _ => SignatureProblem::Changed,
        })?;
        Ok(signature.trusted_comment().to_owned())
    }
}

impl fmt::Debug for ReleaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReleaseKey")
    }
}

/// One of the fields of a trusted comment, which tabs divide, as in `timestamp:1700000000`, `file:app.AppImage`, `version:1.2.3`.
fn field<'a>(comment: &'a str, name: &str) -> Option<&'a str> {
    comment.split('\t').find_map(|field| field.strip_prefix(name))
}

fn decoded(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()
}
