//! Packages of npm, loaded by `npx` and `npm exec`.

use serde_json::Value;

use super::options::LauncherOptions;
use super::reference::{Launcher, PackageReference};
use super::{PackageVersion, UnknownPackage, validated_package_hash, validated_package_source, validated_version};

const NPX_OPTIONS: LauncherOptions = LauncherOptions {
    flags: &[
        "-y",
        "--yes",
        "-q",
        "--quiet",
        "-s",
        "--silent",
        "--prefer-online",
        "--prefer-offline",
        "--ignore-scripts",
        "--no-update-notifier",
        "--no-audit",
        "--no-fund",
    ],
    valued: &["-p", "--package", "--registry", "--loglevel"],
};

/// Fields of a package version that `npm view` prints for the lookup.
const NPM_VIEW_FIELDS: [&str; 4] = ["name", "version", "dist.integrity", "dist.tarball"];

pub(super) fn parse(launcher: Launcher, args: &[String], from: usize) -> Result<PackageReference, UnknownPackage> {
    if args.iter().skip(from).take_while(|arg| *arg != "--").any(|arg| arg == "-c" || arg.starts_with("--call")) {
        return Err(UnknownPackage::ShellLine);
    }
    let read = NPX_OPTIONS.parse(args, from)?;
    // `npm exec` also reads options after the package, up to `--`.
    let is_separated = read.first.checked_sub(1).and_then(|before| args.get(before)).is_some_and(|arg| arg == "--");
    if launcher == Launcher::NpmExec && !is_separated {
        let behind = args.iter().skip(read.first).take_while(|arg| *arg != "--").find(|arg| arg.starts_with('-'));
        if let Some(option) = behind {
            return Err(UnknownPackage::Option(option.split('=').next().unwrap_or_default().to_owned()));
        }
    }
    let mut named = read.values.iter().filter(|value| matches!(value.option, "-p" | "--package"));
    let mut reference = match (named.next(), named.next()) {
        (Some(_), Some(_)) => return Err(UnknownPackage::Several),
        (Some(option), None) => {
            let (name, requested) = split_package_specifier(option.value)?;
            let mut reference = PackageReference::new(launcher, name, requested, option.at);
            option.prefix.clone_into(&mut reference.prefix);
            reference.is_option = true;
            reference
        }
        (None, _) => {
            let (name, requested) = split_package_specifier(args.get(read.first).ok_or(UnknownPackage::NoPackage)?)?;
            PackageReference::new(launcher, name, requested, read.first)
        }
    };
    if let Some(registry) = read.values.iter().rfind(|value| value.option == "--registry") {
        reference.options.push(format!("--registry={}", registry.value));
    }
    Ok(reference)
}

/// Splits a package specifier into name and version. Returns an error if the specifier doesn't refer to a package in a
/// registry.
fn split_package_specifier(text: &str) -> Result<(String, String), UnknownPackage> {
    let other = || UnknownPackage::Specifier(text.to_owned());
    let at = text.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let (name, requested) = at.map_or((text, ""), |at| (&text[..at], &text[at + 1..]));
    let is_word = |word: &str| {
        let begins = word.starts_with(|c: char| c.is_ascii_alphanumeric() || "_~".contains(c));
        begins && word.chars().all(|c| c.is_ascii_alphanumeric() || "._~-".contains(c))
    };
    let is_name = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| is_word(scope) && is_word(name)),
        None => is_word(name) && !name.ends_with(".tgz") && !name.ends_with(".tar.gz"),
    };
    let is_range = requested.chars().all(|c| c.is_ascii_alphanumeric() || ".-+^~<>=|* _".contains(c));
    if !is_name || !is_range || at.is_some() && requested.trim().is_empty() {
        return Err(other());
    }
    Ok((name.to_owned(), requested.to_owned()))
}

/// Returns the arguments with which npm looks up a package.
pub(super) fn lookup_arguments(reference: &PackageReference) -> Vec<String> {
    let package = match reference.requested_version.as_str() {
        "" => reference.name.clone(),
        requested => format!("{}@{requested}", reference.name),
    };
    let mut args = vec!["view".to_owned()];
    args.extend(reference.options.iter().cloned());
    let bounds =
        ["--json", "--loglevel=error", "--no-update-notifier", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
    args.extend(bounds.map(str::to_owned));
    args.extend(["--".to_owned(), package]);
    args.extend(NPM_VIEW_FIELDS.map(str::to_owned));
    args
}

/// Parses the output of npm for a package: one version, or all versions that match a range, oldest first. Returns the
/// newest release, or else the newest version.
pub(super) fn parse_lookup_output(reference: &PackageReference, stdout: &str) -> Option<PackageVersion> {
    let answer: Value = serde_json::from_str(stdout).ok()?;
    let found = match answer {
        Value::Array(versions) => {
            let is_release = |version: &&Value| version["version"].as_str().is_some_and(|text| !text.contains('-'));
            versions.iter().rfind(is_release).or(versions.last())?.clone()
        }
        one => one,
    };
    let [name, version, integrity, tarball] = NPM_VIEW_FIELDS.map(|field| found.get(field).and_then(Value::as_str));
    let version = validated_version(version?)?;
    if name? != reference.name {
        return None;
    }
    Some(PackageVersion {
        argument: format!("{}@{version}", reference.name),
        name: reference.name.clone(),
        version,
        integrity: integrity.and_then(validated_package_hash),
        source: tarball.and_then(validated_package_source),
    })
}

/// Returns the error message in npm's JSON output.
pub(super) fn npm_error_message(stdout: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(stdout).ok()?;
    answer["error"]["summary"].as_str().filter(|words| !words.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npm_reference(requested: &str) -> PackageReference {
        PackageReference::new(Launcher::Npx, "@scope/server".into(), requested.into(), 0)
    }

    #[test]
    fn npm_version_is_parsed_with_its_hash() {
        let one = r#"{ "name": "@scope/server", "version": "1.2.3", "dist.integrity": "sha512-AbC+/=",
            "dist.tarball": "https://registry.test/s.tgz" }"#;
        let found = parse_lookup_output(&npm_reference(""), one).unwrap();
        assert_eq!((found.version.as_str(), found.integrity.as_deref()), ("1.2.3", Some("sha512-AbC+/=")), "{found:?}");
        assert_eq!(found.argument, "@scope/server@1.2.3", "the argument must name the version");
        assert_eq!(
            found.source.as_deref(),
            Some("https://registry.test/s.tgz"),
            "the source must be the tarball's address"
        );
    }

    #[test]
    fn newest_npm_release_of_a_range_is_selected() {
        let version = |version: &str| serde_json::json!({ "name": "@scope/server", "version": version });
        let all = serde_json::json!([version("1.0.0"), version("1.9.0"), version("2.0.0-beta")]).to_string();
        assert_eq!(
            parse_lookup_output(&npm_reference(">=1"), &all).unwrap().version,
            "1.9.0",
            "a release must take precedence over a newer beta"
        );
    }

    #[test]
    fn invalid_npm_version_is_rejected() {
        for (name, version) in [
            ("other", "1.2.3"),
            ("@scope/server", "1.2.3 --registry=http://evil.test"),
            ("@scope/server", "git+ssh://evil.test"),
            ("@scope/server", ""),
        ] {
            let text = serde_json::json!({ "name": name, "version": version }).to_string();
            assert_eq!(parse_lookup_output(&npm_reference(""), &text), None, "{name} {version}");
        }
        assert_eq!(parse_lookup_output(&npm_reference(""), "rubbish"), None, "text");
        assert_eq!(parse_lookup_output(&npm_reference(""), "[]"), None, "output without versions must be rejected");
    }
}
