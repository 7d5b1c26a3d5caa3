//! Commands that only connect to a remote server, such as `npx mcp-remote URL`. They are replaced by the remote server,
//! since Drawbridge connects to it without such a bridge. Windows wrappers around commands are also removed here.

use ports::server_config::{HttpConfig, HttpKind, ImportNote, ImportNoteKind, StdioConfig};

use crate::app_environment::OperatingSystem;
use crate::notes::{ImportNotes, quoted_text, unused_settings_note};
use crate::secret_detection::has_secret;
use crate::variables::{ReferenceSyntax, ReferenceTarget, ValueReference, find_references};

/// A remote server that a local command connects to through a bridge such as `mcp-remote`, and the parts of the command
/// that an import ignores.
#[derive(Debug)]
pub(crate) struct RemoteBehindBridge {
    pub(crate) remote: HttpConfig,
    pub(crate) notes: ImportNotes,
    pub(crate) ignored_tools: Vec<String>,
}

/// Names of programs that download a package and run it, such as `npx`. Some of them need a subcommand for this.
const PACKAGE_RUNNERS: [&str; 12] =
    ["npx", "bunx", "pnpx", "uvx", "pipx", "npm", "pnpm", "yarn", "bun", "uv", "deno", "node"];
/// Subcommands of package runners that are written before the name of the package.
const PACKAGE_RUNNER_SUBCOMMANDS: [&str; 7] = ["run", "exec", "dlx", "x", "tool", "npx", "--"];
/// Options of package runners whose value is the next argument.
const PACKAGE_RUNNER_VALUE_OPTIONS: [&str; 6] = ["-p", "--package", "--from", "--python", "--with", "--registry"];

/// Maximum length, in bytes, of an environment variable's value that is inserted into a header value.
const MAX_HEADER_VALUE_BYTES: usize = 16 * 1_024;
/// Maximum number of variables that one note about a server names.
const MAX_VARIABLES_IN_NOTE: usize = 20;

/// Removes the wrapper `cmd /c` from a command, unless the server will run on Windows. Returns `true` if a wrapper was
/// removed.
pub(crate) fn remove_cmd_wrapper(config: &mut StdioConfig, runs_on: OperatingSystem) -> bool {
    if runs_on == OperatingSystem::Windows {
        return false;
    }
    let is_cmd = program_name(&config.command).eq_ignore_ascii_case("cmd");
    let switches = config.args.iter().take_while(|word| word.len() == 2 && word.starts_with('/')).count();
    if is_cmd
        && config.args[..switches].iter().any(|word| word.eq_ignore_ascii_case("/c"))
        && config.args.len() > switches
    {
        let mut words = config.args.split_off(switches).into_iter();
        config.command = words.next().unwrap_or_default();
        config.args = words.collect();
        // The whole wrapped command may be a single argument.
        if config.args.is_empty()
            && config.command.contains(' ')
            && let Ok(words) = shell_words::split(&config.command)
        {
            let mut words = words.into_iter();
            config.command = words.next().unwrap_or_default();
            config.args = words.collect();
        }
        return true;
    }
    let plain = program_name(&config.command);
    if PACKAGE_RUNNERS.contains(&plain) && config.command != plain && !config.command.contains(['/', '\\']) {
        config.command = plain.to_owned();
        return true;
    }
    false
}

/// Returns the remote server that a command connects to, if the command only runs a bridge such as `mcp-remote`, and
/// notes about ignored arguments, which are safe to print. Returns `None` if the command runs anything else, or if the
/// bridge hides some tools of the server.
#[must_use]
pub fn remote_behind_bridge(config: &StdioConfig) -> Option<(HttpConfig, Vec<ImportNote>)> {
    let found = parse_bridge(config)?;
    // If the bridge hides some tools, it is not replaced, since a direct connection would offer those tools, too.
    found.ignored_tools.is_empty().then(|| (found.remote, found.notes.printable().collect()))
}

/// Returns the remote server that a command connects to, if the command only runs a bridge such as `mcp-remote`, or
/// `None` for other commands.
pub(crate) fn parse_bridge(config: &StdioConfig) -> Option<RemoteBehindBridge> {
    let mut words = std::iter::once(&config.command).chain(&config.args).map(String::as_str).peekable();
    let program = program_name(words.next()?);
    let name = if PACKAGE_RUNNERS.contains(&program) {
        let mut package = None;
        while let Some(word) = words.next() {
            if PACKAGE_RUNNER_VALUE_OPTIONS.contains(&word) {
                words.next();
            } else if !word.starts_with('-') && !PACKAGE_RUNNER_SUBCOMMANDS.contains(&word) {
                package = Some(word);
                break;
            }
        }
        package_name(package?)
    } else {
        program
    };
    let rest: Vec<&str> = words.collect();
    let found = match name {
        "mcp-remote" | "mcp-remote-client" => parse_mcp_remote(&rest),
        "supergateway" => parse_supergateway(&rest),
        "mcp-proxy" => parse_mcp_proxy(&rest, config),
        _ => return None,
    };
    let mut found =
        found.filter(|found| found.remote.url.starts_with("http://") || found.remote.url.starts_with("https://"))?;
    // `mcp-proxy` reads its token from this variable, even if no argument refers to it.
    let mut used = vec![String::from("API_ACCESS_TOKEN")];
    for value in found.remote.headers.values_mut() {
        expand_variables(value, config, &mut used);
    }
    let unused =
        config.env.keys().filter(|name| !used.contains(name)).take(MAX_VARIABLES_IN_NOTE).map(|name| quoted_text(name));
    note_unused_arguments(&mut found, unused.collect());
    let note = format!("{name} only connects to this address, so Drawbridge connects to the address directly");
    found.notes.insert_first(ImportNote::new(ImportNoteKind::Bridge, note).with_names([name]));
    Some(found)
}

/// Returns the name of the package or script in a command-line argument, without a package's scope and version, or a
/// script's folder.
fn package_name(word: &str) -> &str {
    let word = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let word = word.split_once('@').map_or(word, |(name, _)| name);
    word.split_once("==").map_or(word, |(name, _)| name)
}

/// Returns the name of a program without its folder and without the extension of Windows executables.
pub(crate) fn program_name(command: &str) -> &str {
    let last = command.rsplit(['/', '\\']).next().unwrap_or(command);
    [".exe", ".cmd", ".bat", ".EXE", ".CMD", ".BAT"].iter().find_map(|end| last.strip_suffix(end)).unwrap_or(last)
}

/// Replaces each `${NAME}` in a header value by the value of that environment variable in the server's entry, and adds
/// the variable's name to `used`. Users write spaces in this way, because Windows splits arguments at spaces. Inserted
/// values are not expanded again, so that the value can't grow exponentially.
fn expand_variables(value: &mut String, config: &StdioConfig, used: &mut Vec<String>) {
    for ValueReference { range, target } in find_references(value, ReferenceSyntax::Dollar).into_iter().rev() {
        let ReferenceTarget::Environment { name, default: None } = target else { continue };
        let Some(text) = config.env.get(&name).filter(|text| text.len() <= MAX_HEADER_VALUE_BYTES) else { continue };
        value.replace_range(range, text);
        used.push(name);
    }
}

fn add_header(found: &mut RemoteBehindBridge, text: &str) {
    match text.split_once(':') {
        Some((name, value)) => {
            found.remote.headers.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        None => found.notes.add(ImportNoteKind::HeaderWithoutValue, "a header without a value was ignored"),
    }
}

fn empty_remote_behind_bridge() -> RemoteBehindBridge {
    RemoteBehindBridge { remote: HttpConfig::default(), notes: ImportNotes::default(), ignored_tools: Vec::new() }
}

fn parse_mcp_remote(words: &[&str]) -> Option<RemoteBehindBridge> {
    let mut found = empty_remote_behind_bridge();
    let mut unused = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--header" => add_header(&mut found, words.next().unwrap_or_default()),
            "--transport" => {
                found.remote.kind = match words.next() {
                    Some("http-only") => Some(HttpKind::Http),
                    Some("sse-only") => Some(HttpKind::Sse),
                    _ => None,
                }
            }
            "--ignore-tool" => found.ignored_tools.extend(words.next().map(str::to_owned)),
            "--host"
            | "--resource"
            | "--auth-timeout"
            | "--static-oauth-client-metadata"
            | "--static-oauth-client-info" => {
                unused.push(quoted_text(word));
                words.next();
            }
            "--debug" | "--silent" | "--allow-http" => {}
            word if word.starts_with("--header=") => add_header(&mut found, &word["--header=".len()..]),
            word if word.starts_with('-') => unused.push(option_name(word)),
            word if found.remote.url.is_empty() => word.clone_into(&mut found.remote.url),
            // The port of the redirect URI for sign-ins is not needed.
            _ => {}
        }
    }
    note_unused_arguments(&mut found, unused);
    Some(found)
}

fn parse_supergateway(words: &[&str]) -> Option<RemoteBehindBridge> {
    let mut found = empty_remote_behind_bridge();
    let mut unused = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let (word, value) = word
            .split_once('=')
            .filter(|_| word.starts_with("--"))
            .map_or((word, None), |(word, value)| (word, Some(value)));
        let mut value = || value.or_else(|| words.next()).unwrap_or_default();
        match word {
            "--sse" => {
                found.remote.kind = Some(HttpKind::Sse);
                value().clone_into(&mut found.remote.url);
            }
            "--streamableHttp" => {
                found.remote.kind = Some(HttpKind::Http);
                value().clone_into(&mut found.remote.url);
            }
            "--header" => add_header(&mut found, value()),
            "--oauth2Bearer" => add_header(&mut found, &format!("Authorization: Bearer {}", value())),
            "--outputTransport" | "--logLevel" => drop(value()),
            // With this option, the program exposes a local server, so it is not a bridge.
            "--stdio" => return None,
            word => unused.push(option_name(word)),
        }
    }
    note_unused_arguments(&mut found, unused);
    Some(found)
}

fn parse_mcp_proxy(words: &[&str], config: &StdioConfig) -> Option<RemoteBehindBridge> {
    let mut found = empty_remote_behind_bridge();
    let mut unused = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-H" | "--headers" => {
                let (name, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                found.remote.headers.insert(name.to_owned(), value.to_owned());
            }
            "--transport" | "--transport=streamablehttp" | "--transport=sse" => {
                let kind = word.split_once('=').map(|(_, kind)| kind).or_else(|| words.next());
                found.remote.kind = Some(if kind == Some("streamablehttp") { HttpKind::Http } else { HttpKind::Sse });
            }
            word if word.starts_with('-') => unused.push(option_name(word)),
            word if found.remote.url.is_empty() => word.clone_into(&mut found.remote.url),
            // A program with arguments is exposed as a server.
            _ => return None,
        }
    }
    if let Some(token) = config.env.get("API_ACCESS_TOKEN") {
        found.remote.headers.insert(String::from("Authorization"), format!("Bearer {token}"));
    }
    note_unused_arguments(&mut found, unused);
    Some(found)
}

/// Describes a command-line argument without its value: returns the quoted name of an option, or "a word" for any other
/// argument, which may be a secret.
fn option_name(word: &str) -> String {
    let name = word.split(['=', ':']).next().unwrap_or(word);
    if name.starts_with('-') && !has_secret(name) { quoted_text(name) } else { String::from("a word") }
}

fn note_unused_arguments(found: &mut RemoteBehindBridge, unused: Vec<String>) {
    if !unused.is_empty() {
        found.notes.push(unused_settings_note(unused));
    }
}
