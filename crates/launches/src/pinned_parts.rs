//! The command or address of a server as named parts. They are stored when the user approves a start or connection, and
//! the next consent request shows which parts have changed. Used by pins and starts in `host`.

use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat};
use ports::server_config::{AuthConfig, AuthField, HttpConfig, HttpKind, SandboxConfig, StdioConfig};
use process::{LaunchFile, LaunchFileState, LaunchFiles};
use serde_json::{Map, Value, json};

use crate::packages::LoadedPackage;

/// Returns the named parts of a command that are stored when the user approves it. Values of variables are likely to be
/// secrets, so only the variables' names are included. A changed value changes the hash of the approval.
pub fn pinned_command_parts(
    config: &StdioConfig,
    program: &Path,
    files: Option<&LaunchFiles>,
    package: Option<&LoadedPackage>,
) -> Map<String, Value> {
    let mut parts = Map::new();
    parts.insert("command".to_owned(), json!(config.command));
    parts.insert("program".to_owned(), json!(program.to_string_lossy()));
    parts
        .insert("file".to_owned(), json!(files.and_then(|files| files.iter().next()).map(program_path_and_state_text)));
    let scripts: Map<String, Value> =
        files.into_iter().flat_map(|files| files.iter().skip(1)).map(pinned_launch_file_part).collect();
    if !scripts.is_empty() {
        parts.insert("scripts".to_owned(), Value::Object(scripts));
    }
    parts.insert("arguments".to_owned(), json!(config.args));
    parts.insert("variables".to_owned(), json!(config.env.keys().collect::<Vec<_>>()));
    parts.insert("folder".to_owned(), json!(config.cwd.as_ref().map(|folder| folder.to_string_lossy())));
    if let Some(package) = package {
        parts.insert("package".to_owned(), package.to_json());
    }
    parts.insert("sandbox".to_owned(), json!(config.sandbox.as_ref().map(SandboxConfig::to_json)));
    parts
}

/// Returns those of the current `files` that are new or changed since the last approval. `reviewed` contains the named
/// parts of the command that the user approved then.
pub fn changed_launch_files(reviewed: &Map<String, Value>, files: &LaunchFiles) -> Vec<PathBuf> {
    let nothing = Value::Null;
    let (program, scripts) = (reviewed.get("file").unwrap_or(&nothing), reviewed.get("scripts").unwrap_or(&nothing));
    let is_changed = |(at, file): &(usize, &LaunchFile)| {
        if *at == 0 {
            return *program != json!(program_path_and_state_text(file));
        }
        let (path, words) = pinned_launch_file_part(file);
        scripts.get(&path) != Some(&words)
    };
    files.iter().enumerate().filter(is_changed).map(|(_, file)| file.path.clone()).collect()
}

/// Returns a text that identifies the program of a command by its canonical path and the state of its file.
fn program_path_and_state_text(program: &LaunchFile) -> String {
    format!("{}, {}", program.real.display(), launch_file_state_text(program))
}

/// Returns a named part that identifies a launch file other than the program: its path as the name, and its state.
fn pinned_launch_file_part(file: &LaunchFile) -> (String, Value) {
    (file.path.display().to_string(), json!(launch_file_state_text(file)))
}

fn launch_file_state_text(file: &LaunchFile) -> String {
    match &file.state {
        LaunchFileState::Content(hash) => format!("SHA-256 {hash}"),
        LaunchFileState::SizeAndTimes(file) => {
            format!("{} bytes, changed at {}", file.bytes, format_date(file.modified))
        }
    }
}

/// Formats a time in nanoseconds since 1970 according to RFC 3339, with all digits, so that two different times have
/// different texts.
fn format_date(nanoseconds: u128) -> String {
    let at = i64::try_from(nanoseconds).map(DateTime::from_timestamp_nanos);
    at.map_or_else(|_| nanoseconds.to_string(), |at| at.to_rfc3339_opts(SecondsFormat::Nanos, true))
}

/// Returns the named parts of a remote server's address that are stored when the user approves it. Values of headers
/// are not included.
pub fn pinned_address_parts(config: &HttpConfig) -> Map<String, Value> {
    let mut parts = Map::new();
    parts.insert("url".to_owned(), json!(config.redacted_url()));
    parts.insert("headers".to_owned(), json!(config.headers.keys().collect::<Vec<_>>()));
    parts.insert("transport".to_owned(), json!(config.kind.map(HttpKind::name)));
    // The authorization issuer is always present, because pins of older versions contain it.
    parts.insert(AuthField::Issuer.key().to_owned(), Value::Null);
    parts.extend(config.auth.as_ref().map(AuthConfig::settings_by_key).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::format_date;

    #[test]
    fn launch_file_modification_time_is_formatted_as_a_date() {
        assert_eq!(format_date(1_795_332_411_001_586_087), "2026-11-22T07:26:51.001586087Z");
        assert_eq!(
            format_date(u128::MAX),
            u128::MAX.to_string(),
            "a time beyond the calendar must be printed as a number"
        );
    }
}
