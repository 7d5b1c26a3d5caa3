//! Conversion of packages that launchers load, for the page.

use launches::packages::{LoadedPackage as HostPackage, PackageVersion as HostVersion, UnknownPackage as HostUnknown};

use crate::data::{LoadedPackage, PackageVersion, UnknownPackage, UnknownPackageReason};

pub(super) fn loaded_package_view(package: HostPackage) -> LoadedPackage {
    let HostPackage { launcher, name, requested_version, unpinned, found, before, configured } = package;
    let before = before.filter(|before| found.as_ref() != Ok(before));
    let replaced = matches!((&before, &found), (Some(before), Ok(found)) if before.is_replaced_by(found));
    let (found, unknown) = match found {
        Ok(found) => (Some(found), None),
        Err(cause) => (None, Some(self::unknown_package_view(cause))),
    };
    LoadedPackage {
        launcher,
        name,
        requested_version,
        version: found.map(package_version_view),
        unknown,
        before: before.map(package_version_view),
        replaced,
        unpinned,
        configured,
    }
}

fn package_version_view(version: HostVersion) -> PackageVersion {
    PackageVersion { version: version.version, integrity: version.integrity, source: version.source }
}

fn unknown_package_view(cause: HostUnknown) -> UnknownPackage {
    let (reason, detail) = match cause {
        HostUnknown::ShellLine => (UnknownPackageReason::ShellLine, String::new()),
        HostUnknown::Wrapped(program) => (UnknownPackageReason::Wrapped, program),
        HostUnknown::Option(option) => (UnknownPackageReason::Option, option),
        HostUnknown::Specifier(text) => (UnknownPackageReason::Specifier, text),
        HostUnknown::Several => (UnknownPackageReason::Several, String::new()),
        HostUnknown::NoPackage => (UnknownPackageReason::NoPackage, String::new()),
        HostUnknown::Launcher(launcher) => (UnknownPackageReason::Launcher, launcher),
        HostUnknown::Variable(variable) => (UnknownPackageReason::Variable, variable),
        HostUnknown::ProjectSettings(path) => (UnknownPackageReason::ProjectSettings, path),
        HostUnknown::LocalCopy(path) => (UnknownPackageReason::LocalCopy, path),
        HostUnknown::OffSearchPath(path) => (UnknownPackageReason::OffSearchPath, path),
        HostUnknown::NoClient(client) => (UnknownPackageReason::NoClient, client),
        HostUnknown::NoNetwork => (UnknownPackageReason::NoNetwork, String::new()),
        HostUnknown::TimedOut { client, .. } => (UnknownPackageReason::TimedOut, client),
        HostUnknown::Failed { client, cause } => (UnknownPackageReason::Failed, format!("{client}: {cause}")),
    };
    UnknownPackage { reason, detail }
}
