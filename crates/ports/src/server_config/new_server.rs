//! A server to be added, with its secrets. Created by `other-apps` and `installs`, and added by `host::ServerSetup`.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret as _, SecretString};

use super::{ServerEntry, ServerTransport};
use crate::secrets;

/// Suffix of the name under which a client secret is stored. The name of a header's secret ends with the header.
const CLIENT_SECRET_SUFFIX: &str = "client_secret";

/// A part of the value of a variable or header.
#[derive(Debug, Clone)]
pub enum ValuePart {
    /// Text that is stored in the settings file.
    Text(String),
    /// A secret for the keychain, or `None` if the user still has to enter it: the settings refer to it, but the
    /// keychain doesn't contain it.
    Secret(Option<SecretString>),
}

/// A server that the user is about to add.
#[derive(Debug, Clone)]
pub struct NewServer {
    /// Name and configuration of the server, without `secret_values` and `client_secret`.
    pub entry: ServerEntry,
    /// Variables (of a local server) or headers (of a remote one) that contain secrets. They replace those of the same
    /// name in `entry`.
    pub secret_values: BTreeMap<String, Vec<ValuePart>>,
    /// Client secret for signing in to a remote server.
    pub client_secret: Option<SecretString>,
}

impl From<ServerEntry> for NewServer {
    fn from(entry: ServerEntry) -> Self {
        Self { entry, secret_values: BTreeMap::new(), client_secret: None }
    }
}

impl NewServer {
    /// Splits the server into settings, which refer to each secret by a name that is not `taken`, and the secrets for
    /// the keychain as pairs of key and value.
    #[must_use]
    pub fn into_settings(self, mut taken: Vec<String>) -> (ServerEntry, Vec<(String, String)>) {
        let Self { mut entry, secret_values, client_secret } = self;
        let mut secrets = Vec::new();
        let mut name_secret = |what: &str, value: Option<SecretString>, taken: &mut Vec<String>| {
            let name = secrets::unused_secret_name(&entry.name, what, taken);
            taken.push(name.clone());
            secrets.extend(value.map(|value| (name.clone(), value)));
            secrets::secret_reference(&name)
        };
        taken.extend(entry.config.secret_names());
        let mut values = BTreeMap::new();
        for (what, parts) in secret_values {
            let mut value = String::new();
            for part in parts {
                match part {
                    ValuePart::Text(text) => value.push_str(&text),
                    ValuePart::Secret(secret) => value.push_str(&name_secret(&what, secret, &mut taken)),
                }
            }
            values.insert(what, value);
        }
        let client_secret = client_secret.map(|secret| name_secret(CLIENT_SECRET_SUFFIX, Some(secret), &mut taken));
        match &mut entry.config.transport {
            ServerTransport::Stdio(stdio) => stdio.env.extend(values),
            ServerTransport::Http(http) => {
                http.headers.extend(values);
                if client_secret.is_some() {
                    http.auth.get_or_insert_default().client_secret = client_secret;
                }
            }
        }
        // An invalid URL has no origin. `Host::add_server` rejects the server before a secret is written.
        let place = entry.config.secret_binding().unwrap_or_default();
        let keyed = secrets
            .into_iter()
            .map(|(name, value)| (secrets::secret_storage_key(&name, &place), value.expose_secret().to_owned()));
        let keyed = keyed.collect();
        (entry, keyed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::server_config::{HttpConfig, StdioConfig};

    fn secret_value_part(value: &str) -> ValuePart {
        ValuePart::Secret(Some(value.to_owned().into()))
    }

    #[test]
    fn secrets_are_referenced_in_the_settings_and_bound_to_the_command() {
        let stdio = StdioConfig { command: "npx".to_owned(), ..StdioConfig::default() };
        let place = secrets::command_secret_binding(&stdio);
        let entry = ServerEntry { name: "git".to_owned(), config: stdio.into() };
        let values = vec![
            ValuePart::Text("Bearer ".to_owned()),
            secret_value_part("one"),
            ValuePart::Text(":".to_owned()),
            secret_value_part("two"),
        ];
        let pending = vec![ValuePart::Secret(None)];
        let new = NewServer {
            secret_values: [("AUTH".to_owned(), values), ("KEY".to_owned(), pending)].into(),
            ..NewServer::from(entry)
        };
        let (entry, secrets) = new.into_settings(vec!["GIT.key".to_owned()]);
        let env = &entry.config.as_stdio().unwrap().env;
        assert_eq!(env["AUTH"], "Bearer ${secret:git.AUTH}:${secret:git.AUTH-2}");
        assert_eq!(env["KEY"], "${secret:git.KEY-2}", "a pending secret has an unused name");
        let key = |name: &str| secrets::secret_storage_key(name, &place);
        assert_eq!(secrets, [(key("git.AUTH"), "one".to_owned()), (key("git.AUTH-2"), "two".to_owned())]);
    }

    #[test]
    fn client_secret_is_stored_in_the_keychain() {
        let http = HttpConfig { url: "https://mcp.example/mcp".to_owned(), ..HttpConfig::default() };
        let entry = ServerEntry { name: "git".to_owned(), config: http.into() };
        let new = NewServer { client_secret: Some("hidden".to_owned().into()), ..NewServer::from(entry) };
        let (entry, secrets) = new.into_settings(Vec::new());
        let auth = entry.config.as_http().unwrap().auth.clone().unwrap();
        assert_eq!(auth.client_secret.as_deref(), Some("${secret:git.client_secret}"));
        assert_eq!(secrets, [("git.client_secret @ https://mcp.example".to_owned(), "hidden".to_owned())]);
    }
}
