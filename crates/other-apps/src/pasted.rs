//! Pasted text: what a server's README says to put into some program's settings, in whatever form, or offers as an install link.

mod command_line;
mod find;

use ports::secrets;
use ports::server_config::{ConfigProblem, HttpConfig, Imported, ServerConfig, ServerTransport};

use crate::candidate::Candidate;
use crate::json_text::{JsonText, without_mark};
use crate::names::Names;
use crate::secret_like::{has_secret, is_secret_name, is_switch};
use crate::{entry, links, names, notes};
use find::Part;

/// The longest text that is read, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// The most servers in one text.
const MAX_SERVERS: usize = 100;

/// Reads the servers in pasted text: `mcpServers` and its cousins in other programs' settings, one bare entry, a fragment without
/// its outer braces, an install link, a page of Markdown with any of these, a command line or a URL. `taken_names` are the user's servers.
///
/// # Errors
/// With line and column where known, and what was expected, if no server can be read from it.
pub fn import(text: &str, taken_names: &[String]) -> Result<Vec<Imported>, ConfigProblem> {
    Ok(settle(candidates(text)?, taken_names))
}

/// The servers in a text, before their names are settled.
pub(crate) fn candidates(text: &str) -> Result<Vec<Candidate>, ConfigProblem> {
    let text = without_mark(text);
    if text.len() > MAX_TEXT {
        return Err(nothing(format!(
            "the text is longer than {} KiB; paste only the server's settings",
            MAX_TEXT >> 10
        )));
    }
    if let Some(found) = links::alone(text) {
        return found;
    }
    // A page may show how to try a server by hand beside its settings: then the settings are what was meant.
    let (plain, settings): (Vec<_>, Vec<_>) = find::parts(text).into_iter().partition(Part::is_plain_command);
    let mut candidates = Vec::new();
    let mut problem = None;
    read_all(&settings, &mut candidates, &mut problem);
    // A link says as clearly what is meant. It is no address of a server, even if nothing can be read from it.
    let has_link = candidates.is_empty() && read_links(text, &mut candidates, &mut problem);
    if candidates.is_empty() && !has_link {
        read_all(&plain, &mut candidates, &mut problem);
    }
    if candidates.len() > MAX_SERVERS {
        return Err(nothing(format!("there are more than {MAX_SERVERS} servers in the text; paste some of them")));
    }
    match problem {
        _ if !candidates.is_empty() => Ok(candidates),
        Some(problem) => Err(problem),
        None => Err(nothing(
            "no server found: expected JSON with \"mcpServers\", a URL, or the command line that starts a server",
        )),
    }
}

fn read_all(parts: &[Part<'_>], candidates: &mut Vec<Candidate>, problem: &mut Option<ConfigProblem>) {
    for part in parts {
        match read(part) {
            Ok(found) => {
                for candidate in found {
                    if !candidates.contains(&candidate) {
                        candidates.push(candidate);
                    }
                }
            }
            // The first problem is the one to show: what follows is often its consequence, or prose.
            Err(found) => {
                problem.get_or_insert(found);
            }
        }
    }
}

/// Reads the links in a text. True if there is one. A page has links for several apps, which mean the same server.
fn read_links(text: &str, candidates: &mut Vec<Candidate>, problem: &mut Option<ConfigProblem>) -> bool {
    let mut has_link = false;
    for link in links::in_text(text) {
        has_link = true;
        match links::candidates(link) {
            Ok(found) => {
                for candidate in found {
                    let is_same = |other: &Candidate| {
                        let name = |candidate: &Candidate| candidate.name.as_ref().map(|name| name.to_lowercase());
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
        if candidates.len() > MAX_SERVERS {
            break;
        }
    }
    has_link
}

fn read(part: &Part<'_>) -> Result<Vec<Candidate>, ConfigProblem> {
    match part {
        Part::Json(text) => entry::candidates(text),
        Part::Fragment { text, lines_before } => {
            let whole = format!("{{{text}\n}}");
            entry::candidates(&JsonText {
                text: &whole,
                lines_before: *lines_before,
                added_before: 1,
                ..JsonText::pasted("")
            })
        }
        Part::Command { text, line } => command_line::candidates(text).map_err(|message| ConfigProblem {
            file: None,
            line: Some(*line),
            column: None,
            message,
        }),
    }
}

fn settle(candidates: Vec<Candidate>, taken_names: &[String]) -> Vec<Imported> {
    let mut taken = Names::of(taken_names);
    let mut settled = Vec::new();
    for mut candidate in candidates {
        let wanted = match &candidate.name {
            Some(name) => names::valid(name),
            None => match &candidate.remote {
                Some(remote) => names::from_url(&remote.url),
                None => names::from_command(&candidate.config),
            },
        };
        if candidate.extras.by_link && taken.has(&wanted) {
            candidate.notes.push(format!(
                "there is a server {} already, which stays as it is: this one would be added beside it",
                notes::quoted(&wanted)
            ));
        }
        let name = taken.take(&wanted);
        let config = candidate.config();
        let problem = in_use(config.clone()).problem().filter(|_| !candidate.unknown);
        if !candidate.unknown {
            candidate.notes.extend(notes::placeholders(&config));
        }
        let usable = !candidate.unknown && problem.is_none();
        if candidate.extras.off {
            candidate.notes.push(String::from("it is turned off there"));
        }
        if !candidate.extras.denied_tools.is_empty() || !candidate.extras.exposed_tools.is_empty() {
            candidate.notes.push(String::from("its lists of tools are not used: set rules instead"));
        }
        candidate.notes.extend(problem);
        let secrets = secrets_in(&config);
        settled.push(Imported { name, config, notes: candidate.notes.into_texts(), secrets, usable });
    }
    settled
}

/// The variables or headers whose values are secrets, or are to be typed under a name of secrets.
fn secrets_in(config: &ServerConfig) -> Vec<String> {
    let values = match &config.transport {
        ServerTransport::Stdio(stdio) => &stdio.env,
        ServerTransport::Http(http) => &http.headers,
    };
    let is_secret = |(name, value): &(&String, &String)| {
        let is_open = value.trim().is_empty() || !is_switch(value.trim());
        secrets::names(value).is_empty() && (has_secret(value) || (is_secret_name(name) && is_open))
    };
    values.iter().filter(is_secret).map(|(name, _)| name.clone()).collect()
}

/// As it will be when it is added: the client secret lies in the keychain then.
fn in_use(mut config: ServerConfig) -> ServerConfig {
    if let ServerTransport::Http(HttpConfig { auth: Some(auth), .. }) = &mut config.transport {
        auth.client_secret = auth.client_secret.as_ref().map(|_| secrets::reference("client-secret"));
    }
    config
}

fn nothing(message: impl Into<String>) -> ConfigProblem {
    ConfigProblem { file: None, line: None, column: None, message: message.into() }
}
