//! A bundle: its archive and its manifest.

use std::path::Path;

use foreign::escape_invisible;
use installs::ManifestWarning;

use crate::limits::MAX_MANIFEST_BYTES;
use crate::tree::MANIFEST_FILE;
use crate::{Archive, ArchiveRefusal, BundleError, Manifest};

/// A bundle file whose archive was checked and whose manifest was parsed, so that it can be displayed and installed.
#[derive(Debug)]
pub struct Bundle {
    /// Archive with the files of the bundle. Its structure was checked when it was opened.
    pub archive: Archive,
    /// Manifest of the bundle, with texts in the publisher's default language.
    pub manifest: Manifest,
    /// Warnings about the parts of the manifest that were ignored or truncated.
    pub warnings: Vec<ManifestWarning>,
}

impl Bundle {
    /// Opens a bundle file, checks the structure of the archive and parses the manifest. Blocks.
    ///
    /// # Errors
    /// Returns [`BundleError::Io`] if the file can't be read, [`BundleError::Refused`] if the archive is not allowed or
    /// lacks a required file, and [`BundleError::Manifest`] if the manifest is invalid.
    pub fn open(path: &Path) -> Result<Self, BundleError> {
        Self::from_archive(Archive::open(path)?)
    }

    pub(crate) fn from_archive(archive: Archive) -> Result<Self, BundleError> {
        let (manifest, mut warnings) = Manifest::read(&archive.read(MANIFEST_FILE, MAX_MANIFEST_BYTES)?)?;
        if archive.file(&manifest.server.entry_point).is_none() {
            return Err(ArchiveRefusal::MissingFile(manifest.server.entry_point).into());
        }
        let shown = manifest.icons.iter().map(|icon| &icon.path).chain(&manifest.screenshots);
        let missing = shown.filter(|path| archive.file(path).is_none());
        let outside =
            |path: &String| ManifestWarning::ImageOutsideBundle { picture: escape_invisible(path).into_owned() };
        warnings.extend(missing.map(outside));
        Ok(Self { archive, manifest, warnings })
    }

    /// Returns the manifest with its display texts translated to a language, as far as the bundle contains
    /// translations. `locale` is a BCP 47 tag such as `de-AT`. Blocks.
    ///
    /// # Errors
    /// Returns a [`BundleError`] if the translations are damaged, too large or malformed.
    pub fn localized(&self, locale: &str) -> Result<Manifest, BundleError> {
        let paths = self.archive.files().map(|file| file.path.as_str());
        let Some(path) = self.manifest.find_translation(locale, paths) else { return Ok(self.manifest.clone()) };
        Ok(self.manifest.with_translations(&self.archive.read(path, MAX_MANIFEST_BYTES)?)?)
    }
}
