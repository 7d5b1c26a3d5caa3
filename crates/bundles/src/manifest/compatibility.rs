//! Version ranges in a manifest's `compatibility` member.

use std::collections::BTreeMap;

use semver::{Version, VersionReq};
use serde_json::{Map, Value};

use super::Compatibility;
use super::fields::{MAX_LABEL_BYTES, MAX_MANIFEST_ITEMS, ManifestFields, ManifestWarnings};

impl Compatibility {
    pub(super) fn read(root: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Self {
        let Some(object) = root.object("compatibility", warnings) else { return Self::default() };
        let fields = ManifestFields::new(object, "compatibility");
        let platforms = fields.value("platforms").map(|_| fields.string_list("platforms", warnings));
        let empty = Map::new();
        let runtimes = fields.object("runtimes", warnings).unwrap_or(&empty);
        let mut clients = object.clone();
        clients.retain(|name, value| !matches!(name.as_str(), "platforms" | "runtimes") && value.is_string());
        Self { platforms, runtimes: parse_ranges(runtimes, warnings), clients: parse_ranges(&clients, warnings) }
    }
}

fn parse_ranges(object: &Map<String, Value>, warnings: &mut ManifestWarnings) -> BTreeMap<String, String> {
    let fields = ManifestFields::new(object, "compatibility");
    let names = fields.keys().filter(|name| name.len() <= MAX_LABEL_BYTES).take(MAX_MANIFEST_ITEMS);
    names.filter_map(|name| Some((name.clone(), fields.text(name, MAX_LABEL_BYTES, warnings)?))).collect()
}

/// Returns `true` if a version is within a version range in the syntax of npm or Python, such as `>=18 <21 || ^22.1`,
/// `18.x`, `1.2 - 1.4` or `>=3.10,<4`. Returns `None` if the version or the range can't be parsed.
pub(crate) fn is_version_in_range(version: &str, range: &str) -> Option<bool> {
    let version = parse_runtime_version(version)?;
    let alternatives: Option<Vec<VersionReq>> = range.split("||").map(parse_range).collect();
    Some(alternatives?.iter().any(|requirement| requirement.matches(&version)))
}

/// Parses the version of Node or Python, in any of the forms `20.1.0`, `v20.1.0`, `3.11` and `3.12.0rc1`.
fn parse_runtime_version(version: &str) -> Option<Version> {
    let version = version.trim().trim_start_matches('v');
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    let mut numbers = version[..end].split('.').map(|number| number.parse().ok());
    let major = numbers.next()??;
    let mut next = || numbers.next().unwrap_or(Some(0));
    Some(Version::new(major, next()?, next()?))
}

/// Converts a version range from npm's syntax to that of the `semver` crate: with commas between comparators, and `=`
/// where npm means exactly one version.
fn parse_range(range: &str) -> Option<VersionReq> {
    let range = range.trim();
    if let Some((from, to)) = range.split_once(" - ") {
        return VersionReq::parse(&format!(">={}, <={}", from.trim(), to.trim())).ok();
    }
    let mut comparators: Vec<String> = Vec::new();
    let mut operator = String::new();
    for word in range.split([' ', ',']).filter(|word| !word.is_empty()) {
        if word.chars().all(|c| "<>=^~!".contains(c)) {
            operator.push_str(word);
            continue;
        }
        let (own, version) = word.split_at(word.find(|c| !"<>=^~!".contains(c))?);
        operator.push_str(own);
        // The operators `==` and `~=` belong to Python's syntax.
        let operator = match std::mem::take(&mut operator).as_str() {
            "" | "=" | "==" => "=",
            "~=" if version.matches('.').count() < 2 => "^",
            "~=" => "~",
            other if matches!(other, "<" | "<=" | ">" | ">=" | "^" | "~") => other,
            _ => return None,
        }
        .to_owned();
        let version = version.trim_start_matches('v');
        let is_any = matches!(version, "*" | "x" | "X" | "latest");
        comparators.push(if is_any { "*".to_owned() } else { format!("{operator}{version}") });
    }
    if !operator.is_empty() {
        return None;
    }
    comparators.retain(|comparator| comparator != "*");
    if comparators.is_empty() {
        return Some(VersionReq::STAR);
    }
    VersionReq::parse(&comparators.join(", ")).ok()
}

#[cfg(test)]
mod tests {
    use super::is_version_in_range;

    #[test]
    fn npm_and_python_version_ranges_are_parsed() {
        for (version, range, expected) in [
            ("v20.11.0", ">=18.0.0", Some(true)),
            ("20.11.0", ">=18 <20", Some(false)),
            ("22.1.0", ">=18 <20 || ^22.1", Some(true)),
            ("22.0.9", ">=18 <20 || ^22.1", Some(false)),
            ("18.9.1", "18.x", Some(true)),
            ("19.0.0", "18", Some(false)),
            ("1.3.9", "1.2 - 1.3", Some(true)),
            ("1.4.0", "1.2.0 - 1.3.9", Some(false)),
            ("3.12.0rc1", ">=3.10,<4", Some(true)),
            ("3.9", ">= 3.10", Some(false)),
            ("3.9.2", "==3.9.*", Some(true)),
            ("3.9.2", "~=3.8", Some(true)),
            ("3.9.2", "~=3.8.1", Some(false)),
            ("1.0.0", "*", Some(true)),
            ("1.0.0", "", Some(true)),
            ("1.0.0", "!=1.0.0", None),
            ("1.0.0", "newest", None),
            ("1.0.0", ">=", None),
            ("unknown", ">=1", None),
        ] {
            assert_eq!(is_version_in_range(version, range), expected, "{version} in {range:?}");
        }
    }
}
