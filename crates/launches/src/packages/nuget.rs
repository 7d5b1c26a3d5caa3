//! Packages of NuGet, loaded by `dnx`. Its client prints versions but no hashes.

use serde_json::Value;

use super::reference::{Launcher, PackageReference};
use super::{PackageVersion, UnknownPackage, validated_version};

/// Options of `dnx` that affect which package or version it loads.
const DNX_PACKAGE_SELECTION_OPTIONS: [&str; 6] =
    ["--version", "--source", "--add-source", "--configfile", "--prerelease", "--allow-roll-forward"];

pub(super) fn parse(args: &[String]) -> Result<PackageReference, UnknownPackage> {
    // Options may follow the package, up to `--`.
    let own = || args.iter().take_while(|arg| *arg != "--");
    let option = own()
        .map(|arg| arg.split('=').next().unwrap_or_default())
        .find(|name| DNX_PACKAGE_SELECTION_OPTIONS.contains(name));
    if let Some(option) = option {
        return Err(UnknownPackage::Option(option.to_owned()));
    }
    let at = own().take_while(|arg| matches!(arg.as_str(), "-y" | "--yes" | "--interactive")).count();
    let text = args.get(at).ok_or(UnknownPackage::NoPackage)?;
    let (name, requested) = text.split_once('@').unwrap_or((text, ""));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    if text.starts_with('-') {
        return Err(UnknownPackage::Option(text.split('=').next().unwrap_or_default().to_owned()));
    }
    if !is_name || text.contains('@') && validated_version(requested).is_none() {
        return Err(UnknownPackage::Specifier(text.clone()));
    }
    Ok(PackageReference::new(Launcher::Dnx, name.to_owned(), requested.to_owned(), at))
}

/// Returns the version of the package if the command line names an exact one, and otherwise `None`. A lookup of an
/// exact version would provide no further information.
pub(super) fn version_if_exact(reference: &PackageReference) -> Option<PackageVersion> {
    let is_whole = reference.requested_version.matches('.').count() >= 2 && !reference.requested_version.contains('*');
    is_whole.then(|| package_version(reference, reference.requested_version.clone(), None))
}

pub(super) fn lookup_arguments(reference: &PackageReference) -> Vec<String> {
    ["package", "search", &reference.name, "--exact-match", "--format", "json"].map(str::to_owned).into()
}

/// Parses NuGet's output of a lookup, and returns the newest matching version.
pub(super) fn parse_lookup_output(reference: &PackageReference, stdout: &str) -> Option<PackageVersion> {
    let answer: Value = serde_json::from_str(stdout).ok()?;
    let sources = answer["searchResult"].as_array()?;
    let found = sources.iter().flat_map(|source| {
        let packages = source["packages"].as_array().into_iter().flatten();
        packages.map(|package| (source["sourceName"].as_str(), package))
    });
    let is_expected = |text: &str| {
        reference.requested_version.is_empty()
            || text == reference.requested_version
            || text.starts_with(&format!("{}.", reference.requested_version))
    };
    let versions = found.filter_map(|(source, package)| {
        let is_same = package["id"].as_str().is_some_and(|id| id.eq_ignore_ascii_case(&reference.name));
        let text = package["version"].as_str().or_else(|| package["latestVersion"].as_str())?;
        let text = validated_version(text).filter(|text| is_same && !text.contains('-') && is_expected(text))?;
        Some((parse_version_numbers(&text)?, text, source.map(str::to_owned)))
    });
    let (_, text, source) = versions.max_by(|one, other| one.0.cmp(&other.0))?;
    Some(package_version(reference, text, source))
}

fn parse_version_numbers(version: &str) -> Option<Vec<u64>> {
    version.split('+').next()?.split('.').map(|part| part.parse().ok()).collect()
}

fn package_version(reference: &PackageReference, version: String, source: Option<String>) -> PackageVersion {
    let argument = format!("{}@{version}", reference.name);
    PackageVersion { name: reference.name.clone(), version, integrity: None, source, argument }
}
