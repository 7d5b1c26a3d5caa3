//! Conversion of packages that launchers load.

use launches::packages::{LoadedPackage as HostPackage, PackageVersion as HostVersion, UnknownPackage as HostUnknown};

use crate::data::{LoadedPackage, PackageVersion, UnknownPackage, UnknownReason};

pub(super) fn loaded(package: HostPackage) -> LoadedPackage {
    let HostPackage { launcher, name, wanted, unpinned, found, before, configured } = package;
    let before = before.filter(|before| found.as_ref() != Ok(before));
    let replaced = matches!((&before, &found), (Some(before), Ok(found)) if before.is_replaced_by(found));
    let (found, unknown) = match found {
        Ok(found) => (Some(found), None),
        Err(cause) => (None, Some(self::unknown(cause))),
    };
    LoadedPackage {
        launcher,
        name,
        wanted,
        version: found.map(version),
        unknown,
        before: before.map(version),
        replaced,
        unpinned,
        configured,
    }
}

fn version(version: HostVersion) -> PackageVersion {
    PackageVersion { version: version.version, integrity: version.integrity, source: version.source }
}

fn unknown(cause: HostUnknown) -> UnknownPackage {
    let (reason, detail) = match cause {
        HostUnknown::ShellLine => (UnknownReason::ShellLine, String::new()),
        HostUnknown::Wrapped(program) => (UnknownReason::Wrapped, program),
        HostUnknown::Option(option) => (UnknownReason::Option, option),
        HostUnknown::Specifier(text) => (UnknownReason::Specifier, text),
        HostUnknown::Several => (UnknownReason::Several, String::new()),
        HostUnknown::NoPackage => (UnknownReason::NoPackage, String::new()),
        HostUnknown::Launcher(launcher) => (UnknownReason::Launcher, launcher),
        HostUnknown::Variable(variable) => (UnknownReason::Variable, variable),
        HostUnknown::ProjectSettings(path) => (UnknownReason::ProjectSettings, path),
        HostUnknown::LocalCopy(path) => (UnknownReason::LocalCopy, path),
        HostUnknown::OffSearchPath(path) => (UnknownReason::OffSearchPath, path),
        HostUnknown::NoClient(client) => (UnknownReason::NoClient, client),
        HostUnknown::NoNetwork => (UnknownReason::NoNetwork, String::new()),
        HostUnknown::TimedOut { client, .. } => (UnknownReason::TimedOut, client),
        HostUnknown::Failed { client, cause } => (UnknownReason::Failed, format!("{client}: {cause}")),
    };
    UnknownPackage { reason, detail }
}
