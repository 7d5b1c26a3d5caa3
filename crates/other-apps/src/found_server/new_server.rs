//! Converts a found server to the argument of `host::ServerSetup::add_new`.

use ports::server_config::{NewServer, ServerEntry, ValuePart};

use super::{FoundServer, PendingSecret};

impl FoundServer {
    /// Returns the server to add, with its secrets. For a secret that the user will enter later, the settings contain a
    /// reference to a keychain entry that does not exist yet.
    #[must_use]
    pub fn new_server(&self) -> NewServer {
        let secret = |value: &secrecy::SecretString| vec![ValuePart::Secret(Some(value.clone()))];
        let secrets = self.secrets.iter().map(|(name, value)| (name.clone(), secret(value)));
        let pending = self.pending.iter().map(|(name, pending)| (name.clone(), pending.value_parts()));
        NewServer {
            entry: ServerEntry { name: self.name.clone(), config: self.config.clone() },
            secret_values: pending.chain(secrets).collect(),
            client_secret: self.client_secret.clone(),
        }
    }
}

impl PendingSecret {
    fn value_parts(&self) -> Vec<ValuePart> {
        let text = |text: &String| (!text.is_empty()).then(|| ValuePart::Text(text.clone()));
        text(&self.before).into_iter().chain([ValuePart::Secret(None)]).chain(text(&self.after)).collect()
    }
}
