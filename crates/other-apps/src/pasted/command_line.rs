//! Parses command lines that start a server, or that add one to a program.

use ports::server_config::{HttpConfig, ImportNoteKind, StdioConfig};

use crate::entry;
use crate::json_text::JsonText;
use crate::notes::{ImportNotes, quoted_text};
use crate::server_candidate::ServerCandidate;

/// Programs that add a server by the command `PROGRAM mcp add [options] NAME [--] COMMAND [ARGUMENTS]`.
const ADD_COMMAND_PROGRAMS: [&str; 5] = ["claude", "codex", "gemini", "amp", "qwen"];

/// Programs that are commonly used to start servers.
const SERVER_LAUNCHERS: [&str; 14] = [
    "npx", "uvx", "bunx", "pipx", "uv", "docker", "podman", "node", "python", "python3", "deno", "bun", "java",
    "dotnet",
];

/// Returns `true` if a command line adds a server to an app, such as `claude mcp add`.
pub(super) fn is_mcp_add_command(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(3).collect();
    match words[..] {
        [program, "mcp", "add" | "add-json"] => ADD_COMMAND_PROGRAMS.contains(&program),
        [program, "--add-mcp", ..] => program.starts_with("code"),
        _ => false,
    }
}

/// Returns `true` if a command line begins with a program that is commonly used to start servers.
pub(super) fn starts_with_server_launcher(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| SERVER_LAUNCHERS.contains(&word))
}

/// Parses a command line that starts a server, or that adds one to an app.
pub(super) fn parse_candidates(line: &str) -> Result<Vec<ServerCandidate>, String> {
    let words = shell_words::split(line)
        .map_err(|_| String::from("a quote is opened in this line and not closed; expected a whole command line"))?;
    if is_mcp_add_command(line) {
        return parse_add_command(&words);
    }
    if let [url] = &words[..]
        && is_url(url)
    {
        return Ok(vec![remote_candidate(None, url, Some(None), Vec::new())]);
    }
    let program = words.iter().find(|word| parse_assignment(word).is_none()).or(words.first());
    let first = program.map(String::as_str).unwrap_or_default();
    let is_path = first.contains(['/', '\\']);
    let prose = first.ends_with([',', '.', ':', '!', '?', ';'])
        || (!is_path && !first.contains('=') && first.starts_with(char::is_uppercase));
    if first.is_empty() || prose || first.starts_with(['[', '<', '-']) {
        let message =
            "no server found: expected JSON with \"mcpServers\", a URL, or the command line that starts a server";
        return Err(String::from(message));
    }
    reject_shell_syntax(line, &words)?;
    parse_server_command(None, words).map(|candidate| vec![candidate])
}

fn is_url(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

/// Returns an error for shell syntax such as pipes. Drawbridge starts programs without a shell, so a program would
/// receive the syntax as arguments.
fn reject_shell_syntax(line: &str, words: &[String]) -> Result<(), String> {
    const SHELL_OPERATORS: [&str; 9] = ["&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"];
    let found = words.iter().find(|word| SHELL_OPERATORS.contains(&word.as_str()) || word.ends_with(';'));
    let found = found.map(String::as_str).or_else(|| ["$(", "`"].into_iter().find(|start| line.contains(start)));
    match found {
        Some(found) => Err(format!(
            "{} needs a shell, and a server is started without one: paste only the command of the server itself",
            quoted_text(found)
        )),
        None => Ok(()),
    }
}

/// Parses the words of a command that starts a server. Assignments before the program become environment variables.
fn parse_server_command(name: Option<String>, words: Vec<String>) -> Result<ServerCandidate, String> {
    let mut config = StdioConfig::default();
    let mut words = words.into_iter();
    for word in words.by_ref() {
        match parse_assignment(&word) {
            Some((name, value)) => {
                config.env.insert(name, value);
            }
            None => {
                config.command = word;
                break;
            }
        }
    }
    config.args = words.collect();
    if config.command.is_empty() {
        return Err(String::from("expected the program to start, found nothing after the variables"));
    }
    Ok(ServerCandidate { name, config, ..ServerCandidate::default() })
}

fn parse_assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then(|| (name.to_owned(), value.to_owned()))
}

/// Creates a server with a URL. `kind` is the transport as in settings files, or `None` if its name is unknown.
fn remote_candidate(
    name: Option<String>,
    url: &str,
    kind: Option<Option<ports::server_config::HttpKind>>,
    headers: Vec<String>,
) -> ServerCandidate {
    let mut notes = ImportNotes::default();
    let mut config = HttpConfig { url: url.to_owned(), kind: kind.flatten(), ..HttpConfig::default() };
    for header in headers {
        match header.split_once(':') {
            Some((name, value)) => {
                config.headers.insert(name.trim().to_owned(), value.trim().to_owned());
            }
            None => notes.add(ImportNoteKind::HeaderWithoutValue, "a header without a value was ignored"),
        }
    }
    if kind.is_none() {
        notes.add(ImportNoteKind::Reason, "its transport is unknown");
    }
    ServerCandidate {
        name,
        remote: Some(config),
        notes,
        has_unsupported_transport: kind.is_none(),
        ..ServerCandidate::default()
    }
}

/// Parses a command that adds a server to an app, such as `claude mcp add`.
fn parse_add_command(words: &[String]) -> Result<Vec<ServerCandidate>, String> {
    let rest = words.get(2..).unwrap_or_default();
    match words.get(1).map(String::as_str) {
        Some("--add-mcp") => {
            rest.first().map_or_else(|| Err(incomplete_command_text()), |json| candidates_in_json(None, json))
        }
        _ if rest.first().is_some_and(|word| word == "add-json") => {
            let mut plain = Vec::new();
            let mut words = rest[1..].iter();
            while let Some(word) = words.next() {
                match word.as_str() {
                    "-s" | "--scope" => {
                        words.next();
                    }
                    word => plain.push(word.to_owned()),
                }
            }
            match &plain[..] {
                [name, json, ..] => candidates_in_json(Some(name.clone()), json),
                _ => Err(incomplete_command_text()),
            }
        }
        _ => candidate_of_words(rest.get(1..).unwrap_or_default()).map(|candidate| vec![candidate]),
    }
}

fn incomplete_command_text() -> String {
    String::from("expected a name and the server's command after this, found the end")
}

fn candidates_in_json(name: Option<String>, json: &str) -> Result<Vec<ServerCandidate>, String> {
    let mut candidates = entry::parse_candidates(&JsonText::without_file(json)).map_err(|problem| problem.message)?;
    if let (Some(name), [candidate]) = (name, &mut candidates[..]) {
        candidate.name = Some(name);
    }
    Ok(candidates)
}

/// Parses the arguments `[options] NAME [options] [--] COMMAND [ARGUMENTS]` of a command that adds a server.
fn candidate_of_words(words: &[String]) -> Result<ServerCandidate, String> {
    let mut plain: Vec<String> = Vec::new();
    let mut variables = Vec::new();
    let mut headers = Vec::new();
    let mut transport = None;
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => {
                plain.extend(words.by_ref().cloned());
            }
            // All words after the program are its arguments. After a URL, only headers can follow.
            _ if plain.len() >= 2 && !plain.get(1).is_some_and(|word| is_url(word)) => plain.push(word.clone()),
            "-e" | "--env" => {
                while let Some(variable) = words.peek().and_then(|word| parse_assignment(word)) {
                    variables.push(variable);
                    words.next();
                }
            }
            "-t" | "--transport" => transport = words.next().cloned(),
            "-s" | "--scope" => {
                words.next();
            }
            "-H" | "--header" => headers.extend(words.next().cloned()),
            word if word.starts_with("--env=") => variables.extend(parse_assignment(&word["--env=".len()..])),
            word if word.starts_with("--transport=") => transport = Some(word["--transport=".len()..].to_owned()),
            "--url" => plain.extend(words.next().cloned()),
            word if word.starts_with("--header=") => headers.push(word["--header=".len()..].to_owned()),
            word if word.starts_with('-') => {}
            word => plain.push(word.to_owned()),
        }
    }
    let mut plain = plain.into_iter();
    let name = plain.next().ok_or_else(incomplete_command_text)?;
    let command: Vec<String> = plain.collect();
    if let Some(url) = command.first().filter(|word| is_url(word)) {
        return Ok(remote_candidate(Some(name), url, entry::parse_http_kind(transport.as_deref()), headers));
    }
    if command.is_empty() {
        return Err(incomplete_command_text());
    }
    let mut candidate = parse_server_command(Some(name), command)?;
    candidate.config.env.extend(variables);
    Ok(candidate)
}
