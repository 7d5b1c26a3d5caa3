//! Pasted text: what a server's README says to put into some program's settings, in whatever form.

mod command_line;
mod find;

use ports::secrets;
use ports::server_config::{ConfigProblem, HttpConfig, Imported, ServerConfig, ServerTransport};

use crate::candidate::Candidate;
use crate::json_text::{JsonText, without_mark};
use crate::names::Names;
use crate::{entry, names, notes};
use find::Part;

/// The longest text that is read, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// The most servers in one text.
const MAX_SERVERS: usize = 100;

/// Reads the servers in pasted text: `mcpServers` and its cousins in other programs' settings, one bare entry, a fragment without
/// its outer braces, a page of Markdown with any of these, a command line or a URL. `taken_names` are the user's servers.
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
    // A page may show how to try a server by hand beside its settings: then the settings are what was meant.
    let (plain, settings): (Vec<_>, Vec<_>) = find::parts(text).into_iter().partition(Part::is_plain_command);
    let mut candidates = Vec::new();
    let mut problem = None;
    for parts in [settings, plain] {
        if candidates.is_empty() {
            read_all(&parts, &mut candidates, &mut problem);
        }
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
        settled.push(Imported { name, config, notes: candidate.notes.into_texts(), usable });
    }
    settled
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
