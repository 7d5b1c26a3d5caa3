//! Compares versions of servers. No version is installed here.

use std::cmp::Ordering;

use semver::Version;

use crate::server_json::{ListingStatus, RegistryEntry};

/// Compares two versions of a server: the newer one is the greater one. The version that the registry marks as latest
/// is the newest. Otherwise, the greater semantic version is newer, and a version that is not a semantic version is
/// older than all that are. Equal ones are compared by their publication times.
#[must_use]
pub fn compare_versions(one: &RegistryEntry, other: &RegistryEntry) -> Ordering {
    let is_latest = |entry: &RegistryEntry| entry.listing.as_ref().is_some_and(|listing| listing.is_latest);
    let published = |entry: &RegistryEntry| entry.listing.as_ref().and_then(|listing| listing.published_at);
    let semantic = |entry: &RegistryEntry| parse_semantic_version(&entry.server.version);
    // `None` is less than any version.
    is_latest(one)
        .cmp(&is_latest(other))
        .then_with(|| semantic(one).cmp(&semantic(other)))
        .then_with(|| published(one).cmp(&published(other)))
}

/// Returns the newest version in `versions` that is not deleted, if it is newer than the installed version.
///
/// If the registry no longer lists the installed version, the texts of the versions are compared.
///
/// # Examples
///
/// ```
/// use registry::find_newer_version;
/// use registry::server_json::read_page;
///
/// let page = read_page(br#"{ "servers": [
///     { "server": { "name": "com.example/notes", "version": "1.9.0" } },
///     { "server": { "name": "com.example/notes", "version": "1.10.0" } },
///     { "server": { "name": "com.example/notes", "version": "2.0.0" },
///       "_meta": { "io.modelcontextprotocol.registry/official": { "status": "deleted" } } }
/// ], "metadata": { "count": 3 } }"#)?;
/// let newer = |installed| find_newer_version(installed, &page.entries).map(|entry| entry.server.version.as_str());
/// assert_eq!(newer("1.9.0"), Some("1.10.0"), "a deleted version is not offered");
/// assert_eq!(newer("1.10.0"), None);
/// # Ok::<(), registry::server_json::EntryError>(())
/// ```
#[must_use]
pub fn find_newer_version<'e>(installed: &str, versions: &'e [RegistryEntry]) -> Option<&'e RegistryEntry> {
    let is_offered =
        |entry: &&RegistryEntry| entry.listing.as_ref().is_none_or(|listing| listing.status != ListingStatus::Deleted);
    let newest = versions.iter().filter(is_offered).max_by(|one, other| compare_versions(one, other))?;
    let is_newer = match versions.iter().find(|entry| entry.server.version == installed) {
        Some(own) => compare_versions(newest, own) == Ordering::Greater,
        None => parse_semantic_version(&newest.server.version) >= parse_semantic_version(installed),
    };
    (is_newer && newest.server.version != installed).then_some(newest)
}

fn parse_semantic_version(version: &str) -> Option<Version> {
    Version::parse(version.strip_prefix('v').unwrap_or(version)).ok()
}
