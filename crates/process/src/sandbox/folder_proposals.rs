//! Rules for two kinds of folders: those that a sandbox may access without the user naming them, and those that may be
//! proposed to the user. Neither may contain secrets, belong to the operating system or to Drawbridge, or contain far
//! more than one program. Callers: `installed_files` and `blocked_paths`.

use std::path::{Component, Path, PathBuf};

use foreign::escape_invisible;
use serde::{Deserialize, Serialize};

/// Names of files that mark a folder as a single program, library or project. Such a folder may be proposed even if it
/// is directly below the user's home.
pub(crate) const PROJECT_MARKERS: [&str; 5] = ["package.json", "pyproject.toml", "pyvenv.cfg", "Cargo.toml", "go.mod"];
/// Folders of version managers (such as pyenv and nvm), directly below the home or in `~/.local/share`. They contain
/// programs and no keys.
pub(crate) const VERSION_MANAGER_FOLDERS: [&str; 9] =
    [".asdf", ".fnm", ".nodenv", ".nvm", ".pyenv", ".rbenv", ".volta", "asdf", "mise"];
/// Minimum number of components in the path of a proposed folder that is outside the user's home.
const MIN_COMPONENTS_OUTSIDE_HOME: usize = 2;
/// Folders and files that contain keys, passwords or sessions, relative to the user's home.
const SECRET_PATHS: [&str; 25] = [
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
    // Data of apps installed by snap or Flatpak, and on macOS.
    ".var",
    "Library",
    "snap",
];
/// Hidden folders that contain programs, relative to the user's home. Other hidden folders may contain an app's data.
const SYSTEM_PROGRAM_FOLDERS: [&str; 13] = [
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
/// Folders of the operating system with settings, keys, devices and sockets.
const SYSTEM_FOLDERS: [&str; 11] = [
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
/// Subfolders of [`SYSTEM_FOLDERS`] that belong to users: temporary folders and removable disks.
const USER_SUBFOLDERS_OF_SYSTEM_FOLDERS: [&str; 3] = ["/private/var/folders", "/run/media", "/var/tmp"];

/// The reason why Drawbridge does not propose a folder for a server's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ProposalRefusal {
    /// The folder is not proposed because it contains keys, passwords or sessions.
    Secrets,
    /// The folder is not proposed because it is the home, or contains far more than one program.
    TooBroad,
    /// The folder is not proposed because it belongs to the operating system.
    System,
    /// The folder is not proposed because it belongs to Drawbridge, or contains a folder of Drawbridge.
    Own,
    /// The folder is not proposed because its name has invisible characters, or is not valid Unicode.
    Name,
}

/// Checks that Drawbridge may propose to add a folder to a sandbox. `folder` is a canonical path. `hidden` are
/// Drawbridge's own folders. Reads the disk to look for [`PROJECT_MARKERS`] in a folder directly below the home.
///
/// # Errors
/// Returns the reason as [`ProposalRefusal`] if the folder may not be proposed.
pub(crate) fn check_folder_proposal(
    folder: &Path,
    home: Option<&Path>,
    hidden: &[PathBuf],
) -> Result<(), ProposalRefusal> {
    if folder.to_str().is_none_or(|text| escape_invisible(text) != text || text.contains(char::is_control)) {
        return Err(ProposalRefusal::Name);
    }
    if hidden.iter().any(|own| folder.starts_with(own)) {
        return Err(ProposalRefusal::Own);
    }
    if is_secret_location(folder, home) {
        return Err(ProposalRefusal::Secrets);
    }
    let homes = path_and_canonical(home);
    let of_system = SYSTEM_FOLDERS.iter().any(|system| folder.starts_with(system));
    // A home may be within a system folder, such as `/var/home`.
    if of_system
        && !USER_SUBFOLDERS_OF_SYSTEM_FOLDERS
            .iter()
            .map(Path::new)
            .chain(homes.iter().map(PathBuf::as_path))
            .any(|own| folder.starts_with(own))
    {
        return Err(ProposalRefusal::System);
    }
    let depth = |path: &Path| path.components().filter(|part| matches!(part, Component::Normal(_))).count();
    let wide = homes.iter().any(|home| home.starts_with(folder))
        || match homes.iter().find(|home| folder.starts_with(home)) {
            Some(home) if folder.strip_prefix(home).map_or(0, depth) == 1 => !is_single_project(folder),
            Some(home) => is_shared_folder(folder, home),
            None => depth(folder) < MIN_COMPONENTS_OUTSIDE_HOME,
        };
    if wide {
        return Err(ProposalRefusal::TooBroad);
    }
    if hidden.iter().any(|own| own.starts_with(folder)) { Err(ProposalRefusal::Own) } else { Ok(()) }
}

/// Returns `true` if the path is in a folder that usually contains keys, passwords or sessions. Only the path is
/// examined, because the content does not reveal keys reliably.
pub(crate) fn is_secret_location(path: &Path, home: Option<&Path>) -> bool {
    // Applies to the homes of all users, because `.ssh` contains keys everywhere.
    let by_name = path.components().any(|part| matches!(part.as_os_str().to_str(), Some(".ssh" | ".gnupg" | ".aws")));
    by_name
        || relative_to_home(path, home).iter().any(|below| SECRET_PATHS.iter().any(|secret| below.starts_with(secret)))
}

/// Returns `true` if an app may store user data at this path. A path in a server's output never causes such a folder to
/// be proposed to the user.
pub(crate) fn may_contain_user_data(path: &Path, home: Option<&Path>) -> bool {
    let is_hidden = |below: &Path| below.to_str().is_none_or(|text| text.starts_with('.'));
    let is_of_programs = |below: &Path| {
        let known =
            SYSTEM_PROGRAM_FOLDERS.iter().chain(&VERSION_MANAGER_FOLDERS).any(|folder| below.starts_with(folder));
        known || below.starts_with(".cargo/bin")
    };
    is_secret_location(path, home)
        || relative_to_home(path, home).iter().any(|below| is_hidden(below) && !is_of_programs(below))
}

/// Returns a path relative to the user's home. Tries the path and the home both as written and in canonical form, and
/// returns one result for each pair that matches.
fn relative_to_home(path: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let homes = path_and_canonical(home);
    let paths = path_and_canonical(Some(path));
    let pairs = paths.iter().flat_map(|path| homes.iter().map(move |home| path.strip_prefix(home)));
    pairs.flatten().map(Path::to_owned).collect()
}

/// Returns a path as written and, if it differs, its canonical form.
pub(crate) fn path_and_canonical(path: Option<&Path>) -> Vec<PathBuf> {
    let Some(path) = path else { return Vec::new() };
    let real = path.canonicalize().ok().filter(|real| real != path);
    [Some(path.to_owned()), real].into_iter().flatten().collect()
}

/// Returns `true` if a folder directly below the home is a single program or project, judged by its name and its files.
fn is_single_project(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "node_modules"
        || VERSION_MANAGER_FOLDERS.contains(&name)
        || PROJECT_MARKERS.iter().any(|marker| folder.join(marker).is_file())
}

/// Returns `true` if the folder is one of those below the home in which many programs store files, such as
/// `~/.local/share`.
fn is_shared_folder(folder: &Path, home: &Path) -> bool {
    ["share", "state", "lib"].iter().any(|many| folder == home.join(".local").join(many))
}
