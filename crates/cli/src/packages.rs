//! Describes the package that a launcher such as `npx` would load.

use api::data::{LoadedPackage, PackageVersion, UnknownPackage, UnknownPackageReason};

use crate::terminal_escape::escape_line;

/// Describes the package that a server's command would load, for the consent request about the server's start.
pub(crate) fn package_text(package: &LoadedPackage) -> String {
    let LoadedPackage {
        launcher,
        name,
        requested_version,
        version,
        unknown,
        before,
        replaced,
        unpinned,
        configured: _,
    } = package;
    let mut text = String::new();
    if let Some(name) = name {
        let requested = requested_version.as_deref().map_or_else(|| "no version".to_owned(), escape_line);
        text.push_str(&format!("package     {} (your settings name {requested})\n", escape_line(name)));
    }
    if let Some(PackageVersion { version, integrity, source }) = version {
        text.push_str(&format!("version     {}\n", escape_line(version)));
        let integrity = integrity.as_deref().map_or_else(|| "none is known".to_owned(), escape_line);
        text.push_str(&format!("hash        {integrity}\n"));
        if let Some(source) = source {
            text.push_str(&format!("from        {}\n", escape_line(source)));
        }
        text.push_str("The packages that it depends on are not pinned.\n");
    }
    if let Some(unknown) = unknown {
        text.push_str(&format!(
            "The version that {} would load is UNKNOWN: {}. Any version may run, now and at each later start.\n",
            escape_line(launcher),
            escape_line(&unknown_package_version_text(unknown))
        ));
    }
    if let (Some(before), Some(now)) = (before, version) {
        if *replaced {
            text.push_str(&format!(
                "WARNING: version {} now has other files than when it was approved. Its hash was {}\n",
                escape_line(&now.version),
                before.integrity.as_deref().map_or_else(|| "not known".to_owned(), escape_line)
            ));
        } else {
            let name = name.as_deref().map(escape_line).unwrap_or_default();
            text.push_str(&format!(
                "CHANGED: {name} {} -> {}\n",
                escape_line(&before.version),
                escape_line(&now.version)
            ));
            if let Some(integrity) = &before.integrity {
                text.push_str(&format!("hash before {}\n", escape_line(integrity)));
            }
        }
    }
    for other in unpinned {
        text.push_str(&format!("also loads  {} (any version)\n", escape_line(other)));
    }
    text
}

fn unknown_package_version_text(UnknownPackage { reason, detail }: &UnknownPackage) -> String {
    match reason {
        UnknownPackageReason::ShellLine => "it runs a shell command (-c)".to_owned(),
        UnknownPackageReason::Wrapped => format!("it is started by {detail}"),
        UnknownPackageReason::Option => format!("Drawbridge does not know its option {detail}"),
        UnknownPackageReason::Specifier => format!("{detail} is not a package name and version in a registry"),
        UnknownPackageReason::Several => "the command names several packages".to_owned(),
        UnknownPackageReason::NoPackage => "the command names no package".to_owned(),
        UnknownPackageReason::Launcher => format!("Drawbridge can't look up packages of {detail}"),
        UnknownPackageReason::Variable => format!("the variable {detail} changes what is loaded"),
        UnknownPackageReason::ProjectSettings => format!("{detail} may change which registry is used"),
        UnknownPackageReason::LocalCopy => format!("{detail} may have other code run instead"),
        UnknownPackageReason::OffSearchPath => {
            format!("{detail} is outside your search path, so no program next to it was run")
        }
        UnknownPackageReason::NoClient => format!("{detail}, which looks up the version, is not installed"),
        UnknownPackageReason::NoNetwork => "the sandbox has no network to look up the version".to_owned(),
        UnknownPackageReason::TimedOut => format!("{detail} did not respond in time"),
        UnknownPackageReason::Failed => detail.clone(),
    }
}
