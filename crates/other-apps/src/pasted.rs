//! Parses pasted text: the settings for any program in a server's README, or install links.

mod command_line;
mod pasted_parts;

use ports::secrets;
use ports::server_config::{
    ConfigProblem, HttpConfig, ImportNote, ImportNoteKind, PastedServer, ServerConfig, ServerTransport,
};

use crate::found_server::{note_tool_lists, remove_secret_tools};
use crate::json_text::{JsonText, without_byte_order_mark};
use crate::secret_detection::{has_secret, is_empty_or_boolean, is_secret_name};
use crate::server_candidate::{EntryExtras, ServerCandidate};
use crate::server_names::TakenNames;
use crate::variables::{ReferenceSyntax, find_references};
use crate::{entry, links, notes, server_names};
use pasted_parts::PastedPart;

/// Maximum size of a pasted text, in bytes.
const MAX_PASTED_TEXT_BYTES: usize = 1 << 20;

/// Maximum number of servers in a pasted text.
const MAX_PASTED_SERVERS: usize = 100;

/// Parses the servers in pasted text: settings of any program (such as `mcpServers`), a single entry, a fragment
/// without outer braces, an install link, a Markdown page with any of these, a command line, or a URL. `taken_names`
/// are the names of the configured servers.
///
/// # Errors
///
/// Returns [`ConfigProblem`] with the expected content, and with line and column if known, if the text contains no
/// server.
///
/// # Examples
///
/// ```
/// use other_apps::parse_pasted_servers;
///
/// // Fragments of settings have no braces around them.
/// let pasted = r#"
/// "notes": {
///   "command": "npx",
///   "args": ["-y", "@alice/notes"],
///   "env": { "NOTES_TOKEN": "YOUR_TOKEN_HERE" }
/// }
/// "#;
/// let servers = parse_pasted_servers(pasted, &["notes".to_owned()])?;
/// let [server] = &servers[..] else { panic!("the text has one server") };
/// assert_ne!(server.name, "notes", "the name is taken");
/// assert_eq!(server.config.as_stdio().expect("a local server").command_line(), "npx -y @alice/notes");
/// assert_eq!(server.secrets, ["NOTES_TOKEN"], "the value belongs into the keychain");
/// assert!(server.notes.iter().any(|note| note.text.contains("placeholder")), "{:?}", server.notes);
///
/// let problem = parse_pasted_servers(" ", &[]).unwrap_err();
/// assert!(problem.message.starts_with("no server found"), "{problem}");
/// # Ok::<(), ports::server_config::ConfigProblem>(())
/// ```
pub fn parse_pasted_servers(text: &str, taken_names: &[String]) -> Result<Vec<PastedServer>, ConfigProblem> {
    Ok(to_pasted_servers(parse_candidates(text)?, taken_names))
}

/// Parses the servers in a pasted text, some of which may have no name yet.
pub(crate) fn parse_candidates(text: &str) -> Result<Vec<ServerCandidate>, ConfigProblem> {
    let text = without_byte_order_mark(text);
    if text.len() > MAX_PASTED_TEXT_BYTES {
        return Err(nothing_found_problem(format!(
            "the text is longer than {} KiB; paste only the server's settings",
            MAX_PASTED_TEXT_BYTES >> 10
        )));
    }
    if let Some(found) = links::parse_single_link(text) {
        return found;
    }
    // A page may contain a command for trying a server, and its settings. In this case the settings are used.
    let (plain, settings): (Vec<_>, Vec<_>) =
        pasted_parts::split_pasted_parts(text).into_iter().partition(PastedPart::is_plain_command);
    let mut candidates = Vec::new();
    let mut problem = None;
    parse_pasted_parts(&settings, &mut candidates, &mut problem);
    // A link has the same priority as settings. It is never interpreted as a server's URL, even if it can't be parsed.
    let has_link = candidates.is_empty() && parse_links(text, &mut candidates, &mut problem);
    if candidates.is_empty() && !has_link {
        parse_pasted_parts(&plain, &mut candidates, &mut problem);
    }
    if candidates.len() > MAX_PASTED_SERVERS {
        return Err(nothing_found_problem(format!(
            "there are more than {MAX_PASTED_SERVERS} servers in the text; paste some of them"
        )));
    }
    match problem {
        _ if !candidates.is_empty() => Ok(candidates),
        Some(problem) => Err(problem),
        None => Err(nothing_found_problem(
            "no server found: expected JSON with \"mcpServers\", a URL, or the command line that starts a server",
        )),
    }
}

fn parse_pasted_parts(
    parts: &[PastedPart<'_>],
    candidates: &mut Vec<ServerCandidate>,
    problem: &mut Option<ConfigProblem>,
) {
    for part in parts {
        match parse_pasted_part(part) {
            Ok(found) => {
                for candidate in found {
                    if !candidates.contains(&candidate) {
                        candidates.push(candidate);
                    }
                }
            }
            // The first problem is reported, since later ones are often consequences of it, or about text that contains
            // no server.
            Err(found) => {
                problem.get_or_insert(found);
            }
        }
    }
}

/// Adds the servers in the install links of a text to `candidates`, or the first error to `problem`. Returns `true` if
/// the text contains a link. Several links on a page are alternatives for the same server in different apps.
fn parse_links(text: &str, candidates: &mut Vec<ServerCandidate>, problem: &mut Option<ConfigProblem>) -> bool {
    let mut has_link = false;
    for link in links::find_install_links(text) {
        has_link = true;
        match links::parse_candidates(link) {
            Ok(found) => {
                for candidate in found {
                    let is_same = |other: &ServerCandidate| {
                        let name =
                            |candidate: &ServerCandidate| candidate.name.as_ref().map(|name| name.to_lowercase());
                        other.config() == candidate.config() && name(other) == name(&candidate)
                    };
                    if !candidates.iter().any(is_same) {
                        candidates.push(candidate);
                    }
                }
            }
            Err(found) => {
                problem.get_or_insert(found);
            }
        }
        if candidates.len() > MAX_PASTED_SERVERS {
            break;
        }
    }
    has_link
}

fn parse_pasted_part(part: &PastedPart<'_>) -> Result<Vec<ServerCandidate>, ConfigProblem> {
    match part {
        PastedPart::Json(text) => entry::parse_candidates(text),
        PastedPart::Fragment { text, lines_before } => {
            let whole = format!("{{{text}\n}}");
            entry::parse_candidates(&JsonText {
                text: &whole,
                lines_before: *lines_before,
                added_before: 1,
                ..JsonText::without_file("")
            })
        }
        PastedPart::Command { text, line } => command_line::parse_candidates(text).map_err(|message| ConfigProblem {
            file: None,
            line: Some(*line),
            column: None,
            message,
        }),
    }
}

fn to_pasted_servers(candidates: Vec<ServerCandidate>, taken_names: &[String]) -> Vec<PastedServer> {
    let mut taken = TakenNames::new(taken_names);
    let mut settled = Vec::new();
    for mut candidate in candidates {
        let valid_name = match &candidate.name {
            Some(name) => server_names::to_valid_server_name(name),
            None => match &candidate.remote {
                Some(remote) => server_names::name_from_url(&remote.url),
                None => server_names::name_from_command(&candidate.config),
            },
        };
        if candidate.extras.is_from_link && taken.contains(&valid_name) {
            let note = format!(
                "a server {} exists already and stays unchanged: this one would be added as another server",
                notes::quoted_text(&valid_name)
            );
            candidate.notes.push(ImportNote::new(ImportNoteKind::NameTaken, note).with_names([&valid_name]));
        }
        let name = taken.reserve(&valid_name);
        let lost_denial = remove_secret_tools(&mut candidate);
        let config = candidate.config();
        let problem = config_with_client_secret_reference(config.clone())
            .problem()
            .or(lost_denial)
            .filter(|_| !candidate.has_unsupported_transport);
        if !candidate.has_unsupported_transport {
            candidate.notes.extend(notes::plain_password_notes(&config, &candidate.extras));
            candidate.notes.extend(notes::placeholder_notes(&config));
        }
        let usable = !candidate.has_unsupported_transport && problem.is_none();
        if candidate.extras.disabled {
            candidate.notes.add(ImportNoteKind::Off, "it is turned off there");
        }
        note_tool_lists(&candidate.tools, &mut candidate.notes);
        candidate.notes.extend(problem.map(|problem| ImportNote::new(ImportNoteKind::Reason, problem)));
        let secrets = secret_names(&config, &candidate.extras);
        settled.push(PastedServer { name, config, notes: candidate.notes.printable().collect(), secrets, usable });
    }
    settled
}

/// Returns the names of the variables and headers whose values the page marks as secrets: the value looks like a
/// secret, the name indicates one, or the value refers to a password that the other app prompts for.
fn secret_names(config: &ServerConfig, extras: &EntryExtras) -> Vec<String> {
    let values = match &config.transport {
        ServerTransport::Stdio(stdio) => &stdio.env,
        ServerTransport::Http(http) => &http.headers,
    };
    let is_secret = |(name, value): &(&String, &String)| {
        let is_open = value.trim().is_empty() || !is_empty_or_boolean(value.trim());
        let has_password =
            || find_references(value, ReferenceSyntax::Any).iter().any(|reference| extras.is_password(reference));
        secrets::referenced_secret_names(value).is_empty()
            && (has_secret(value) || (is_secret_name(name) && is_open) || has_password())
    };
    values.iter().filter(is_secret).map(|(name, _)| name.clone()).collect()
}

/// Returns the configuration as it will be after the server was added, when its client secret is in the keychain.
fn config_with_client_secret_reference(mut config: ServerConfig) -> ServerConfig {
    if let ServerTransport::Http(HttpConfig { auth: Some(auth), .. }) = &mut config.transport {
        auth.client_secret = auth.client_secret.as_ref().map(|_| secrets::secret_reference("client-secret"));
    }
    config
}

fn nothing_found_problem(message: impl Into<String>) -> ConfigProblem {
    ConfigProblem { file: None, line: None, column: None, message: message.into() }
}
