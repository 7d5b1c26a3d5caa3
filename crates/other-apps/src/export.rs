//! Exports the user's servers in the formats of other apps. Secrets, in the keychain or in the settings, are replaced
//! by references: to environment variables in most apps, and to inputs in VS Code.

use ports::secrets;
use ports::server_config::{HttpKind, ServerConfig, ServerEntry, ServerTransport};
use serde_json::{Map, Value, json};

use crate::entry::{AUTOSTART_KEY, DISABLED_TOOLS_KEY, ENABLED_TOOLS_KEY};
use crate::found_server::secret_removal::{self, SecretPlace};
use crate::omissions::{ExportOmissions, OmittedSetting};
use crate::secret_detection::is_secret_value;
use crate::server_candidate::ServerCandidate;

/// The JSON format in which servers are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerExportFormat {
    /// An object `mcpServers`, as in the settings of most apps.
    McpServers,
    /// Objects `servers` and `inputs`, as in the settings of VS Code.
    VsCode,
}

impl ServerExportFormat {
    const fn secret_substitute(self) -> SecretSubstitute {
        match self {
            Self::McpServers => SecretSubstitute::Variable,
            Self::VsCode => SecretSubstitute::Input,
        }
    }
}

/// One server in the format of other apps. Contains no secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerExport {
    /// JSON object that contains the server's entry in the chosen format.
    pub document: Value,
    /// Values and settings that the entry omits.
    pub omissions: ExportOmissions,
}

/// Servers in the format of other apps. Contains no secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerListExport {
    /// JSON object that contains the entries of all servers in the chosen format.
    pub document: Value,
    /// Values and settings that the entry of each server omits, in the order of the servers.
    pub omissions: Vec<ExportOmissions>,
}

/// The text that replaces a secret in the exported entry of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretSubstitute {
    /// A reference to an environment variable replaces the secret.
    Variable,
    /// A reference to an input of VS Code replaces the secret.
    Input,
    /// An empty value, which the recipient fills in, replaces the secret.
    Blank,
}

/// Exports the entries of servers as JSON, without secrets.
///
/// # Examples
///
/// Secrets are replaced by references:
///
/// ```
/// use other_apps::{ServerExportFormat, export};
/// use ports::server_config::{ServerEntry, StdioConfig};
/// use serde_json::json;
///
/// let mut config = StdioConfig { command: "notes-server".to_owned(), ..StdioConfig::default() };
/// config.env.insert("LANGUAGE".to_owned(), "en".to_owned());
/// config.env.insert("API_TOKEN".to_owned(), "a1b2c3d4e5f6".to_owned());
/// let servers = [ServerEntry { name: "notes".to_owned(), config: config.into() }];
///
/// let exported = export(&servers, ServerExportFormat::McpServers);
/// let env = json!({ "LANGUAGE": "en", "API_TOKEN": "${NOTES_API_TOKEN}" });
/// assert_eq!(exported.document["mcpServers"]["notes"]["env"], env);
/// assert_eq!(exported.omissions[0].secrets, ["API_TOKEN"]);
///
/// let exported = export(&servers, ServerExportFormat::VsCode).document;
/// assert_eq!(exported["servers"]["notes"]["env"]["API_TOKEN"], "${input:notes-api-token}");
/// assert_eq!(exported["inputs"][0]["password"], true);
/// ```
#[must_use]
pub fn export(servers: &[ServerEntry], form: ServerExportFormat) -> ServerListExport {
    let mut writer = EntryWriter::new(form.secret_substitute());
    let mut entries = Map::new();
    let mut omissions = Vec::new();
    for server in servers {
        entries.insert(server.name.clone(), writer.write_entry(&server.name, &server.config).into());
        omissions.push(writer.take_omissions(server, form));
    }
    let document = match form {
        ServerExportFormat::McpServers => json!({ "mcpServers": entries }),
        ServerExportFormat::VsCode => json!({ "inputs": writer.inputs, "servers": entries }),
    };
    ServerListExport { document, omissions }
}

/// Exports the entry of one server as JSON, without secrets, and returns what the entry omits.
#[must_use]
pub fn export_server(server: &ServerEntry, form: ServerExportFormat) -> ServerExport {
    let ServerListExport { document, omissions } = export(std::slice::from_ref(server), form);
    ServerExport { document, omissions: omissions.into_iter().next().unwrap_or_default() }
}

/// Converts servers to entries in the format of other apps, and collects the secrets that the entries omit.
pub(crate) struct EntryWriter {
    substitute: SecretSubstitute,
    /// Definitions of the VS Code inputs by which the secrets of all written entries are replaced.
    pub(crate) inputs: Vec<Value>,
    /// Names of the variables and headers from whose values a secret was omitted.
    pub(crate) secrets: Vec<String>,
    /// Parts of the configuration, other than variables and headers, from which a secret was omitted.
    pub(crate) removed: Vec<SecretPlace>,
}

impl EntryWriter {
    pub(crate) const fn new(substitute: SecretSubstitute) -> Self {
        Self { substitute, inputs: Vec::new(), secrets: Vec::new(), removed: Vec::new() }
    }

    /// Returns the entry of a server in the format of other apps, without secrets.
    pub(crate) fn write_entry(&mut self, name: &str, config: &ServerConfig) -> Map<String, Value> {
        let mut entry = Map::new();
        match &config.transport {
            ServerTransport::Stdio(stdio) => {
                let mut candidate = ServerCandidate { config: stdio.clone(), ..ServerCandidate::default() };
                self.removed.extend(secret_removal::remove_secrets(&mut candidate));
                let stdio = candidate.config;
                if self.substitute == SecretSubstitute::Input {
                    entry.insert("type".to_owned(), "stdio".into());
                }
                entry.insert("command".to_owned(), stdio.command.into());
                entry.insert("args".to_owned(), json!(stdio.args));
                self.write_values(&mut entry, "env", name, &stdio.env);
                if let Some(cwd) = &stdio.cwd {
                    entry.insert("cwd".to_owned(), cwd.display().to_string().into());
                }
            }
            ServerTransport::Http(http) => {
                let mut candidate = ServerCandidate { remote: Some(http.clone()), ..ServerCandidate::default() };
                self.removed.extend(secret_removal::remove_secrets(&mut candidate));
                let url = candidate.remote.map(|remote| remote.url).unwrap_or_default();
                entry.insert("type".to_owned(), http.kind.unwrap_or(HttpKind::Http).name().into());
                entry.insert("url".to_owned(), url.into());
                self.write_values(&mut entry, "headers", name, &http.headers);
            }
        }
        // Neither VS Code nor install links support lists of tools, and neither starts servers with Drawbridge.
        if self.substitute == SecretSubstitute::Variable {
            if let Some(enabled) = &config.tools.enabled {
                entry.insert(ENABLED_TOOLS_KEY.to_owned(), json!(enabled));
            }
            if !config.tools.disabled.is_empty() {
                entry.insert(DISABLED_TOOLS_KEY.to_owned(), json!(config.tools.disabled));
            }
            if !config.autostart {
                entry.insert(AUTOSTART_KEY.to_owned(), false.into());
            }
        }
        entry
    }

    /// Returns what the last written entry omits, and clears the lists of omitted secrets for the next entry.
    fn take_omissions(&mut self, server: &ServerEntry, form: ServerExportFormat) -> ExportOmissions {
        let mut settings = OmittedSetting::omitted_in_every_export(&server.config);
        let omits_tools = form == ServerExportFormat::VsCode && !server.config.tools.admits_all_tools();
        settings.extend(omits_tools.then_some(OmittedSetting::Tools));
        let (secrets, removed) = (std::mem::take(&mut self.secrets), std::mem::take(&mut self.removed));
        ExportOmissions { secrets, removed, settings, ..ExportOmissions::default() }
    }

    fn write_values(
        &mut self,
        entry: &mut Map<String, Value>,
        key: &str,
        server: &str,
        values: &std::collections::BTreeMap<String, String>,
    ) {
        if values.is_empty() {
            return;
        }
        let written: Map<String, Value> = values
            .iter()
            .map(|(name, value)| (name.clone(), self.exported_value(server, name, value).into()))
            .collect();
        entry.insert(key.to_owned(), written.into());
    }

    fn exported_value(&mut self, server: &str, name: &str, value: &str) -> String {
        let names = secrets::referenced_secret_names(value);
        if names.is_empty() {
            return if is_secret_value(name, value) { self.secret_replacement(server, name) } else { value.to_owned() };
        }
        if matches!(names[..], [only] if secrets::secret_reference(only) == value) {
            return self.secret_replacement(server, name);
        }
        let mut written = value.to_owned();
        for secret in names {
            let reference = self.add_secret_reference(server, name);
            written = written.replace(&secrets::secret_reference(secret), &reference);
        }
        // The remaining text may also contain a secret.
        if crate::secret_detection::has_secret(&written) { self.secret_replacement(server, name) } else { written }
    }

    /// Records that the secret value of the variable or header `name` is omitted, and returns the text that replaces
    /// it.
    fn secret_replacement(&mut self, server: &str, name: &str) -> String {
        let reference = self.add_secret_reference(server, name);
        if self.substitute == SecretSubstitute::Blank { String::new() } else { reference }
    }

    fn add_secret_reference(&mut self, server: &str, name: &str) -> String {
        let plain = |text: &str, sign: char| -> String {
            text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { sign }).collect()
        };
        if !self.secrets.iter().any(|known| known == name) {
            self.secrets.push(name.to_owned());
        }
        match self.substitute {
            SecretSubstitute::Blank => format!("<{name}>"),
            SecretSubstitute::Variable => {
                format!("${{{}}}", plain(&format!("{server}_{name}"), '_').to_ascii_uppercase())
            }
            SecretSubstitute::Input => {
                let id = plain(&format!("{server}-{name}"), '-').to_lowercase();
                if !self.inputs.iter().any(|input| input["id"] == id.as_str()) {
                    let description = format!("{name} of {server}");
                    self.inputs.push(
                        json!({ "type": "promptString", "id": id, "description": description, "password": true }),
                    );
                }
                format!("${{input:{id}}}")
            }
        }
    }
}
