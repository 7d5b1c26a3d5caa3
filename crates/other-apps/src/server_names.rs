//! Names for pasted and imported servers.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use foreign::escape_invisible;
use ports::server_config::StdioConfig;
use ports::url_parts::UrlParts;

const MAX_SERVER_NAME_CHARS: usize = 64;

/// Converts `requested` to a valid server name, with as few changes as possible.
pub(crate) fn to_valid_server_name(requested: &str) -> String {
    let is_seen =
        |c: &char| !c.is_control() && matches!(escape_invisible(c.encode_utf8(&mut [0; 4])), Cow::Borrowed(_));
    let name: String = requested.chars().filter(is_seen).take(MAX_SERVER_NAME_CHARS).collect();
    match name.trim() {
        "" => String::from("server"),
        name => name.to_owned(),
    }
}

/// Returns `requested` if it is a valid name that is not in `taken`, otherwise a similar name with a number.
#[must_use]
pub fn unused_server_name<'n>(requested: &str, taken: impl IntoIterator<Item = &'n String>) -> String {
    TakenNames::new(taken).reserve(&to_valid_server_name(requested))
}

/// Server names that are in use. They are compared without case, so that users don't confuse similar names.
#[derive(Debug, Default)]
pub(crate) struct TakenNames {
    taken: HashSet<String>,
    /// Number to append next to a requested name that is in use, by requested name.
    next: HashMap<String, u32>,
}

impl TakenNames {
    pub(crate) fn new<'n>(taken: impl IntoIterator<Item = &'n String>) -> Self {
        Self { taken: taken.into_iter().map(|name| name.to_lowercase()).collect(), next: HashMap::new() }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.taken.contains(&name.to_lowercase())
    }

    /// Marks a name as used and returns it: `requested` if it is unused, otherwise the first unused name with a number.
    pub(crate) fn reserve(&mut self, requested: &str) -> String {
        if self.taken.insert(requested.to_lowercase()) {
            return requested.to_owned();
        }
        let base: String = requested.chars().take(MAX_SERVER_NAME_CHARS - 6).collect();
        let number = self.next.entry(base.to_lowercase()).or_insert(2);
        loop {
            let name = format!("{base}-{number}");
            *number += 1;
            if self.taken.insert(name.to_lowercase()) {
                return name;
            }
        }
    }
}

/// Derives a name for a server from the registrable domain of its URL.
pub(crate) fn name_from_url(url: &str) -> String {
    let domain = UrlParts::parse(url).domain;
    let is_address = domain.starts_with('[') || domain.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let first = domain.split('.').next().unwrap_or_default();
    if is_address || first.is_empty() || first == "localhost" {
        to_valid_server_name("remote")
    } else {
        to_valid_server_name(first)
    }
}

/// Derives a name for a local server from the package, image, module or file that its command runs.
pub(crate) fn name_from_command(config: &StdioConfig) -> String {
    let program = base_name(&config.command);
    let subject = match program {
        engine if process::is_container_engine(engine) => container_image(&config.args),
        "npx" | "uvx" | "bunx" | "pipx" | "uv" | "pnpm" | "yarn" | "npm" | "bun" | "deno" | "node" | "python"
        | "python3" | "py" | "go" | "cargo" | "dotnet" | "java" | "cmd" | "tsx" => {
            config.args.iter().find(|word| is_package_or_program(word)).map(String::as_str)
        }
        _ => None,
    };
    let name = without_common_words(subject.unwrap_or(program));
    to_valid_server_name(&name)
}

/// Returns the name of the container image in the arguments of a container program such as `docker run`.
fn container_image(args: &[String]) -> Option<&str> {
    const CONTAINER_VALUE_OPTIONS: [&str; 12] = [
        "-e",
        "--env",
        "-v",
        "--volume",
        "--mount",
        "--name",
        "--network",
        "-p",
        "--publish",
        "-w",
        "--env-file",
        "-u",
    ];
    let mut words = args.iter().map(String::as_str).skip_while(|word| *word != "run").skip(1);
    while let Some(word) = words.next() {
        if CONTAINER_VALUE_OPTIONS.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

fn is_package_or_program(word: &str) -> bool {
    const RUNNER_SUBCOMMANDS: [&str; 9] = ["run", "exec", "dlx", "x", "tool", "npx", "uvx", "start", "/c"];
    !word.starts_with('-') && !RUNNER_SUBCOMMANDS.contains(&word) && !word.eq_ignore_ascii_case("/c")
}

/// Returns the last component of a path, without the file name extension of a program or script.
fn base_name(path: &str) -> &str {
    let last = path.rsplit(['/', '\\']).next().unwrap_or(path);
    [".exe", ".cmd", ".bat", ".js", ".mjs", ".cjs", ".ts", ".py", ".jar", ".sh"]
        .iter()
        .find_map(|end| last.strip_suffix(end))
        .unwrap_or(last)
}

/// Removes words that are common in servers' package names and paths, such as "mcp-server".
fn without_common_words(subject: &str) -> String {
    let path = subject.trim_end_matches(['/', '\\']);
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    const COMMON_NAME_PARTS: [&str; 9] = ["index", "main", "server", "cli", "app", "dist", "build", "src", "bin"];
    let own = parts.iter().rev().map(|part| base_name(part)).find(|part| !COMMON_NAME_PARTS.contains(part));
    let mut name = own.unwrap_or_else(|| base_name(path));
    // Removes a version after "@" or ":", but retains the "@" of a scope.
    if let Some((before, _)) = name.split_once('@').filter(|(before, _)| !before.is_empty()) {
        name = before;
    }
    name = name.split_once("==").map_or(name, |(before, _)| before);
    name = name.split_once(':').map_or(name, |(before, _)| before);
    for start in ["mcp-server-", "mcp_server_", "server-", "mcp-", "mcp_"] {
        if let Some(rest) = name.strip_prefix(start) {
            name = rest;
            break;
        }
    }
    for end in ["-mcp-server", "_mcp_server", "-mcp", "_mcp", "-server"] {
        if let Some(rest) = name.strip_suffix(end).filter(|rest| !rest.is_empty()) {
            name = rest;
            break;
        }
    }
    name.to_owned()
}
