//! The folders in which the system keeps its own programs. `sandbox` lets every program reach them; `code` leaves what lies there out of
//! what is approved.

use std::path::Path;

/// Where the system keeps programs and libraries, and what they need to find names, time and certificates. Not all of `/etc`:
/// there are secrets in it.
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

/// Returns true if a path, with no link in it, lies where the system keeps its own programs.
pub fn is_of_system(real: &Path) -> bool {
    // Package managers give this one to their user on macOS.
    let is_local = cfg!(target_os = "macos") && real.starts_with("/usr/local");
    !is_local && SYSTEM_FOLDERS.iter().any(|folder| real.starts_with(folder))
}
