//! Manifest of a release: a JSON file in the format of Tauri's updater, with an additional size for each file.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::refusal::UpdateRefusal;

/// Maximum length of the release notes, in characters.
const MAX_RELEASE_NOTES_CHARS: usize = 20_000;
/// Maximum number of platforms that a release manifest may list files for.
const MAX_MANIFEST_PLATFORMS: usize = 32;
/// Maximum size, in bytes, of the file of a release. The whole file is in memory until it is installed.
pub(crate) const MAX_RELEASE_FILE_BYTES: u64 = 512 * 1024 * 1024;
/// Maximum length of a signature in characters. Minisign's signatures have fewer than 600.
const MAX_SIGNATURE_CHARS: usize = 2_000;

/// A release manifest that was parsed after its signature had been verified.
#[derive(Debug, Clone)]
pub struct ReleaseManifest {
    fields: ReleaseManifestFields,
    whole: Value,
}

#[derive(Debug, Clone, Deserialize)]
struct ReleaseManifestFields {
    version: String,
    #[serde(default)]
    notes: String,
    pub_date: Option<DateTime<Utc>>,
    platforms: BTreeMap<String, PlatformFile>,
}

/// The file that updates the app on one platform, as the release manifest describes it.
#[derive(Debug, Clone, Deserialize)]
struct PlatformFile {
    url: Url,
    signature: String,
    size: u64,
}

/// A release of Drawbridge to which this installation can be updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Information about the release that the page shows.
    pub announcement: ReleaseAnnouncement,
    /// Version of the release, which is higher than that of the running app.
    pub version: Version,
    /// URL from which the file for this installation's platform is downloaded.
    pub url: Url,
    /// Key of this installation's file in the manifest, such as `linux-x86_64`.
    pub platform: String,
    /// The complete manifest. Tauri's updater reads the signature of the file from it.
    pub manifest: Value,
}

/// Information about a release that the user sees before it is downloaded and installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseAnnouncement {
    /// Version of the release, as text for display.
    pub version: String,
    /// Release notes, as plain text.
    pub notes: String,
    /// Publication time of the release, in milliseconds since 1970.
    pub date: Option<i64>,
    /// Size of the file to download, in bytes.
    pub size: u64,
}

impl ReleaseManifest {
    /// Parses a manifest whose signature has been verified.
    ///
    /// # Errors
    ///
    /// Returns [`UpdateRefusal::ManifestUnusable`] if it is not a manifest, or exceeds the limits.
    pub fn parse_verified(bytes: &[u8]) -> Result<Self, UpdateRefusal> {
        let unusable = |error: serde_json::Error| UpdateRefusal::ManifestUnusable(error.to_string());
        let whole: Value = serde_json::from_slice(bytes).map_err(unusable)?;
        let fields = ReleaseManifestFields::deserialize(&whole).map_err(unusable)?;
        if fields.notes.chars().count() > MAX_RELEASE_NOTES_CHARS {
            return Err(UpdateRefusal::ManifestUnusable(format!(
                "its notes are longer than {MAX_RELEASE_NOTES_CHARS} characters"
            )));
        }
        if fields.platforms.len() > MAX_MANIFEST_PLATFORMS {
            return Err(UpdateRefusal::ManifestUnusable(format!(
                "it names more than {MAX_MANIFEST_PLATFORMS} platforms"
            )));
        }
        Ok(Self { fields, whole })
    }

    /// Returns the release if its version is newer than `current`, with its file for `platform`. Returns `None` for the
    /// same or an older version, since an update never downgrades.
    ///
    /// # Errors
    /// Returns [`UpdateRefusal::NoPlatform`] if a newer version has no file for this platform, and
    /// [`UpdateRefusal::ManifestUnusable`] if the version or the entry of the file is invalid.
    pub fn release_newer_than(self, current: &Version, platform: &str) -> Result<Option<Release>, UpdateRefusal> {
        let Self { fields, whole: manifest } = self;
        let version = Version::parse(fields.version.trim_start_matches('v'))
            .map_err(|error| UpdateRefusal::ManifestUnusable(format!("its version can't be read: {error}")))?;
        if version <= *current {
            return Ok(None);
        }
        let Some(file) = fields.platforms.get(platform) else {
            return Err(UpdateRefusal::NoPlatform { version, platform: platform.to_owned() });
        };
        if file.size == 0 || file.size > MAX_RELEASE_FILE_BYTES {
            return Err(UpdateRefusal::ManifestUnusable(format!("a file of {} bytes is not accepted", file.size)));
        }
        if file.signature.len() > MAX_SIGNATURE_CHARS {
            return Err(UpdateRefusal::ManifestUnusable("a signature in it is too long".to_owned()));
        }
        let announcement = ReleaseAnnouncement {
            version: version.to_string(),
            notes: fields.notes,
            date: fields.pub_date.map(|date| date.timestamp_millis()),
            size: file.size,
        };
        let (url, platform) = (file.url.clone(), platform.to_owned());
        Ok(Some(Release { announcement, version, url, platform, manifest }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    const PLATFORM: &str = "linux-x86_64-appimage";

    fn test_manifest(version: &str, size: u64) -> ReleaseManifest {
        let file = json!({"url": "https://releases.example/app", "signature": "c2ln", "size": size});
        let text = json!({"version": version, "notes": "New.", "platforms": {PLATFORM: file}}).to_string();
        ReleaseManifest::parse_verified(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_a_newer_version_is_accepted() {
        let current = Version::new(1, 2, 3);
        for (version, is_newer) in
            [("1.2.4", true), ("v1.3.0", true), ("1.2.3", false), ("1.2.2", false), ("1.2.3-rc.1", false)]
        {
            let found = test_manifest(version, 10).release_newer_than(&current, PLATFORM).unwrap();
            assert_eq!(found.is_some(), is_newer, "{version}");
        }
        assert!(
            test_manifest("newest", 10).release_newer_than(&current, PLATFORM).is_err(),
            "an invalid version must be refused"
        );
    }

    #[test]
    fn release_file_that_is_empty_or_too_large_is_refused() {
        for size in [0, MAX_RELEASE_FILE_BYTES + 1] {
            let refusal =
                test_manifest("9.0.0", size).release_newer_than(&Version::new(1, 0, 0), PLATFORM).unwrap_err();
            assert!(matches!(refusal, UpdateRefusal::ManifestUnusable(_)), "{size}: {refusal}");
        }
        assert!(
            test_manifest("9.0.0", MAX_RELEASE_FILE_BYTES).release_newer_than(&Version::new(1, 0, 0), PLATFORM).is_ok(),
            "a file of the maximum size must be accepted"
        );
    }

    #[test]
    fn notes_and_platforms_are_bounded() {
        let file = json!({"url": "https://releases.example/app", "signature": "c2ln", "size": 1});
        let long =
            json!({"version": "1.0.0", "notes": "x".repeat(MAX_RELEASE_NOTES_CHARS + 1), "platforms": {}}).to_string();
        assert!(
            ReleaseManifest::parse_verified(long.as_bytes()).unwrap_err().to_string().contains("notes"),
            "notes beyond the limit must be refused"
        );
        let platforms: serde_json::Map<_, _> =
            (0..=MAX_MANIFEST_PLATFORMS).map(|n| (format!("p{n}"), file.clone())).collect();
        let many = json!({"version": "1.0.0", "platforms": platforms}).to_string();
        assert!(
            ReleaseManifest::parse_verified(many.as_bytes()).unwrap_err().to_string().contains("platforms"),
            "too many platforms must be refused"
        );
        let bare = json!({"version": "1.0.0", "platforms": {"p": {"url": "https://releases.example/app"}}}).to_string();
        assert!(
            ReleaseManifest::parse_verified(bare.as_bytes()).is_err(),
            "a file without a signature must be refused"
        );
    }
}
