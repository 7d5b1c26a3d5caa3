//! What the project announces: one JSON file, in the form of Tauri's updater with the size of each file beside it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::refusal::Refusal;

/// The most characters of notes.
const MAX_NOTES: usize = 20_000;
/// The most platforms of one release.
const MAX_PLATFORMS: usize = 32;
/// The largest file of a release, in bytes. It is held in memory until it is installed.
pub(crate) const MAX_FILE: u64 = 512 * 1024 * 1024;
/// The longest signature, in characters: minisign's are below 600.
const MAX_SIGNATURE: usize = 2_000;

/// What is announced.
#[derive(Debug, Clone)]
pub struct Manifest {
    fields: Fields,
    whole: Value,
}

#[derive(Debug, Clone, Deserialize)]
struct Fields {
    version: String,
    #[serde(default)]
    notes: String,
    pub_date: Option<DateTime<Utc>>,
    platforms: BTreeMap<String, PlatformFile>,
}

/// The file of a release for one platform.
#[derive(Debug, Clone, Deserialize)]
struct PlatformFile {
    url: Url,
    signature: String,
    size: u64,
}

/// A newer version that this installation can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// What the user is shown.
    pub announcement: Announcement,
    /// The version of the release.
    pub version: Version,
    /// Where its file is.
    pub url: Url,
    /// The key of the file in the manifest.
    pub platform: String,
    /// The whole manifest, for what puts the file in place and reads the file's signature there.
    pub manifest: Value,
}

/// What the user is shown of a release before they choose to download or install it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Announcement {
    /// The version.
    pub version: String,
    /// What is new, as text.
    pub notes: String,
    /// When it was released, in milliseconds since 1970.
    pub date: Option<i64>,
    /// The size of the download, in bytes.
    pub size: u64,
}

impl Manifest {
    /// Reads a manifest whose signature fits.
    ///
    /// # Errors
    /// [`Refusal::ManifestUnusable`] if it is none, or beyond the bounds.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let unusable = |error: serde_json::Error| Refusal::ManifestUnusable(error.to_string());
        let whole: Value = serde_json::from_slice(bytes).map_err(unusable)?;
        let fields = Fields::deserialize(&whole).map_err(unusable)?;
        if fields.notes.chars().count() > MAX_NOTES {
            return Err(Refusal::ManifestUnusable(format!("its notes are longer than {MAX_NOTES} characters")));
        }
        if fields.platforms.len() > MAX_PLATFORMS {
            return Err(Refusal::ManifestUnusable(format!("it names more than {MAX_PLATFORMS} platforms")));
        }
        Ok(Self { fields, whole })
    }

    /// The release that a program of version `current` can take for `platform`. Nothing if it is not newer: a release never goes back.
    ///
    /// # Errors
    /// If there is a newer version without a file for this platform, or with one that can't be used.
    pub fn newer_than(self, current: &Version, platform: &str) -> Result<Option<Release>, Refusal> {
        let Self { fields, whole: manifest } = self;
        let version = Version::parse(fields.version.trim_start_matches('v'))
            .map_err(|error| Refusal::ManifestUnusable(format!("its version can't be read: {error}")))?;
        if version <= *current {
            return Ok(None);
        }
        let Some(file) = fields.platforms.get(platform) else {
            return Err(Refusal::NoPlatform { version, platform: platform.to_owned() });
        };
        if file.size == 0 || file.size > MAX_FILE {
            return Err(Refusal::ManifestUnusable(format!("a file of {} bytes is not taken", file.size)));
        }
        if file.signature.len() > MAX_SIGNATURE {
            return Err(Refusal::ManifestUnusable("a signature in it is too long".to_owned()));
        }
        let announcement = Announcement {
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

    fn manifest(version: &str, size: u64) -> Manifest {
        let file = json!({"url": "https://releases.example/app", "signature": "c2ln", "size": size});
        let text = json!({"version": version, "notes": "New.", "platforms": {PLATFORM: file}}).to_string();
        Manifest::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn only_a_newer_version_is_taken() {
        let current = Version::new(1, 2, 3);
        for (version, is_newer) in
            [("1.2.4", true), ("v1.3.0", true), ("1.2.3", false), ("1.2.2", false), ("1.2.3-rc.1", false)]
        {
            let found = manifest(version, 10).newer_than(&current, PLATFORM).unwrap();
            assert_eq!(found.is_some(), is_newer, "{version}");
        }
        assert!(manifest("newest", 10).newer_than(&current, PLATFORM).is_err(), "it is no version");
    }

    #[test]
    fn a_file_has_a_size_within_the_bounds() {
        for size in [0, MAX_FILE + 1] {
            let refusal = manifest("9.0.0", size).newer_than(&Version::new(1, 0, 0), PLATFORM).unwrap_err();
            assert!(matches!(refusal, Refusal::ManifestUnusable(_)), "{size}: {refusal}");
        }
        assert!(manifest("9.0.0", MAX_FILE).newer_than(&Version::new(1, 0, 0), PLATFORM).is_ok(), "the largest");
    }

    #[test]
    fn notes_and_platforms_are_bounded() {
        let file = json!({"url": "https://releases.example/app", "signature": "c2ln", "size": 1});
        let long = json!({"version": "1.0.0", "notes": "x".repeat(MAX_NOTES + 1), "platforms": {}}).to_string();
        assert!(Manifest::read(long.as_bytes()).unwrap_err().to_string().contains("notes"), "too long");
        let platforms: serde_json::Map<_, _> = (0..=MAX_PLATFORMS).map(|n| (format!("p{n}"), file.clone())).collect();
        let many = json!({"version": "1.0.0", "platforms": platforms}).to_string();
        assert!(Manifest::read(many.as_bytes()).unwrap_err().to_string().contains("platforms"), "too many");
        let bare = json!({"version": "1.0.0", "platforms": {"p": {"url": "https://releases.example/app"}}}).to_string();
        assert!(Manifest::read(bare.as_bytes()).is_err(), "a file without a signature");
    }
}
