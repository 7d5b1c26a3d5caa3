//! Folders of the operating system's own programs. `sandbox` makes them accessible to every program, and `code` omits
//! their files from approvals.

use std::path::Path;

/// Folders with the operating system's programs and libraries, and files for name resolution, time zones and
/// certificates. Other parts of `/etc` are omitted because they contain secrets.
#[cfg(not(target_os = "macos"))]
pub(crate) const SYSTEM_FOLDERS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki/tls",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

#[cfg(target_os = "macos")]
pub(crate) const SYSTEM_FOLDERS: &[&str] = &[
    "/System",
    "/usr",
    "/bin",
    "/sbin",
    "/Library/Apple",
    "/Library/Developer/CommandLineTools",
    "/private/etc/hosts",
    "/private/etc/localtime",
    "/private/etc/resolv.conf",
    "/private/etc/services",
    "/private/etc/ssl",
    "/private/var/db/timezone",
];

/// Returns `true` if a canonical path is in a folder of the system's own programs.
pub fn is_in_system_folder(real: &Path) -> bool {
    // On macOS, package managers make this folder writable for the user, so it does not count.
    let is_local = cfg!(target_os = "macos") && real.starts_with("/usr/local");
    !is_local && SYSTEM_FOLDERS.iter().any(|folder| real.starts_with(folder))
}
