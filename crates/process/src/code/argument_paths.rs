//! Extracts the paths that may occur in a word of a command line or in a variable's value. `script_files.rs` looks them
//! up.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::argument_handling::option_and_value;

/// Maximum number of paths that are extracted from one word of a command line or one variable's value.
const MAX_PATHS_PER_TEXT: usize = 512;
/// Maximum length, in bytes, of a text in which variables are expanded, and of a variable's value.
const MAX_VARIABLE_EXPANSION_BYTES: usize = 4 * 1024;

/// Characters that end a path in code.
const PATH_ENDING_CHARACTERS: [char; 18] =
    ['\'', '"', '`', ';', '&', '|', '<', '>', '(', ')', '[', ']', '{', '}', ',', '=', '$', '@'];

/// Returns all possible paths in a text, after these variables are expanded.
pub(super) fn paths_in_text(text: &str, variables: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let text = expand_variables(text, variables);
    let mut texts: Vec<String> = vec![text.clone()];
    texts.extend(option_and_value(&text).map(|(_, value)| value.to_owned()));
    // The value of a short option in the same word: `-I/folder`.
    texts.extend(text.get(2..).filter(|_| text.starts_with('-')).map(str::to_owned));
    texts.extend(shell_words::split(&text).unwrap_or_default());
    texts.extend(text.split(PATH_ENDING_CHARACTERS).map(str::to_owned));
    texts.extend(text.split(|c: char| c.is_whitespace() || PATH_ENDING_CHARACTERS.contains(&c)).map(str::to_owned));
    let mut paths: Vec<PathBuf> = Vec::new();
    for text in texts.iter().filter(|text| !text.is_empty()).take(MAX_PATHS_PER_TEXT) {
        let at = text.find("file:").and_then(|at| text.get(at..)).and_then(|url| url::Url::parse(url).ok());
        paths.extend(at.and_then(|url| url.to_file_path().ok()));
        paths.extend(std::env::split_paths(text).filter(|path| !path.as_os_str().is_empty()));
        paths.push(PathBuf::from(text));
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Expands references to these variables and to the user's home folder in a text.
fn expand_variables(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    let home = std::env::home_dir().map(|home| home.display().to_string()).unwrap_or_default();
    if text.starts_with("~/") || text.contains(" ~/") {
        text = text.replace("~/", &format!("{home}/"));
    }
    let home = (!variables.contains_key("HOME")).then_some(("HOME", home.as_str()));
    // Longer names first, because `$A` is a prefix of `$AB`.
    let named = variables.iter().rev().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in named.chain(home).filter(|(_, value)| value.len() <= MAX_VARIABLE_EXPANSION_BYTES) {
        if text.contains('$') && text.len() <= MAX_VARIABLE_EXPANSION_BYTES {
            text = expand_variable_with_default(&text, name, Some(value));
            text = text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value);
        }
    }
    while text.len() <= MAX_VARIABLE_EXPANSION_BYTES
        && let Some(name) =
            text.split("${").nth(1).and_then(|rest| rest.split_once(":-")).map(|(name, _)| name.to_owned())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        text = expand_variable_with_default(&text, &name, None);
    }
    text
}

/// Replaces `${NAME:-default}` and its variants with the value, or with the default if the value is absent or empty.
fn expand_variable_with_default(text: &str, name: &str, value: Option<&str>) -> String {
    let mut text = text.to_owned();
    for sign in [":-", ":=", "-", "="] {
        let begin = format!("${{{name}{sign}");
        while text.len() <= MAX_VARIABLE_EXPANSION_BYTES
            && let Some((before, rest)) = text.split_once(&begin)
            && let Some((default, after)) = rest.split_once('}')
        {
            let value = value.filter(|value| !value.is_empty()).unwrap_or(default);
            text = format!("{before}{value}{after}");
        }
    }
    text
}
