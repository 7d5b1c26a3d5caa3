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
const SECRET: [&str; 25] = [
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
    // Data of apps, by snap, Flatpak and macOS.
    ".var",
    "Library",
    "snap",
];
/// Hidden folders of the home that hold programs. Whatever else is hidden there may hold an app's data.
const OF_PROGRAMS: [&str; 13] = [
    ".bun",
    ".cache",
    ".deno",
    ".dotnet",
    ".local/lib",
    ".local/pipx",
    ".local/share/asdf",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".npm",
    ".npm-global",
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
/// Folders in those of the system that are the users': temporary ones, and disks that were plugged in.
const OF_USERS: [&str; 3] = ["/private/var/folders", "/run/media", "/var/tmp"];

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
    let homes = spellings(home);
    let of_system = OF_SYSTEM.iter().any(|system| folder.starts_with(system));
    // A home may lie in a folder of the system's, as `/var/home` does.
    if of_system
        && !OF_USERS.iter().map(Path::new).chain(homes.iter().map(PathBuf::as_path)).any(|own| folder.starts_with(own))
    {
        return Err(NotOffered::System);
    }
    let depth = |path: &Path| path.components().filter(|part| matches!(part, Component::Normal(_))).count();
    let wide = homes.iter().any(|home| home.starts_with(folder))
        || match homes.iter().find(|home| folder.starts_with(home)) {
            Some(home) if folder.strip_prefix(home).map_or(0, depth) == 1 => !is_one_program(folder),
            Some(home) => is_of_many(folder, home),
            None => depth(folder) < DEPTH,
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
    by_name || below_home(path, home).iter().any(|below| SECRET.iter().any(|secret| below.starts_with(secret)))
}

/// Returns true if an app may keep its user's data there: nothing is proposed there because a server names it.
pub(crate) fn may_hold_data(path: &Path, home: Option<&Path>) -> bool {
    let is_hidden = |below: &Path| below.to_str().is_none_or(|text| text.starts_with('.'));
    let is_of_programs = |below: &Path| {
        let known = OF_PROGRAMS.iter().chain(&VERSION_MANAGERS).any(|folder| below.starts_with(folder));
        known || below.starts_with(".cargo/bin")
    };
    is_secret(path, home) || below_home(path, home).iter().any(|below| is_hidden(below) && !is_of_programs(below))
}

/// The path below the home, by each spelling of both.
fn below_home(path: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let homes = spellings(home);
    let paths = spellings(Some(path));
    let pairs = paths.iter().flat_map(|path| homes.iter().map(move |home| path.strip_prefix(home)));
    pairs.flatten().map(Path::to_owned).collect()
}

/// A path as it is written, and without links. One that leads to nothing has no other spelling.
pub(crate) fn spellings(path: Option<&Path>) -> Vec<PathBuf> {
    let Some(path) = path else { return Vec::new() };
    let real = path.canonicalize().ok().filter(|real| real != path);
    [Some(path.to_owned()), real].into_iter().flatten().collect()
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
