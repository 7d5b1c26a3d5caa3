//! Where programs are looked for, and what is said when one is not found.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{login_shell, well_known};

/// The most folders that are searched.
const MOST_DIRECTORIES: usize = 512;

/// The folders that are searched for programs, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath {
    /// Absolute folders, each once.
    pub directories: Vec<PathBuf>,
    /// Where the list is from.
    pub source: PathSource,
}

/// Where a [`SearchPath`] is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathSource {
    /// The user's login shell has told it.
    LoginShell,
    /// The app's own PATH, and the well-known folders that exist.
    Process {
        /// Why the login shell was not used, in words.
        reason: String,
    },
}

impl SearchPath {
    /// Asks the login shell, for at most five seconds. The answer rarely changes: keep it.
    pub async fn read() -> SearchPath {
        if cfg!(windows) {
            return SearchPath::of_process("Windows has no login shell".to_owned());
        }
        match std::env::var_os("SHELL").filter(|shell| !shell.is_empty()) {
            None => SearchPath::of_process("the variable SHELL is not set".to_owned()),
            Some(shell) => SearchPath::of_shell(shell.into(), login_shell::SHELL_LIMIT).await,
        }
    }

    /// Asks this shell, for at most `limit`.
    pub async fn of_shell(shell: PathBuf, limit: std::time::Duration) -> SearchPath {
        match login_shell::path(shell, limit).await {
            Ok(path) => {
                SearchPath { directories: absolute(std::env::split_paths(&path)), source: PathSource::LoginShell }
            }
            Err(reason) => SearchPath::of_process(reason),
        }
    }

    /// The app's own PATH and the well-known folders, for the given reason.
    pub fn of_process(reason: String) -> SearchPath {
        let own = std::env::var_os("PATH").unwrap_or_default();
        SearchPath {
            directories: absolute(std::env::split_paths(&own).chain(well_known::directories())),
            source: PathSource::Process { reason },
        }
    }

    /// The file of a program. A bare name is looked up here; anything with a separator is a path that starts at `directory`.
    ///
    /// # Errors
    /// [`CommandNotFound`] when there is no such file or it may not be executed.
    pub(crate) fn find(&self, program: &str, directory: &Path) -> Result<PathBuf, CommandNotFound> {
        let path = self.joined();
        which::which_in(program, Some(&path), directory).map_err(|_| CommandNotFound {
            program: program.to_owned(),
            looked_in: if has_separator(program) {
                vec![directory.join(program)]
            } else {
                std::env::split_paths(&path).collect()
            },
            source_note: match &self.source {
                PathSource::LoginShell => None,
                PathSource::Process { reason } => Some(reason.clone()),
            },
            hint: hint(program),
        })
    }

    /// The folders of this PATH variable in place of these. Relative ones start at `directory`.
    pub(crate) fn replaced_by(&self, variable: &str, directory: &Path) -> SearchPath {
        let folders = std::env::split_paths(variable).map(|folder| directory.join(folder));
        SearchPath { directories: absolute(folders), source: self.source.clone() }
    }

    /// The value for a server's PATH.
    pub(crate) fn joined(&self) -> OsString {
        std::env::join_paths(&self.directories).unwrap_or_default()
    }
}

/// A program that is not there, or may not be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandNotFound {
    /// As it was configured.
    pub program: String,
    /// The folders searched, or the one file looked for when the program is a path.
    pub looked_in: Vec<PathBuf>,
    /// Why the login shell's path was not used, if it was not.
    pub source_note: Option<String>,
    /// What usually brings this program.
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

fn hint(program: &str) -> Option<&'static str> {
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
            "It holds a space: arguments belong in the list of arguments, not in the command."
        }
        _ => return None,
    })
}

fn has_separator(program: &str) -> bool {
    program.contains(std::path::is_separator)
}

/// Absolute folders only (an empty or relative one would mean wherever the app happens to run),
/// each once, and none that a PATH variable cannot hold.
fn absolute(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let usable = folder.is_absolute() && std::env::join_paths([&folder]).is_ok();
        if usable && !kept.contains(&folder) && kept.len() < MOST_DIRECTORIES {
            kept.push(folder);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    #[test]
    fn relative_and_repeated_folders_are_dropped() {
        let folders = ["/a", "", ".", "b/c", "/d", "/a"].map(PathBuf::from);
        assert_eq!(
            absolute(folders.into_iter()),
            [PathBuf::from("/a"), PathBuf::from("/d")],
            "a program must never be taken from the folder the app happens to run in"
        );
    }

    #[test]
    fn not_found_says_where_was_looked_and_what_to_install() {
        let path = SearchPath {
            directories: vec!["/nowhere/bin".into()],
            source: PathSource::Process { reason: "the variable SHELL is not set".to_owned() },
        };
        let message = path.find("npx", Path::new("/")).expect_err("no such folder").to_string();
        for part in ["npx", "Node.js", "/nowhere/bin", "SHELL is not set"] {
            assert!(message.contains(part), "{message:?} must tell {part:?}");
        }
    }
}
