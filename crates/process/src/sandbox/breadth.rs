//! Which folders a sandbox may reach without the user naming them, and which may be proposed to the user: none that hold
//! secrets, that are the system's or Drawbridge's, or that hold far more than a program. Callers: `installation`, and `blocked`.

use std::path::{Component, Path, PathBuf};

use foreign::visible;
use serde::{Deserialize, Serialize};

/// Files that say that a folder is one program, library or project. So it may lie right below the home.
pub(crate) const MARKERS: [&str; 5] = ["package.json", "pyproject.toml", "pyvenv.cfg", "Cargo.toml", "go.mod"];
/// The folders of version managers, right below the home or in `~/.local/share`. They hold programs and no keys.
pub(crate) const VERSION_MANAGERS: [&str; 9] =
    [".asdf", ".fnm", ".nodenv", ".nvm", ".pyenv", ".rbenv", ".volta", "asdf", "mise"];
/// How many folders below the user's home, or below the root, a folder lies at least.
const DEPTH: usize = 2;
/// Folders below the home, with keys, passwords and sessions.
const SECRET: [&str; 24] = [
    ".android",
    ".aws",
    ".azure",
    ".cargo/credentials.toml",
    ".config",
    ".docker",
    ".electrum",
    ".ethereum",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pki",
    ".pypirc",
    ".ssh",
    ".terraform.d",
    ".thunderbird",
    "Library/Application Support",
    "Library/Keychains",
];
/// Folders of the system that hold settings, keys, devices and sockets.
const OF_SYSTEM: [&str; 11] = [
    "/boot",
    "/dev",
    "/etc",
    "/lost+found",
    "/proc",
    "/run",
    "/sys",
    "/var",
    "/Library",
    "/private/etc",
    "/private/var",
];
/// Temporary folders of users on macOS lie in one of the system's.
const TEMPORARY: &str = "/private/var/folders";

/// Why a folder is not proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NotOffered {
    /// Keys, passwords or sessions lie there.
    Secrets,
    /// It is the home, or another folder that holds far more than a program.
    TooBroad,
    /// It is the system's.
    System,
    /// It is Drawbridge's, or holds what is.
    Own,
    /// Its name has characters that nobody sees, or is no Unicode.
    Name,
}

/// Judges whether a folder may be proposed. `folder` has no link in it; `hidden` are Drawbridge's own folders. Looks for the
/// [`MARKERS`] of a folder right below the home.
///
/// # Errors
/// Why not.
pub(crate) fn judge(folder: &Path, home: Option<&Path>, hidden: &[PathBuf]) -> Result<(), NotOffered> {
    if folder.to_str().is_none_or(|text| visible(text) != text || text.contains(char::is_control)) {
        return Err(NotOffered::Name);
    }
    if hidden.iter().any(|own| folder.starts_with(own)) {
        return Err(NotOffered::Own);
    }
    if is_secret(folder, home) {
        return Err(NotOffered::Secrets);
    }
    if OF_SYSTEM.iter().any(|system| folder.starts_with(system)) && !folder.starts_with(TEMPORARY) {
        return Err(NotOffered::System);
    }
    let depth = |path: &Path| path.components().filter(|part| matches!(part, Component::Normal(_))).count();
    let wide = match home {
        Some(home) if home.starts_with(folder) => true,
        Some(home) if folder.starts_with(home) => match folder.strip_prefix(home).map_or(0, depth) {
            0 => true,
            1 => !is_one_program(folder),
            _ => is_of_many(folder, home),
        },
        _ => depth(folder) < DEPTH,
    };
    if wide {
        return Err(NotOffered::TooBroad);
    }
    if hidden.iter().any(|own| own.starts_with(folder)) { Err(NotOffered::Own) } else { Ok(()) }
}

/// Returns true if keys lie in this folder, or in one that holds it. By where it lies, as nobody can tell by what is in it.
pub(crate) fn is_secret(path: &Path, home: Option<&Path>) -> bool {
    // Of any user: `.ssh` is the same wherever it lies.
    let by_name = path.components().any(|part| matches!(part.as_os_str().to_str(), Some(".ssh" | ".gnupg" | ".aws")));
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    by_name || below.is_some_and(|below| SECRET.iter().any(|secret| below.starts_with(secret)))
}

/// Whether a folder right below the home is a program or project by what lies in it.
fn is_one_program(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "node_modules"
        || VERSION_MANAGERS.contains(&name)
        || MARKERS.iter().any(|marker| folder.join(marker).is_file())
}

/// Whether a folder further below the home holds what many programs keep there.
fn is_of_many(folder: &Path, home: &Path) -> bool {
    ["share", "state", "lib"].iter().any(|many| folder == home.join(".local").join(many))
}
