//! Reads settings files of other apps within limits. Symbolic links that lead out of the home folder are not followed.
//! This is the only module of this crate that reads files and folders, and it writes nothing.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ports::server_config::ConfigProblem;
use secrecy::SecretString;

use crate::app_environment::AppEnvironment;
use crate::apps::{SettingsPath, matches_pattern};
use crate::json_text::JsonText;
use crate::secret_detection::has_secret;

/// Maximum size of a settings file, in bytes.
pub(crate) const MAX_SETTINGS_FILE_BYTES: u64 = 1 << 20;
/// Maximum size of Claude Code's state file, in bytes. That file also contains the history of conversations.
pub(crate) const MAX_CLAUDE_STATE_FILE_BYTES: u64 = 64 << 20;
/// Maximum length, in bytes, of a variable name that is read from an environment file.
const MAX_VARIABLE_NAME_BYTES: usize = 60;
/// Maximum number of variables that are read from one environment file.
const MAX_ENV_FILE_VARIABLES: usize = 200;
/// Signs that can surround a value in an environment file.
const QUOTES: [char; 3] = ['"', '\'', '`'];
/// Maximum number of files that may match one pattern.
const MAX_MATCHING_FILES: usize = 200;

/// Returns the existing files that match a path of an app's settings.
pub(crate) fn existing_settings_files(place: &SettingsPath, environment: &AppEnvironment) -> Vec<PathBuf> {
    place.base_folder(environment).map(|folder| matching_files(&folder, place.path)).unwrap_or_default()
}

/// Returns the existing files in `folder` whose relative paths match a pattern such as `profiles/*/mcp.json`.
pub(crate) fn matching_files(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_owned()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        paths = paths.into_iter().flat_map(|path| matching_children(path, part)).take(MAX_MATCHING_FILES).collect();
    }
    // A broken link is retained, so that the problem is reported when it is read.
    paths.retain(|path| path.symlink_metadata().is_ok());
    paths
}

fn matching_children(path: PathBuf, part: &str) -> Vec<PathBuf> {
    if !part.starts_with('*') {
        return vec![path.join(part)];
    }
    let entries = fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok);
    let names = entries.take(MAX_MATCHING_FILES * 10).map(|entry| entry.file_name());
    let mut found: Vec<PathBuf> = names
        .filter(|name| name.to_str().is_some_and(|name| !name.starts_with('.') && matches_pattern(name, part)))
        .map(|name| path.join(name))
        .collect();
    found.sort();
    found
}

/// Paths, relative to a project folder, of the settings files that define only servers. The page tells the user if the
/// folder contains such files.
pub(crate) const PROJECT_SETTINGS_FILES: [&str; 3] = [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"];

/// Returns the relative paths of the settings files that exist in a project folder. The files are not read.
#[must_use]
pub fn project_files(folder: &Path) -> Vec<&'static str> {
    PROJECT_SETTINGS_FILES.into_iter().filter(|file| !matching_files(folder, file).is_empty()).collect()
}

/// Returns the folders in which settings files may be, after symbolic links are resolved: the home folder, and the
/// folders that environment variables specify.
pub(crate) fn allowed_roots(environment: &AppEnvironment) -> Vec<PathBuf> {
    let folders = std::iter::once(&environment.home).chain(environment.variables.values());
    folders.filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// Reads a settings file, or returns `None` if it doesn't exist. If `roots` is given, the file must be in one of these
/// folders, after symbolic links are resolved.
///
/// # Errors
///
/// Returns [`ConfigProblem`] if the file is outside of `roots`, not a regular file, too large, or not UTF-8.
pub(crate) fn read_file(path: &Path, limit: u64, roots: Option<&[PathBuf]>) -> Result<Option<String>, ConfigProblem> {
    let failed = |error: std::io::Error| file_problem(path, format!("it can't be read: {error}"));
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if roots.is_some_and(|roots| !roots.iter().any(|root| real.starts_with(root))) {
        return Err(file_problem(path, "it is a link that leads out of the home folder, which is not followed"));
    }
    let file = process::open_resolved_file(&real).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(file_problem(path, "it is no file"));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(file_problem(path, format!("it is longer than {} MB", limit >> 20)));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(file_problem(path, "it is in UTF-16; expected UTF-8"));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let shown = path.display().to_string();
        let text = JsonText { file: Some(&shown), ..JsonText::without_file(&text) };
        text.problem(text.text.len(), "a byte that is not UTF-8")
    })
}

/// Creates a [`ConfigProblem`] about a whole settings file, without line and column.
pub(crate) fn file_problem(path: &Path, message: impl Into<String>) -> ConfigProblem {
    ConfigProblem { file: Some(path.display().to_string()), line: None, column: None, message: message.into() }
}

/// A variable in an environment file (`.env`).
#[derive(Debug)]
pub(crate) struct EnvFileVariable {
    pub(crate) name: String,
    /// The value, or `None` if it is empty, or if programs differ in how they read it.
    pub(crate) value: Option<SecretString>,
}

/// Returns the variables in the lines `NAME=value` of an environment file. Lines within a quoted value are skipped,
/// since they are no variables for programs that read such values.
pub(crate) fn env_file_variables(text: &str) -> Vec<EnvFileVariable> {
    let mut open_quote = None;
    let variables = text.lines().filter_map(|line| {
        if let Some(quote) = open_quote {
            open_quote = closing_quote(line, quote).is_none().then_some(quote);
            return None;
        }
        let line = line.trim_start();
        let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        if !line.starts_with('#') {
            open_quote = opening_quote(value).filter(|quote| closing_quote(&value[1..], *quote).is_none());
        }
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        // In files of other formats, the text before the sign may be a secret.
        let is_name = is_name && name.len() <= MAX_VARIABLE_NAME_BYTES && !has_secret(name);
        is_name.then(|| EnvFileVariable { name: name.to_owned(), value: env_file_value(value).map(Into::into) })
    });
    variables.take(MAX_ENV_FILE_VARIABLES).collect()
}

/// Returns the quote with which a value begins.
fn opening_quote(value: &str) -> Option<char> {
    value.chars().next().filter(|c| QUOTES.contains(c))
}

/// Returns the position of the quote that ends a quoted value. A quote after a backslash is not the end, since some
/// programs read it as part of the value.
fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let is_end = *c == quote && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map(|(at, _)| at)
}

/// Returns the value that a text after the equals sign stands for. Returns `None` if it is empty, or if programs differ
/// in how they read it: because of escapes, references to other variables, quotes that end on another line, or quotes
/// within a value that does not begin with one.
fn env_file_value(text: &str) -> Option<&str> {
    let quote = opening_quote(text);
    let (value, rest) = match quote {
        Some(quote) => {
            let end = closing_quote(&text[1..], quote)? + 1;
            (&text[1..end], &text[end + 1..])
        }
        None => text.find('#').map_or((text, ""), |at| text.split_at(at)),
    };
    let is_comment = rest.trim_start().is_empty() || rest.trim_start().starts_with('#');
    let is_literal = match quote {
        Some('\'') => !value.contains('\''),
        Some(_) => !value.contains(['\\', '$']),
        // Some programs read a "#" without a space before it as part of the value.
        None => {
            !value.contains('$') && !value.contains(QUOTES) && (rest.is_empty() || value.ends_with(char::is_whitespace))
        }
    };
    let value = if quote.is_some() { value } else { value.trim_end() };
    (is_comment && is_literal && !value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn value_is_read_only_if_all_programs_agree_on_it() {
        let cases: &[(&str, Option<&str>)] = &[
            ("A=one", Some("one")),
            ("export A = one two  # comment", Some("one two")),
            ("A=\"one # two\" # comment", Some("one # two")),
            ("A='$one\\n'", Some("$one\\n")),
            ("A=`one`", Some("one")),
            ("A=C:\\one", Some("C:\\one")),
            ("A=one=two", Some("one=two")),
            ("A=", None),
            ("A=''", None),
            ("A=# comment", None),
            ("A=one#two", None),
            ("A=${B}", None),
            ("A=\"$B\"", None),
            ("A=\"one\\n\"", None),
            ("A=\"one", None),
            ("A='one' two", None),
            ("A='one\\'", None),
            ("A='one\\'two'", None),
            ("A=one\"", None),
            ("A=it's", None),
            ("A=one`", None),
            ("A=\"one\nB=two\"", None),
            ("A='one\nB=two\n'", None),
            ("A=`one\nB=two", None),
            ("A=\"one\\\"\nB=two\"", None),
            ("B-1=\"one\nB=two\"\nA=three", Some("three")),
            ("# B=\"one\nA=two", Some("two")),
        ];
        for (line, expected) in cases {
            let found = env_file_variables(line);
            let values: Vec<Option<&str>> =
                found.iter().map(|found| found.value.as_ref().map(SecretString::expose_secret)).collect();
            assert_eq!(values, [*expected], "{line}");
            assert_eq!(found[0].name, "A", "{line}");
        }
    }
}
