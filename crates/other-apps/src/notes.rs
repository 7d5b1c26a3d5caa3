//! What to look at before a pasted server is added.

use ports::secrets;
use ports::server_config::{ServerConfig, ServerTransport};

/// The most notes about placeholders for one server.
const MAX_NOTES: usize = 20;

/// A text from outside, shortened and with everything invisible written out.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    let mut short: String = text.chars().take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    format!("{short:?}")
}

/// What looks as if it must be filled in, or as if another program would fill it in.
pub(crate) fn placeholders(config: &ServerConfig) -> Vec<String> {
    let mut places: Vec<(String, &str)> = Vec::new();
    match &config.transport {
        ServerTransport::Stdio(config) => {
            places.push((String::from("the command"), config.command.as_str()));
            places.extend((1..).zip(&config.args).map(|(number, arg)| (format!("argument {number}"), arg.as_str())));
            let variables = config.env.iter().filter(|(_, value)| secrets::names(value).is_empty());
            places.extend(variables.map(|(name, value)| (format!("the variable {}", quoted(name)), value.as_str())));
            if let Some(cwd) = config.cwd.as_deref().and_then(|cwd| cwd.to_str()) {
                places.push((String::from("the folder"), cwd));
            }
        }
        ServerTransport::Http(config) => {
            places.push((String::from("the URL"), config.url.as_str()));
            // A secret of ours is filled in.
            let headers = config.headers.iter().filter(|(_, value)| secrets::names(value).is_empty());
            places.extend(headers.map(|(name, value)| (format!("the header {}", quoted(name)), value.as_str())));
        }
    }
    places.iter().filter_map(|(place, text)| note(place, text)).take(MAX_NOTES).collect()
}

fn note(place: &str, text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(format!("{place} is empty: fill it in if the server needs it"));
    }
    if is_reference(text) {
        return Some(format!("{place} is {}: Drawbridge passes it as it stands, put the value there", quoted(text)));
    }
    is_placeholder(text)
        .then(|| format!("{place} is {}: this looks like a placeholder, put your own value there", quoted(text)))
}

/// Something that a shell or an editor would replace.
fn is_reference(text: &str) -> bool {
    let name = |rest: &str| rest.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    text.contains("${")
        || text.contains("{{")
        || text.split('$').skip(1).any(name)
        || text.starts_with("~/")
        || text == "~"
        || text
            .split('%')
            .nth(1)
            .is_some_and(|inner| !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
}

/// Something that a README shows in place of a value.
fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let in_angles =
        text.split_once('<').and_then(|(_, rest)| rest.split_once('>')).is_some_and(|(inner, _)| !inner.is_empty());
    let words = lower.split(|c: char| !c.is_alphanumeric()).collect::<Vec<_>>();
    let has = |wanted: &[&str]| words.windows(wanted.len()).any(|found| found == wanted);
    in_angles
        || has(&["path", "to"])
        || words.contains(&"your")
        || words.iter().any(|word| word.starts_with("your") && *word != "yours")
        || has(&["replace", "me"])
        || has(&["change", "me"])
        || ["changeme", "placeholder", "xxx", "xxxx"].iter().any(|word| words.contains(word))
        || lower.contains("xxxxx")
        || lower.ends_with("...")
        || has(&["users", "username"])
        || has(&["home", "user"])
        || has(&["home", "username"])
        || has(&["api", "key", "here"])
}
