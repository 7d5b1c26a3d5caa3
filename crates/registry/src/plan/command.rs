//! Launchers that load and run packages, and the package names and versions that are valid for them.

use installs::InstallNote;

use super::PlanError;
use crate::server_json::Package;
use crate::server_json::read::{quote_untrusted_text, shorten_untrusted_text};

/// Prefixes of the environment variables by which Docker and Podman select the engine that runs an image.
const CONTAINER_ENGINE_VARIABLES: [&str; 3] = ["DOCKER_", "CONTAINER_", "CONTAINERS_"];
/// Prefix of the digest of a container image.
const IMAGE_DIGEST_PREFIX: &str = "sha256:";

/// Program that downloads a package and runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackageLauncher {
    Npx,
    Uvx,
    Dnx,
    Docker,
    Podman,
}

impl PackageLauncher {
    /// Returns the launcher for a package, according to the package's kind and the publisher's suggestion.
    ///
    /// # Errors
    /// Returns [`PlanError::PackageKind`] for an unsupported kind of package, and [`PlanError::Runtime`] if the
    /// publisher specifies arguments for another launcher.
    pub(super) fn for_package(package: &Package) -> Result<Self, PlanError> {
        let usual = match package.registry_type.as_str() {
            "npm" => Self::Npx,
            "pypi" => Self::Uvx,
            "nuget" => Self::Dnx,
            "oci" => Self::Docker,
            other => return Err(PlanError::PackageKind(quote_untrusted_text(other))),
        };
        match package.runtime_hint.as_deref() {
            None | Some("") => Ok(usual),
            Some("podman") if usual == Self::Docker => Ok(Self::Podman),
            Some(hint) if hint == usual.program() => Ok(usual),
            Some(hint) if !package.runtime_arguments.is_empty() => Err(PlanError::Runtime(quote_untrusted_text(hint))),
            Some(_) => Ok(usual),
        }
    }

    pub(super) const fn program(self) -> &'static str {
        match self {
            Self::Npx => "npx",
            Self::Uvx => "uvx",
            Self::Dnx => "dnx",
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    /// Returns the arguments that precede the package on the launcher's command line.
    pub(super) const fn leading_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Npx => &["-y"],
            Self::Uvx | Self::Dnx => &[],
            Self::Docker | Self::Podman => &["run", "-i", "--rm"],
        }
    }

    /// Returns the arguments that follow the package on the launcher's command line.
    pub(super) const fn trailing_arguments(self) -> &'static [&'static str] {
        match self {
            Self::Dnx => &["--yes", "--"],
            _ => &[],
        }
    }

    /// Returns `true` if the planned command line contains this argument of the launcher anyway, or one with the same
    /// effect. Publishers often repeat such arguments.
    pub(super) fn always_has_argument(self, word: &str) -> bool {
        let more: &[&str] = match self {
            Self::Npx | Self::Dnx => &["-y", "--yes"],
            Self::Uvx => &[],
            Self::Docker | Self::Podman => &["--interactive"],
        };
        self.leading_arguments().contains(&word) || more.contains(&word)
    }

    /// Returns the URLs of the package registry that the launcher uses by default.
    const fn public_registries(self) -> &'static [&'static str] {
        match self {
            Self::Npx => &["https://registry.npmjs.org"],
            Self::Uvx => &["https://pypi.org"],
            Self::Dnx => &[
                "https://api.nuget.org/v3/index.json",
                "https://api.nuget.org",
                "https://www.nuget.org",
                "https://nuget.org",
            ],
            Self::Docker | Self::Podman => {
                &["https://docker.io", "https://registry-1.docker.io", "https://index.docker.io"]
            }
        }
    }

    /// Returns the URL of the package registry that contains the package, if the publisher names one that the launcher
    /// does not use by default.
    fn non_default_registry(self, package: &Package) -> Option<&str> {
        let base = package.registry_base_url.as_deref().filter(|base| !base.is_empty())?;
        let is_public = self.public_registries().contains(&base.trim_end_matches('/'));
        (!is_public).then_some(base)
    }

    /// Returns `true` if the text `version` names exactly one version of a package. Returns `false` for a range or tag
    /// such as `1.x`, `^1`, `latest` or, for npx, `1.2`.
    fn is_exact_version(self, version: &str) -> bool {
        let number = version.strip_prefix('v').unwrap_or(version);
        let is_wild = |part: &str| matches!(part, "x" | "X" | "*");
        let fits = number.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_alphanumeric() || ".+-_!".contains(c))
            && !number.split('.').any(is_wild);
        match self {
            Self::Npx => fits && semver::Version::parse(number).is_ok(),
            Self::Docker | Self::Podman => fits && !number.contains(['+', '!']),
            Self::Uvx | Self::Dnx => fits,
        }
    }

    /// Returns `true` if this environment variable influences which code runs, or where code is loaded from.
    pub(super) fn affects_executed_code(self, variable: &str) -> bool {
        let name = variable.to_ascii_uppercase();
        let is_of_engine = CONTAINER_ENGINE_VARIABLES.iter().any(|start| name.starts_with(start));
        process::is_code_variable(variable) || self.is_container() && is_of_engine
    }

    pub(super) const fn is_container(self) -> bool {
        matches!(self, Self::Docker | Self::Podman)
    }
}

/// Command-line arguments that tell a launcher which package to run.
#[derive(Debug)]
pub(super) struct PackageArgument {
    /// Options of the launcher that precede the package, such as its package registry.
    pub(super) options: Vec<String>,
    /// Name and version of the package, as one argument.
    pub(super) word: String,
    /// Warnings for the user that the version is not exact, or that the package registry is not the default one.
    pub(super) notes: Vec<InstallNote>,
}

/// Returns the arguments that tell the launcher which package to run. They are checked, so that the launcher can't
/// mistake them for options.
///
/// # Errors
/// Returns [`PlanError`] if the name, version or package registry is not valid for the launcher.
pub(super) fn package_argument(launcher: PackageLauncher, package: &Package) -> Result<PackageArgument, PlanError> {
    if launcher.is_container() {
        return image_argument(launcher, package);
    }
    let identifier = &package.identifier;
    let is_name = match launcher {
        PackageLauncher::Npx => match identifier.strip_prefix('@') {
            Some(scoped) => {
                scoped.split_once('/').is_some_and(|(scope, name)| is_plain_name(scope) && is_plain_name(name))
            }
            None => is_plain_name(identifier),
        },
        _ => is_plain_name(identifier),
    };
    if !is_name {
        return Err(PlanError::Identifier(quote_untrusted_text(identifier)));
    }
    let (options, elsewhere) = match launcher.non_default_registry(package) {
        None => (Vec::new(), None),
        Some(base) if launcher == PackageLauncher::Npx && is_https(base) => {
            let note = InstallNote::OtherPackageRegistry { registry: shorten_untrusted_text(base) };
            (vec![format!("--registry={base}")], Some(note))
        }
        Some(base) => return Err(PlanError::PackageRegistry(quote_untrusted_text(base))),
    };
    let Some(version) = package.version.as_deref().filter(|version| !version.is_empty()) else {
        let note = InstallNote::NoVersion { program: launcher.program().to_owned() };
        let notes = elsewhere.into_iter().chain([note]).collect();
        return Ok(PackageArgument { options, word: identifier.clone(), notes });
    };
    if !launcher.is_exact_version(version) {
        return Err(PlanError::Version(quote_untrusted_text(version)));
    }
    let separator = if launcher == PackageLauncher::Uvx { "==" } else { "@" };
    Ok(PackageArgument {
        options,
        word: format!("{identifier}{separator}{version}"),
        notes: elsewhere.into_iter().collect(),
    })
}

fn image_argument(launcher: PackageLauncher, package: &Package) -> Result<PackageArgument, PlanError> {
    let mut word = package.identifier.clone();
    let fits = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "./:@_-".contains(c));
    if !fits(&word) || !word.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(PlanError::Identifier(quote_untrusted_text(&word)));
    }
    // Before 2025-10-11, package registry and version were separate members.
    if let Some(base) = launcher.non_default_registry(package) {
        let host = url::Url::parse(base).ok().filter(|url| url.scheme() == "https" && url.path() == "/");
        let host = host.and_then(|url| {
            Some(format!("{}{}", url.host_str()?, url.port().map(|port| format!(":{port}")).unwrap_or_default()))
        });
        let host =
            host.filter(|host| fits(host)).ok_or_else(|| PlanError::PackageRegistry(quote_untrusted_text(base)))?;
        if !word.starts_with(&format!("{host}/")) {
            word = format!("{host}/{word}");
        }
    }
    let tag_of = |word: &str| word.rsplit_once(':').map(|(_, tag)| tag.to_owned()).filter(|tag| !tag.contains('/'));
    if let Some((_, digest)) = word.split_once('@') {
        let is_digest = digest.strip_prefix(IMAGE_DIGEST_PREFIX).is_some_and(is_sha256);
        return if is_digest {
            Ok(PackageArgument { options: Vec::new(), word, notes: Vec::new() })
        } else {
            Err(PlanError::Identifier(quote_untrusted_text(&word)))
        };
    }
    if tag_of(&word).is_none()
        && let Some(version) = package.version.as_deref().filter(|version| !version.is_empty())
    {
        if !launcher.is_exact_version(version) {
            return Err(PlanError::Version(quote_untrusted_text(version)));
        }
        word = format!("{word}:{version}");
    }
    let tag = tag_of(&word);
    if tag.as_deref() == Some("") {
        return Err(PlanError::Identifier(quote_untrusted_text(&word)));
    }
    let note = tag.map_or(InstallNote::NoTag, |tag| InstallNote::UnpinnedTag { tag });
    Ok(PackageArgument { options: Vec::new(), word, notes: vec![note] })
}

/// Returns `true` if no launcher can mistake this package name for an option, a path or a URL.
fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// Returns `true` if a text is a SHA-256 hash in hexadecimal.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_https(base: &str) -> bool {
    ports::server_config::server_url_problem(base).is_none() && base.starts_with("https://")
}
