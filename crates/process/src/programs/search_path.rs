//! The search path for programs, and the error for a program that was not found.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{login_shell, well_known};

/// Maximum number of folders of a search path for programs. Further folders are ignored.
const MAX_SEARCH_PATH_FOLDERS: usize = 512;

/// The folders that are searched for programs, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath {
    /// Folders of the search path, absolute and without duplicates.
    pub directories: Vec<PathBuf>,
    /// Source from which the folders were read: the login shell, or the app's own environment.
    pub source: SearchPathSource,
}

/// The source from which a [`SearchPath`] was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchPathSource {
    /// The PATH of the user's login shell was read.
    LoginShell,
    /// The `PATH` of the app's own process was read, and the existing folders of common installers were added.
    Process {
        /// Message that explains why the PATH of the login shell was not used.
        reason: String,
    },
}

impl SearchPath {
    /// Reads the PATH of the login shell, within at most five seconds. Callers should cache the result, which rarely
    /// changes.
    pub async fn read() -> SearchPath {
        if cfg!(windows) {
            return SearchPath::from_process("Windows has no login shell".to_owned());
        }
        match std::env::var_os("SHELL").filter(|shell| !shell.is_empty()) {
            None => SearchPath::from_process("the variable SHELL is not set".to_owned()),
            Some(shell) => SearchPath::from_login_shell(shell.into(), login_shell::LOGIN_SHELL_TIMEOUT).await,
        }
    }

    /// Reads the PATH of this shell, within at most `limit`. Falls back to [`SearchPath::from_process`] on failure.
    pub async fn from_login_shell(shell: PathBuf, limit: std::time::Duration) -> SearchPath {
        match login_shell::read_path_variable_of_login_shell(shell, limit).await {
            Ok(path) => SearchPath {
                directories: absolute_folders(std::env::split_paths(&path)),
                source: SearchPathSource::LoginShell,
            },
            Err(reason) => SearchPath::from_process(reason),
        }
    }

    /// Returns the folders of the app's own `PATH`, followed by the existing folders of common installers. `reason`
    /// explains why the `PATH` of the login shell is not used.
    pub fn from_process(reason: String) -> SearchPath {
        let own = std::env::var_os("PATH").unwrap_or_default();
        SearchPath {
            directories: absolute_folders(
                std::env::split_paths(&own).chain(well_known::existing_program_installer_folders()),
            ),
            source: SearchPathSource::Process { reason },
        }
    }

    /// Returns the path of a program's executable file. A bare name is looked up on this search path. A name with a
    /// separator is a path relative to `directory`.
    ///
    /// # Errors
    /// Returns [`CommandNotFound`] if the file does not exist or is not executable.
    pub(crate) fn find(&self, program: &str, directory: &Path) -> Result<PathBuf, CommandNotFound> {
        let path = self.to_path_variable();
        which::which_in(program, Some(&path), directory).map_err(|_| CommandNotFound {
            program: program.to_owned(),
            looked_in: if has_path_separator(program) {
                vec![directory.join(program)]
            } else {
                std::env::split_paths(&path).collect()
            },
            source_note: match &self.source {
                SearchPathSource::LoginShell => None,
                SearchPathSource::Process { reason } => Some(reason.clone()),
            },
            hint: not_found_hint(program),
        })
    }

    /// Parses a value of the variable PATH as a search path. Relative folders are resolved against `directory`.
    pub(crate) fn with_path_variable(&self, variable: &str, directory: &Path) -> SearchPath {
        let folders = std::env::split_paths(variable).map(|folder| directory.join(folder));
        SearchPath { directories: absolute_folders(folders), source: self.source.clone() }
    }

    /// Returns the folders as a value of the environment variable PATH.
    pub(crate) fn to_path_variable(&self) -> OsString {
        std::env::join_paths(&self.directories).unwrap_or_default()
    }
}

/// Error for a program that does not exist or is not executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandNotFound {
    /// Name or path of the program, as configured.
    pub program: String,
    /// Folders that were searched, or the one expected file if the program is a path.
    pub looked_in: Vec<PathBuf>,
    /// Message that explains why the `PATH` of the login shell was not used, or `None` if it was used.
    pub source_note: Option<String>,
    /// Advice on which product to install to get this program, or `None` if no such product is known.
    pub hint: Option<&'static str>,
}

impl std::error::Error for CommandNotFound {}

impl std::fmt::Display for CommandNotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "The program \"{}\" was not found, or may not be executed.", self.program)?;
        if let Some(hint) = self.hint {
            write!(f, " {hint}")?;
        }
        f.write_str(" Looked in: ")?;
        for (index, folder) in self.looked_in.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{}", folder.display())?;
        }
        if self.looked_in.is_empty() {
            f.write_str("nowhere, as the search path is empty")?;
        }
        if let Some(reason) = &self.source_note {
            write!(f, " (not the login shell's path: {reason})")?;
        }
        f.write_str(".")
    }
}

fn not_found_hint(program: &str) -> Option<&'static str> {
    let name = Path::new(program).file_stem().and_then(OsStr::to_str)?;
    Some(match name {
        _ if program.starts_with('~') => "\"~\" is not expanded here: write the whole path of your home folder.",
        "npx" | "npm" | "node" => "It comes with Node.js (nodejs.org).",
        "uvx" | "uv" => "It comes with uv (docs.astral.sh/uv).",
        "python" | "python3" | "pip" | "pipx" => "It comes with Python (python.org).",
        "docker" => "It comes with Docker (docs.docker.com).",
        "podman" => "It comes with Podman (podman.io).",
        "bun" | "bunx" => "It comes with Bun (bun.sh).",
        "deno" => "It comes with Deno (deno.com).",
        "go" => "It comes with Go (go.dev).",
        "cargo" => "It comes with Rust (rustup.rs).",
        "dotnet" | "dnx" => "It comes with .NET (dot.net).",
        "java" => "It comes with a Java runtime (adoptium.net).",
        _ if program.contains(' ') => {
            "It contains a space: arguments belong in the list of arguments, not in the command."
        }
        _ => return None,
    })
}

fn has_path_separator(program: &str) -> bool {
    program.contains(std::path::is_separator)
}

/// Returns those of the folders in a PATH variable that are absolute, without duplicates. An empty or relative folder
/// would mean the current folder of the app.
fn absolute_folders(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let usable = folder.is_absolute() && std::env::join_paths([&folder]).is_ok();
        if usable && !found.contains(&folder) && found.len() < MAX_SEARCH_PATH_FOLDERS {
            found.push(folder);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    #[test]
    fn relative_and_repeated_search_path_folders_are_dropped() {
        let folders = ["/a", "", ".", "b/c", "/d", "/a"].map(PathBuf::from);
        assert_eq!(
            absolute_folders(folders.into_iter()),
            [PathBuf::from("/a"), PathBuf::from("/d")],
            "a program must never be found in the current folder of the app"
        );
    }

    #[test]
    fn not_found_error_lists_searched_folders_and_what_to_install() {
        let path = SearchPath {
            directories: vec!["/nowhere/bin".into()],
            source: SearchPathSource::Process { reason: "the variable SHELL is not set".to_owned() },
        };
        let message = path.find("npx", Path::new("/")).expect_err("no such folder").to_string();
        for part in ["npx", "Node.js", "/nowhere/bin", "SHELL is not set"] {
            assert!(message.contains(part), "{message:?} must contain {part:?}");
        }
    }
}
