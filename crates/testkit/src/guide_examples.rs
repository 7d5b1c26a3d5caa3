//! Commands in the `console` blocks of the user guide. Tests of `cli` use them to check that the guide shows valid
//! commands.

use std::fs;
use std::path::Path;

/// Command line that the user guide shows as an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuideExample {
    /// File and line of the command, for assertion messages.
    pub location: String,
    /// Words of the command as a shell splits them, starting with the program name. Redirections are not included.
    pub words: Vec<String>,
}

/// Returns all commands of the guide in a language, `en` or `zh`, in the order of file names and lines.
///
/// # Panics
/// Panics if the guide can't be read or has no commands.
#[must_use]
pub fn guide_examples(language: &str) -> Vec<GuideExample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/guide").join(language);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("the guide can't be listed: {error}"))
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    let mut examples = Vec::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name} can't be read: {error}"));
        let mut is_in_block = false;
        for (number, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                is_in_block = line == "```console";
            } else if is_in_block && !line.is_empty() {
                examples.push(GuideExample {
                    location: format!("{name}:{}", number + 1),
                    words: split_command_words(line),
                });
            }
        }
    }
    assert!(!examples.is_empty(), "the guide has commands");
    examples
}

/// Splits a command line as a shell does. An input redirection and all text after it are removed.
fn split_command_words(line: &str) -> Vec<String> {
    let words = shell_words::split(line).unwrap_or_else(|error| panic!("{line:?} is no command: {error}"));
    words.into_iter().take_while(|word| word != "<").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_words_resolve_quotes_and_redirections() {
        let words = split_command_words(r#"drawbridge-cli call demo add --args '{"a": 2}' "" < key.pem"#);
        assert_eq!(words, ["drawbridge-cli", "call", "demo", "add", "--args", r#"{"a": 2}"#, ""]);
    }
}
