//! The paths that a word of a command line or a variable's value may name. `script_files.rs` looks them up.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::words::option_and_value;

/// The most paths of one text.
const MOST_PATHS: usize = 512;
/// The longest text and value in which variables are replaced, in bytes.
const MOST_EXPANDED: usize = 4 * 1024;

/// Characters that end a path in a shell's or another language's code.
const PUNCTUATION: [char; 18] =
    ['\'', '"', '`', ';', '&', '|', '<', '>', '(', ')', '[', ']', '{', '}', ',', '=', '$', '@'];

/// All paths that a text may name, with these variables in place of their names.
pub(super) fn paths_in(text: &str, variables: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let text = expanded(text, variables);
    let mut texts: Vec<String> = vec![text.clone()];
    texts.extend(option_and_value(&text).map(|(_, value)| value.to_owned()));
    // `-I/folder`
    texts.extend(text.get(2..).filter(|_| text.starts_with('-')).map(str::to_owned));
    texts.extend(shell_words::split(&text).unwrap_or_default());
    texts.extend(text.split(PUNCTUATION).map(str::to_owned));
    texts.extend(text.split(|c: char| c.is_whitespace() || PUNCTUATION.contains(&c)).map(str::to_owned));
    let mut paths: Vec<PathBuf> = Vec::new();
    for text in texts.iter().filter(|text| !text.is_empty()).take(MOST_PATHS) {
        let at = text.find("file:").and_then(|at| text.get(at..)).and_then(|url| url::Url::parse(url).ok());
        paths.extend(at.and_then(|url| url.to_file_path().ok()));
        paths.extend(std::env::split_paths(text).filter(|path| !path.as_os_str().is_empty()));
        paths.push(PathBuf::from(text));
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The text with the values of the variables that it names, and the user's home folder.
fn expanded(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    let home = std::env::home_dir().map(|home| home.display().to_string()).unwrap_or_default();
    if text.starts_with("~/") || text.contains(" ~/") {
        text = text.replace("~/", &format!("{home}/"));
    }
    let home = (!variables.contains_key("HOME")).then_some(("HOME", home.as_str()));
    // Longer names first: `$A` is the beginning of `$AB`.
    let named = variables.iter().rev().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in named.chain(home).filter(|(_, value)| value.len() <= MOST_EXPANDED) {
        if text.contains('$') && text.len() <= MOST_EXPANDED {
            text = with_default_of(&text, name, Some(value));
            text = text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value);
        }
    }
    while text.len() <= MOST_EXPANDED
        && let Some(name) =
            text.split("${").nth(1).and_then(|rest| rest.split_once(":-")).map(|(name, _)| name.to_owned())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        text = with_default_of(&text, &name, None);
    }
    text
}

/// The text without the defaults of this variable: `${NAME:-default}` is its value, or the default if it has none.
fn with_default_of(text: &str, name: &str, value: Option<&str>) -> String {
    let mut text = text.to_owned();
    for sign in [":-", ":=", "-", "="] {
        let begin = format!("${{{name}{sign}");
        while text.len() <= MOST_EXPANDED
            && let Some((before, rest)) = text.split_once(&begin)
            && let Some((default, after)) = rest.split_once('}')
        {
            let value = value.filter(|value| !value.is_empty()).unwrap_or(default);
            text = format!("{before}{value}{after}");
        }
    }
    text
}
