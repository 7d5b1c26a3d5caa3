//! How a server is set up: its entry in `mcp.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// One server of `mcp.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// The user's own name for it; unique, not empty, at most 64 characters, no control characters.
    pub name: String,
    /// How it is started.
    pub config: ServerConfig,
}

/// How a local server is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// The program, a name to be found or a path.
    pub command: String,
    /// Its arguments, each as it is passed.
    pub args: Vec<String>,
    /// Variables set beside the allow-listed ones.
    pub env: BTreeMap<String, String>,
    /// The folder it starts in.
    pub cwd: Option<PathBuf>,
}

/// One server in pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The name it would get: usable, and not taken.
    pub name: String,
    /// How it would be started.
    pub config: ServerConfig,
    /// What to look at, in words: placeholders to fill in, keys that are not understood, why it can't be used.
    pub notes: Vec<String>,
    /// Whether it can be added: a local server with a command. Placeholders are noted and do not count.
    pub usable: bool,
}

/// What is wrong with a settings file or pasted text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{message}", file.as_deref().map(|f| format!("{f}: ")).unwrap_or_default(), line.map(|l| format!("line {l}: ")).unwrap_or_default())]
pub struct ConfigProblem {
    /// The file, or nothing for pasted text.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// What is there and what was expected.
    pub message: String,
}

impl ServerConfig {
    /// Program and arguments on one line, quoted so that each argument can be told apart. For showing; it is never run by a shell.
    #[must_use]
    pub fn command_line(&self) -> String {
        let mut line = quoted(&self.command);
        for argument in &self.args {
            line.push(' ');
            line.push_str(&quoted(argument));
        }
        line
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
