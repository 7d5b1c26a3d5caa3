//! Packages of Python, loaded by `uvx` and `uv tool run`.

use super::options::LauncherOptions;
use super::reference::{Launcher, PackageReference};
use super::{PackageVersion, UnknownPackage, validated_package_hash, validated_package_source, validated_version};

const UVX_OPTIONS: LauncherOptions = LauncherOptions {
    flags: &[
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "--isolated",
        "--no-progress",
        "--offline",
        "--native-tls",
        "--system-certs",
        "--no-config",
        "--no-index",
        "--refresh",
        "-n",
        "--no-cache",
        "--no-python-downloads",
        "--managed-python",
        "--no-managed-python",
        "--no-env-file",
    ],
    valued: &[
        "--from",
        "-w",
        "--with",
        "-p",
        "--python",
        "--index",
        "--default-index",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "--index-strategy",
        "--exclude-newer",
        "--prerelease",
        "--color",
    ],
};

/// Flags of `uvx` in a server's command line that are passed on to uv for the lookup of the version.
const UVX_FLAGS_FORWARDED_TO_LOOKUP: [&str; 5] =
    ["--offline", "--native-tls", "--system-certs", "--no-config", "--no-index"];
/// Options with values of `uvx` in a server's command line that are passed on to uv for the lookup of the version.
const UVX_OPTIONS_FORWARDED_TO_LOOKUP: [&str; 9] = [
    "--index",
    "--default-index",
    "-i",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
    "--exclude-newer",
    "--prerelease",
];
/// Maximum number of file hashes of a version that are shown individually. If there are more, a single hash over all of
/// them is shown.
const MAX_LISTED_FILE_HASHES: usize = 4;

pub(super) fn parse(launcher: Launcher, args: &[String], from: usize) -> Result<PackageReference, UnknownPackage> {
    let read = UVX_OPTIONS.parse(args, from)?;
    let mut named = read.values.iter().filter(|value| value.option == "--from");
    let mut reference = match (named.next(), named.next()) {
        (Some(_), Some(_)) => return Err(UnknownPackage::Several),
        (Some(option), None) => {
            let mut reference = parse_requirement(launcher, option.value, option.at)?;
            option.prefix.clone_into(&mut reference.prefix);
            reference.is_option = true;
            reference
        }
        (None, _) => {
            let text = args.get(read.first).ok_or(UnknownPackage::NoPackage)?;
            let reference = parse_requirement(launcher, text, read.first)?;
            let is_interpreter =
                reference.name.starts_with("python") && reference.name[6..].chars().all(|c| "0123456789.".contains(c));
            if is_interpreter || !reference.extras.is_empty() {
                return Err(UnknownPackage::Specifier(text.clone()));
            }
            reference
        }
    };
    reference.options.extend(
        read.flags.iter().filter(|flag| UVX_FLAGS_FORWARDED_TO_LOOKUP.contains(flag)).map(|&flag| flag.to_owned()),
    );
    for value in &read.values {
        if UVX_OPTIONS_FORWARDED_TO_LOOKUP.contains(&value.option) {
            reference.options.extend([value.option.to_owned(), value.value.to_owned()]);
        }
        // A path would name a program, which the lookup would run.
        let is_version = !value.value.is_empty() && value.value.chars().all(|c| c.is_ascii_digit() || c == '.');
        if matches!(value.option, "-p" | "--python") && is_version {
            reference.options.extend(["--python-version".to_owned(), value.value.to_owned()]);
        }
        if matches!(value.option, "-w" | "--with") {
            reference.unpinned.push(value.value.to_owned());
        }
    }
    Ok(reference)
}

/// Parses a requirement: a name, optional extras in brackets, and an optional version after `@` or a comparison
/// operator.
fn parse_requirement(launcher: Launcher, text: &str, at: usize) -> Result<PackageReference, UnknownPackage> {
    let other = || UnknownPackage::Specifier(text.to_owned());
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (extras, rest) = match rest.starts_with('[').then(|| rest.find(']')) {
        Some(Some(close)) => rest.split_at(close + 1),
        Some(None) => return Err(other()),
        None => ("", rest),
    };
    let is_file = [".whl", ".gz", ".zip", ".py"].iter().any(|ending| name.ends_with(ending));
    let is_extra = |c: char| is_name(c) || ",[]".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || is_file || !extras.chars().all(is_extra) {
        return Err(other());
    }
    let is_version = |c: char| c.is_ascii_alphanumeric() || ".+!*-_".contains(c);
    let requested = match rest.strip_prefix('@') {
        Some("latest") => String::new(),
        Some(version) if !version.is_empty() && version.chars().all(is_version) => format!("=={version}"),
        Some(_) => return Err(other()),
        None if rest.chars().all(|c| is_version(c) || "<>=~,!".contains(c)) => rest.to_owned(),
        None => return Err(other()),
    };
    let mut reference = PackageReference::new(launcher, name.to_owned(), requested, at);
    extras.clone_into(&mut reference.extras);
    Ok(reference)
}

/// Returns the arguments and the standard input with which uv looks up a package. No package is built, because building
/// it runs its code.
pub(super) fn lookup_arguments(reference: &PackageReference) -> (Vec<String>, Vec<u8>) {
    let mut args: Vec<String> = ["pip", "compile", "-"].map(str::to_owned).into();
    args.extend(reference.options.iter().cloned());
    let how = [
        "--no-deps",
        "--no-build",
        "--generate-hashes",
        "--no-header",
        "--no-annotate",
        "--emit-index-annotation",
        "--no-python-downloads",
        "--no-progress",
        "--color=never",
    ];
    args.extend(how.map(str::to_owned));
    (args, format!("{}{}{}\n", reference.name, reference.extras, reference.requested_version).into_bytes())
}

/// Parses uv's output: `name==version`, the hashes of its files, and the index that offers them.
pub(super) fn parse_lookup_output(reference: &PackageReference, stdout: &str) -> Option<PackageVersion> {
    let words = || stdout.lines().flat_map(|line| line.split_whitespace());
    let lines = stdout.lines().map(str::trim);
    let found = lines.clone().find_map(|line| line.split_once("==").filter(|_| !line.starts_with(['-', '#'])))?;
    let name = found.0.split('[').next().unwrap_or_default();
    let version = validated_version(found.1.split_whitespace().next()?)?;
    if normalized_package_name(name) != normalized_package_name(&reference.name) {
        return None;
    }
    let mut hashes: Vec<String> =
        words().filter_map(|word| validated_package_hash(word.strip_prefix("--hash=")?)).collect();
    hashes.sort();
    let argument = if reference.is_option {
        format!("{}{}=={version}", reference.name, reference.extras)
    } else {
        format!("{}@{version}", reference.name)
    };
    Some(PackageVersion {
        name: reference.name.clone(),
        version,
        integrity: match hashes.len() {
            0 => None,
            1..=MAX_LISTED_FILE_HASHES => Some(hashes.join(" ")),
            files => Some(format!("sha256:{} over {files} files", policy::Hash::of_bytes(hashes.join(" ").as_bytes()))),
        },
        source: lines.filter_map(|line| line.strip_prefix("# from ")).find_map(validated_package_source),
        argument,
    })
}

/// Returns a package name in the normalized form, in which package indexes treat equivalent names as equal.
fn normalized_package_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const UV_OUTPUT: &str = "--index-url https://index.test/simple\n\nmcp-server-time==2026.10.19 \\\n    \
        --hash=sha256:5c09 \\\n    --hash=sha256:4ab8\n    # from https://index.test/simple\n";

    #[test]
    fn python_package_version_is_parsed_with_its_file_hashes() {
        let mut reference = PackageReference::new(Launcher::Uvx, "mcp_server.time".into(), String::new(), 0);
        let found = parse_lookup_output(&reference, UV_OUTPUT).unwrap();
        assert_eq!(found.integrity.as_deref(), Some("sha256:4ab8 sha256:5c09"), "the hashes must be sorted");
        assert_eq!(found.argument, "mcp_server.time@2026.10.19", "the name must be written as in the command");
        assert_eq!(found.source.as_deref(), Some("https://index.test/simple"), "the index must be reported");
        reference.is_option = true;
        reference.extras = "[cli]".into();
        assert_eq!(
            parse_lookup_output(&reference, UV_OUTPUT).unwrap().argument,
            "mcp_server.time[cli]==2026.10.19",
            "an option must use a requirement with the extras"
        );
        reference.name = "other".into();
        assert_eq!(parse_lookup_output(&reference, UV_OUTPUT), None, "output for another package must be rejected");
        assert_eq!(parse_lookup_output(&reference, "rubbish"), None, "text");
    }
}
