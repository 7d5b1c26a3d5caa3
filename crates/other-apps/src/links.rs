//! Install links on web pages and in READMEs: `drawbridge://mcp/install?...` and those of other apps. They are parsed
//! as pasted text ([`crate::pasted`]), and written for the user's own servers.
//!
//! - `link_form`: known links, and where the servers are in each
//! - `link_parameters`: parameters and base64
//! - `link_servers`: the keys that a link may set
//! - `link_warnings`: warnings before a server of a link is added
//! - `install_link`: [`install_link`]
//!
//! Any web page can contain a link, so opening a link only fills in a form, which the user submits. A link may set only
//! the keys in an explicit list, which excludes approvals, working directory, sandbox and timeouts. Links are never
//! logged, since they may contain secrets.

mod install_link;
mod link_form;
mod link_parameters;
mod link_servers;
mod link_warnings;

use ports::server_config::ConfigProblem;

use crate::notes::printable_text;
use crate::server_candidate::ServerCandidate;
pub use install_link::{InstallLink, LinkTarget, install_link};
use link_form::{LinkForm, LinkPayload};
use link_parameters::LinkParameters;

/// Maximum length of an install link that is parsed or created, in bytes. Decoded content is never longer than the
/// link.
const MAX_LINK_BYTES: usize = 32 * 1_024;

/// Parses a text that consists of exactly one install link. Returns `None` if the text contains anything else.
pub(crate) fn parse_single_link(text: &str) -> Option<Result<Vec<ServerCandidate>, ConfigProblem>> {
    let text = text.trim();
    let is_link = link_form::match_link_form(text).is_some_and(|(form, rest)| {
        // In some links, the JSON is not percent-encoded and contains spaces.
        let is_raw = form.payload == LinkPayload::Json && rest.starts_with('{');
        is_raw || !text.contains(char::is_whitespace)
    });
    if is_link || has_other_url_scheme(text) { Some(parse_candidates(text)) } else { None }
}

/// Returns the install links in a text, such as a Markdown page with badges.
pub(crate) fn find_install_links(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let before = text[..at].chars().next_back();
            let begins_word = before.is_none_or(|c| !c.is_alphanumeric());
            if begins_word
                && rest.starts_with(|c: char| c.is_ascii_alphanumeric())
                && link_form::match_link_form(rest).is_some()
            {
                let link = &rest[..link_length_bytes(rest, before)];
                at += link.len().max(1);
                return Some(link);
            }
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        None
    })
}

/// Parses the servers in an install link.
///
/// # Errors
///
/// Returns [`ConfigProblem`] if the link is longer than [`MAX_LINK_BYTES`], contains no server, or sets a key that
/// links may not set.
pub(crate) fn parse_candidates(link: &str) -> Result<Vec<ServerCandidate>, ConfigProblem> {
    parse_link(link, RedirectPolicy::Followed).map_err(|message| link_problem(&message))
}

/// Handling of a link that contains another link, as links to the redirecting pages of VS Code do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RedirectPolicy {
    Followed,
    Refused,
}

fn parse_link(link: &str, redirect: RedirectPolicy) -> Result<Vec<ServerCandidate>, String> {
    if link.len() > MAX_LINK_BYTES {
        return Err(format!("the link is longer than {} KiB, and no install link needs that", MAX_LINK_BYTES >> 10));
    }
    let Some((form, rest)) = link_form::match_link_form(link) else {
        return Err(String::from(
            "this link installs no server: expected one such as drawbridge://mcp/install?name=NAME&config=BASE64",
        ));
    };
    parse_payload(form, rest, redirect)
        .map_err(|message| format!("this link for {} can't be used: {message}", form.app))
}

fn parse_payload(
    form: &'static LinkForm,
    rest: &str,
    redirect: RedirectPolicy,
) -> Result<Vec<ServerCandidate>, String> {
    match form.payload {
        LinkPayload::Json => link_servers::parse_candidates(form, &link_parameters::percent_decode(rest)?, None, None),
        LinkPayload::Base64 => link_servers::parse_candidates(
            form,
            &link_parameters::decode_base64(&link_parameters::percent_decode(rest)?)?,
            None,
            None,
        ),
        LinkPayload::JsonIn(key) => {
            let parameters = LinkParameters::parse(rest)?;
            let (json, name) = (parameters.get_required(key)?, parameters.get_unique("name")?);
            link_servers::parse_candidates(form, &json, name, parameters.get_unique("inputs")?.as_deref())
        }
        LinkPayload::Base64In(key) => {
            let parameters = LinkParameters::parse(rest)?;
            let (json, name) =
                (link_parameters::decode_base64(&parameters.get_required(key)?)?, parameters.get_unique("name")?);
            let mut found = link_servers::parse_candidates(form, &json, name, None)?;
            let unknown = parameters.names().filter(|name| ![key, "name"].contains(name));
            link_servers::reject_or_note_keys(form, unknown, &mut found)?;
            Ok(found)
        }
        LinkPayload::Words => link_servers::parse_goose_server(form, &LinkParameters::parse(rest)?),
        LinkPayload::LinkIn(key) if redirect == RedirectPolicy::Followed => {
            parse_link(&LinkParameters::parse(rest)?.get_required(key)?, RedirectPolicy::Refused)
        }
        LinkPayload::LinkIn(_) => Err(String::from("it leads to another link, which leads on")),
    }
}

/// Creates a [`ConfigProblem`] about an install link. The message may quote the link, so it is truncated and made safe
/// to print.
fn link_problem(message: &str) -> ConfigProblem {
    ConfigProblem { file: None, line: None, column: None, message: printable_text(message) }
}

/// Returns the length of the link at the beginning of a text, in bytes. `before` is the character before the text.
fn link_length_bytes(text: &str, before: Option<char>) -> usize {
    let mut depth = 0_u32;
    let ends = |c: char| {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return true,
            ')' => depth -= 1,
            _ => {}
        }
        c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`') || (c == '\'' && before == Some('\''))
    };
    text.find(ends).unwrap_or(text.len())
}

/// Returns `true` for a single word with a URL scheme other than `http` and `https`. Such a word is neither a command
/// nor the URL of a server.
fn has_other_url_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once("://") else { return false };
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    is_scheme && !text.contains(char::is_whitespace) && !["http", "https"].contains(&&*scheme.to_ascii_lowercase())
}
