//! A server in the settings of another app, as it would be imported: with separated secrets, the kind of each value,
//! and notes for the user.

mod new_server;
pub(crate) mod secret_removal;
pub(crate) mod value_separation;
mod value_source;

use std::collections::BTreeMap;

use policy::Hash;
use ports::secrets;
use ports::server_config::{
    HttpConfig, ImportNote, ImportNoteKind, ImportPlace, ServerConfig, ServerTransport, ToolFilter, config_hash,
};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::app_environment::AppEnvironment;
use crate::apps::SourceApp;
use crate::files::EnvFileVariable;
use crate::notes::{ImportNotes, ImportPlaceholder, printable_note, printable_text};
use crate::secret_detection::has_secret;
use crate::server_candidate::ServerCandidate;
use crate::variables::ReferenceSyntax;
use crate::{bridged_servers, notes, server_names};
pub use value_source::{EnvironmentText, TakenValues, ValueSource};

/// Maximum number of notes about one server.
pub(crate) const MAX_SERVER_NOTES: usize = 40;

/// The other app and settings file in which a server was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ImportOrigin {
    /// Identifier of the other app, or `file` if the app is unknown.
    pub app: String,
    /// Path of the settings file.
    pub file: String,
    /// Name of the server in the settings file.
    pub name: String,
}

/// Kind of the value of a variable or header, which determines how an import stores the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ImportedValueKind {
    /// Text without a secret, which may be stored in the settings file.
    Literal,
    /// Text that looks like a secret, which an import stores in the keychain.
    Secret,
    /// Text with a reference such as `${env:NAME}`, which the other app would replace when it starts the server.
    Reference,
}

impl ImportedValueKind {
    /// Returns the name of the kind in JSON.
    #[must_use]
    pub const fn json_name(self) -> &'static str {
        match self {
            Self::Literal => "literal",
            Self::Secret => "secret",
            Self::Reference => "reference",
        }
    }
}

/// Result of comparing a found server with the configured servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ImportStatus {
    /// No configured server has the same settings as the found one.
    New,
    /// A configured server has the same settings as the found one.
    Same,
    /// A configured server with different settings has the same name, so the found server is renamed.
    Conflict,
    /// The found server can't be imported. Its notes contain the reason.
    Unsupported,
}

impl ImportStatus {
    /// Returns the name of the status in JSON.
    #[must_use]
    pub const fn json_name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Same => "same",
            Self::Conflict => "conflict",
            Self::Unsupported => "unsupported",
        }
    }
}

/// A value of a variable or header that contains a secret which the user has to enter. The whole value consists of
/// `before`, the secret, and `after`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingSecret {
    /// Text before the secret in the value, such as `Bearer `.
    pub before: String,
    /// Text in the value after the secret.
    pub after: String,
}

/// A server that a scan of other apps' settings found.
#[derive(Debug, Clone)]
pub struct FoundServer {
    /// Suggested name, which is valid and differs from those of all other found and configured servers.
    pub name: String,
    /// All files in which the server was found. The configuration was read from the first one.
    pub origins: Vec<ImportOrigin>,
    /// Configuration of the server, from which all variables and headers with a secret value were removed.
    pub config: ServerConfig,
    /// Kinds of the values of the server's environment variables, by name.
    pub env: BTreeMap<String, ImportedValueKind>,
    /// Kinds of the values of the server's HTTP headers, by name.
    pub headers: BTreeMap<String, ImportedValueKind>,
    /// Secret values of the server's variables or headers, by name.
    pub secrets: BTreeMap<String, SecretString>,
    /// Variables and headers with a secret that the user has to enter, by name.
    pub pending: BTreeMap<String, PendingSecret>,
    /// Sources of the values that the other app's settings only refer to, by the name of the variable or header. An
    /// import uses them only if the user chooses so, with [`take_values`](Self::take_values).
    pub sources: BTreeMap<String, ValueSource>,
    /// OAuth client secret of the server, if the other app's settings contain one.
    pub client_secret: Option<SecretString>,
    /// Texts in the command, the URL or the sign-in settings that the user has to replace. The server does not work
    /// until they are replaced.
    pub placeholders: Vec<ImportPlaceholder>,
    /// Set if the configuration refers to the folder that is open in the other app, and the user has not chosen one. It
    /// is [`AppEnvironment::workspace`].
    pub needs_workspace: bool,
    /// Set if the server is disabled in the other app.
    pub off: bool,
    /// Result of comparing the found server with the configured servers.
    pub status: ImportStatus,
    /// Notes for the user, such as settings that were not imported.
    pub notes: Vec<ImportNote>,
}

/// Maximum length, in bytes, of a text that [`is_tool_name`] accepts.
const MAX_TOOL_NAME_BYTES: usize = 64;

/// The settings file that contains a server's entry, and the app that the file belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntrySource<'s> {
    pub(crate) app: Option<&'s SourceApp>,
    pub(crate) id: &'static str,
    pub(crate) file: &'s str,
    /// Folder of the project that the file belongs to, or `None` if the file contains settings of the user.
    pub(crate) project: Option<&'s str>,
}

/// Converts a parsed entry to a found server. `env_file_variables` returns the variables in an environment file, or
/// `None` if that file was not read.
pub(crate) fn to_found_server(
    mut candidate: ServerCandidate,
    source: EntrySource<'_>,
    environment: &AppEnvironment,
    env_file_variables: &dyn Fn(&str) -> Option<Vec<EnvFileVariable>>,
) -> FoundServer {
    let mut syntax = source.app.map_or(ReferenceSyntax::Any, |app| app.syntax);
    let needs_workspace =
        value_separation::resolve_known_references(&mut candidate, syntax, environment, source.project);
    if candidate.remote.is_none() && !candidate.has_unsupported_transport {
        if bridged_servers::remove_cmd_wrapper(&mut candidate.config, environment.runs_on) {
            let note = "it was written for Windows: the part that only Windows requires was removed from its command";
            candidate.notes.add(ImportNoteKind::Windows, note);
        }
        if let Some(bridged) = bridged_servers::parse_bridge(&candidate.config) {
            candidate.notes.extend(bridged.notes);
            candidate.tools.disabled.extend(bridged.ignored_tools);
            candidate.remote = Some(bridged.remote);
            // A bridge such as `mcp-remote` replaces `${NAME}` itself, even if the app doesn't.
            if !matches!(syntax, ReferenceSyntax::Dollar | ReferenceSyntax::Shell) {
                syntax = ReferenceSyntax::Any;
            }
        }
    }
    let valid_name = match &candidate.name {
        // A name is stored in a file, so it must not contain a secret.
        Some(name) if !has_secret(name) => server_names::to_valid_server_name(name),
        _ => match &candidate.remote {
            Some(remote) => server_names::name_from_url(&remote.url),
            None => server_names::name_from_command(&candidate.config),
        },
    };
    let name = candidate.name.clone().unwrap_or_else(|| valid_name.clone());
    let lost_denial = remove_secret_tools(&mut candidate);
    let file_sources = value_separation::add_env_file_variables(&mut candidate, env_file_variables);
    // Validated before the secrets are removed, since a secret may be the cause of a problem.
    let has_client_secret = |remote: &HttpConfig| remote.auth.as_ref().is_some_and(|auth| auth.client_secret.is_some());
    let before = import_problem(candidate.config(), candidate.remote.as_ref().is_some_and(has_client_secret));
    let separated = value_separation::separate_secrets(&mut candidate, syntax, file_sources);
    let removed = secret_removal::remove_secrets(&mut candidate);
    if let Some(text) = secret_removal::secret_removal_text(&removed) {
        candidate.notes.add(ImportNoteKind::SecretRemoved, text);
    }
    let config = candidate.config();
    let problem = before.or_else(|| import_problem(config.clone(), separated.client_secret.is_some())).or(lost_denial);
    let problem = problem.filter(|_| !candidate.has_unsupported_transport);
    let mut placeholders = Vec::new();
    if !candidate.has_unsupported_transport {
        candidate.notes.extend(notes::plain_password_notes(&config, &candidate.extras));
        candidate.notes.extend(notes::placeholder_notes(&config));
        placeholders = notes::required_replacements(&config);
        if separated.lacks_client_secret {
            placeholders.push(ImportPlaceholder { place: ImportPlace::ClientSecret, text: String::new() });
        }
    }
    let is_unsupported = candidate.has_unsupported_transport || problem.is_some();
    candidate.notes.extend(problem.map(|problem| ImportNote::new(ImportNoteKind::Reason, problem)));
    if candidate.extras.disabled {
        candidate.notes.add(ImportNoteKind::Off, "it is turned off there");
    }
    note_tool_lists(&candidate.tools, &mut candidate.notes);
    FoundServer {
        name: valid_name,
        origins: vec![ImportOrigin {
            app: source.id.to_owned(),
            file: source.file.to_owned(),
            name: printable_origin_name(&name),
        }],
        config,
        env: separated.env,
        headers: separated.headers,
        secrets: separated.secrets,
        pending: separated.pending,
        sources: separated.sources,
        client_secret: separated.client_secret,
        placeholders,
        needs_workspace,
        off: candidate.extras.disabled,
        status: if is_unsupported { ImportStatus::Unsupported } else { ImportStatus::New },
        notes: candidate.notes.printable().take(MAX_SERVER_NOTES).collect(),
    }
}

/// Returns `true` if a text consists only of letters and the separators of tool names, as in `getIssueByKey`, so that
/// it is not taken for an API key despite its capital letters.
fn is_tool_name(text: &str) -> bool {
    text.len() <= MAX_TOOL_NAME_BYTES
        && text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.' | b'*'))
}

/// Returns the server's name as written in its settings file, with invisible characters escaped, or the word "server"
/// if the name contains a secret.
fn printable_origin_name(name: &str) -> String {
    if has_secret(name) { String::from("server") } else { printable_text(name) }
}

/// Returns the reason why a server can't be imported, or `None` if it can. `has_client_secret` is set if the import
/// will store a client secret in the keychain.
fn import_problem(mut config: ServerConfig, has_client_secret: bool) -> Option<String> {
    if let ServerTransport::Http(HttpConfig { auth: Some(auth), .. }) = &mut config.transport {
        auth.client_secret = has_client_secret.then(|| secrets::secret_reference("client-secret"));
    }
    config.problem()
}

/// Creates a found server for an entry that can't be parsed, and that therefore can't be imported. Its note contains
/// the reason.
pub(crate) fn unparsable_server(
    name: Option<String>,
    problem: &ports::server_config::ConfigProblem,
    source: EntrySource<'_>,
) -> FoundServer {
    let place = [("line", problem.line), ("column", problem.column)];
    let place: String = place.iter().filter_map(|(word, at)| Some(format!("{word} {}: ", (*at)?))).collect();
    // The message contains the name of the entry, and may contain one of its keys, so both are checked for secrets.
    let message = match &name {
        Some(name) if has_secret(name) => problem.message.replace(&notes::quoted_text(name), "\"server\""),
        _ => problem.message.clone(),
    };
    let message = if has_secret(&message) { "it can't be read; the reason has a secret in it" } else { &message };
    let name = name.filter(|name| !has_secret(name)).unwrap_or_else(|| String::from("server"));
    FoundServer {
        name: server_names::to_valid_server_name(&name),
        origins: vec![ImportOrigin {
            app: source.id.to_owned(),
            file: source.file.to_owned(),
            name: printable_origin_name(&name),
        }],
        config: ServerConfig::default(),
        env: BTreeMap::new(),
        headers: BTreeMap::new(),
        secrets: BTreeMap::new(),
        pending: BTreeMap::new(),
        sources: BTreeMap::new(),
        client_secret: None,
        placeholders: Vec::new(),
        needs_workspace: false,
        off: false,
        status: ImportStatus::Unsupported,
        notes: vec![printable_note(&ImportNote::new(ImportNoteKind::Reason, format!("{place}{message}")))],
    }
}

/// Removes tool names that look like secrets from the allow and deny lists, since these lists are stored in a file. If
/// a denied tool has such a name, returns the reason why the server can't be imported: without the name, models would
/// be offered the tool.
pub(crate) fn remove_secret_tools(candidate: &mut ServerCandidate) -> Option<String> {
    let is_plain = |tool: &String| !has_secret(tool) || is_tool_name(tool);
    let tools = &mut candidate.tools;
    let count = |tools: &ToolFilter| tools.disabled.len() + tools.enabled.as_ref().map_or(0, Vec::len);
    let (before, disabled_before) = (count(tools), tools.disabled.len());
    tools.disabled.retain(is_plain);
    if let Some(enabled) = &mut tools.enabled {
        enabled.retain(is_plain);
    }
    let loses_denial = tools.disabled.len() < disabled_before;
    if count(tools) < before {
        let note = "a tool was omitted from its lists, as its name looks like a secret: add it yourself";
        candidate.notes.add(ImportNoteKind::SecretTool, note);
    }
    loses_denial.then(|| String::from("a tool that it turns off has a name that looks like a secret"))
}

/// Adds notes about the allow list and the deny list of the server's tools, which an import copies from the other app.
pub(crate) fn note_tool_lists(tools: &ToolFilter, notes: &mut ImportNotes) {
    let list =
        |tools: &[String]| tools.iter().take(10).map(|tool| notes::quoted_text(tool)).collect::<Vec<_>>().join(", ");
    if !tools.disabled.is_empty() {
        let note = format!("models are not offered these tools, as in its app: {}", list(&tools.disabled));
        notes.push(ImportNote::new(ImportNoteKind::DeniedTools, note).with_names(&tools.disabled));
    }
    match tools.enabled.as_deref() {
        None => {}
        Some([]) => notes.add(ImportNoteKind::ExposedTools, "models are offered no tools, as in its app"),
        Some(enabled) => {
            let note = format!("models are offered only these tools, as in its app: {}", list(enabled));
            notes.push(ImportNote::new(ImportNoteKind::ExposedTools, note).with_names(enabled));
        }
    }
}

impl FoundServer {
    /// Returns a hash of all data that an import of this server would store, of the places from which it can take
    /// values, and of the files in which the server was found. The values of secrets are excluded.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let origins: Vec<[&str; 3]> = self
            .origins
            .iter()
            .map(|origin| [origin.app.as_str(), origin.file.as_str(), origin.name.as_str()])
            .collect();
        let around: Vec<[&str; 3]> =
            self.pending.iter().map(|(name, pending)| [name, pending.before.as_str(), &pending.after]).collect();
        let names: Vec<&String> = self.secrets.keys().collect();
        let sources: Vec<Value> =
            self.sources.iter().map(|(name, source)| json!([name, source.description()])).collect();
        let what = json!({
            "name": self.name,
            "origins": origins,
            "config": config_hash(&self.config).as_str(),
            "secrets": names,
            "pending": around,
            "sources": sources,
            "client": self.client_secret.is_some(),
            "tools": self.config.tools,
            "autostart": self.config.autostart,
        });
        Hash::of_json(&what).as_str().to_owned()
    }

    /// Returns `true` if the user has to enter the value of this variable or header, because the value is a secret that
    /// the import does not have, or a placeholder.
    #[must_use]
    pub fn needs_value(&self, name: &str) -> bool {
        self.pending.contains_key(name)
            || self.config.environment_or_headers().get(name).is_some_and(|value| notes::is_placeholder(value))
    }

    /// Returns the name of the transport in JSON: `stdio`, `http` or `sse`.
    #[must_use]
    pub fn transport(&self) -> &'static str {
        match &self.config.transport {
            ServerTransport::Stdio(_) => "stdio",
            ServerTransport::Http(http) => http.kind.map_or("http", |kind| kind.name()),
        }
    }
}
