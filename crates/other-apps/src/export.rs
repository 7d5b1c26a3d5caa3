//! The user's servers in the forms of other apps. Secrets are references there, whether they lie in the keychain or in the settings: variables of the
//! environment in most apps, inputs in VS Code.

use ports::secrets;
use ports::server_config::{HttpKind, ServerConfig, ServerEntry, ServerTransport};
use serde_json::{Map, Value, json};

use crate::candidate::Candidate;
use crate::found::clean;
use crate::secret_like::is_secret_value;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportForm {
    /// `mcpServers`, as most apps have it.
    McpServers,
    /// `servers` and `inputs`, as VS Code has them.
    VsCode,
}

/// Writes servers in a form.
#[must_use]
pub fn export(servers: &[ServerEntry], form: ExportForm) -> Value {
    let mut writer = Writer { form, inputs: Vec::new() };
    let entries: Map<String, Value> =
        servers.iter().map(|entry| (entry.name.clone(), writer.entry(&entry.name, &entry.config))).collect();
    match form {
        ExportForm::McpServers => json!({ "mcpServers": entries }),
        ExportForm::VsCode => json!({ "inputs": writer.inputs, "servers": entries }),
    }
}

struct Writer {
    form: ExportForm,
    inputs: Vec<Value>,
}

impl Writer {
    fn entry(&mut self, name: &str, config: &ServerConfig) -> Value {
        let mut entry = Map::new();
        match &config.transport {
            ServerTransport::Stdio(stdio) => {
                let mut candidate = Candidate { config: stdio.clone(), ..Candidate::default() };
                clean::clean(&mut candidate);
                let stdio = candidate.config;
                if self.form == ExportForm::VsCode {
                    entry.insert("type".to_owned(), "stdio".into());
                }
                entry.insert("command".to_owned(), stdio.command.into());
                entry.insert("args".to_owned(), json!(stdio.args));
                self.values(&mut entry, "env", name, &stdio.env);
                if let Some(cwd) = &stdio.cwd {
                    entry.insert("cwd".to_owned(), cwd.display().to_string().into());
                }
            }
            ServerTransport::Http(http) => {
                let mut candidate = Candidate { remote: Some(http.clone()), ..Candidate::default() };
                clean::clean(&mut candidate);
                let url = candidate.remote.map(|remote| remote.url).unwrap_or_default();
                entry.insert("type".to_owned(), http.kind.unwrap_or(HttpKind::Http).name().into());
                entry.insert("url".to_owned(), url.into());
                self.values(&mut entry, "headers", name, &http.headers);
            }
        }
        Value::Object(entry)
    }

    fn values(
        &mut self,
        entry: &mut Map<String, Value>,
        key: &str,
        server: &str,
        values: &std::collections::BTreeMap<String, String>,
    ) {
        if values.is_empty() {
            return;
        }
        let written: Map<String, Value> =
            values.iter().map(|(name, value)| (name.clone(), self.value(server, name, value).into())).collect();
        entry.insert(key.to_owned(), written.into());
    }

    fn value(&mut self, server: &str, name: &str, value: &str) -> String {
        let kept = secrets::names(value);
        if kept.is_empty() {
            return if is_secret_value(name, value) { self.reference(server, name) } else { value.to_owned() };
        }
        let mut written = value.to_owned();
        for secret in kept {
            let reference = self.reference(server, name);
            written = written.replace(&secrets::reference(secret), &reference);
        }
        // What stands beside a secret may be one itself.
        if crate::secret_like::has_secret(&written) { self.reference(server, name) } else { written }
    }

    fn reference(&mut self, server: &str, name: &str) -> String {
        let plain = |text: &str, sign: char| -> String {
            text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { sign }).collect()
        };
        match self.form {
            ExportForm::McpServers => format!("${{{}}}", plain(&format!("{server}_{name}"), '_').to_ascii_uppercase()),
            ExportForm::VsCode => {
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
