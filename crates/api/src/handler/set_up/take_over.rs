//! Servers of other apps: set up here as they are there, stopped and without any approval. Called by `import_servers` and by `drawbridge-cli import`.

use std::collections::BTreeMap;

use other_apps::{Found, ImportStatus};
use policy::{Effect, PolicyRule, RuleRef, RuleSource};
use ports::secrets;
use ports::server_config::{AuthConfig, ServerEntry, ServerTransport};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::{Api, invalid, kind};
use crate::ApiError;
use crate::data::{AuthSettings, HttpHeader, SecretsKept, ServerConfig};

impl Api {
    /// Adds a server of another app under its name. Secrets go to the keychain; what is to be typed is named in the settings as a secret that is
    /// missing. Tools that its app denies are denied by rules. Nothing is started.
    ///
    /// # Errors
    /// If it can't be set up, or its name is taken.
    pub async fn take_over(&self, found: &Found) -> Result<SecretsKept, ApiError> {
        if found.status == ImportStatus::Unsupported {
            return Err(invalid(found.notes.last().cloned().unwrap_or_default()));
        }
        let setup = self.host.begin_setup().await?;
        if setup.config(&found.name).is_ok() {
            return Err(invalid(format!("there is a server {:?} already", found.name)));
        }
        let taken = setup.names_of_others(&found.name);
        let set_up = super::wanted(wanted(found, taken.clone()), &found.name, None, taken)?;
        let entry = ServerEntry { name: found.name.clone(), config: set_up.config };
        // The rules hold before the server is there to be called.
        let (rules, denied) = self.deny(found).await;
        let added = match denied {
            Ok(()) => setup.add(entry, set_up.secrets).await.map_err(ApiError::from),
            Err(error) => Err(error),
        };
        if added.is_err() {
            for rule in rules {
                // The first error tells more than one about a rule that denies the calls of no server.
                drop(self.host.remove_rule(rule).await);
            }
        }
        Ok(super::kept(added?))
    }

    /// Adds the rules that deny tools, where no equal one is there. Those that were added, and the error that ended it.
    async fn deny(&self, found: &Found) -> (Vec<RuleRef>, Result<(), ApiError>) {
        let mut added = Vec::new();
        let done = async {
            let is_users = |(source, _): &(RuleSource, PolicyRule)| *source == RuleSource::User;
            let there = self.host.rules().await?.rules.into_iter().filter(is_users);
            let there: Vec<PolicyRule> = there.map(|(_, rule)| PolicyRule { id: 0, ..rule }).collect();
            for tool in &found.denied_tools {
                let rule = deny(&found.name, tool)?;
                if !there.contains(&rule) {
                    added.push(self.host.set_rule(rule).await?);
                }
            }
            Ok(())
        };
        let done = done.await;
        (added, done)
    }
}

/// A rule that denies calls of one tool.
fn deny(server: &str, tool: &str) -> Result<PolicyRule, ApiError> {
    // Some apps deny by patterns. A star that is none denies more, never less.
    let tool = tool.replace('\\', r"\\");
    let rule = json!({ "effect": Effect::Deny, "server": literal(server), "tool": tool, "note": "from another app" });
    serde_json::from_value(rule).map_err(|error| invalid(error.to_string()))
}

/// A pattern that fits one text.
fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

fn wanted(found: &Found, mut taken: Vec<String>) -> ServerConfig {
    // A secret that is still to be typed has its name in the settings already.
    let mut pending = BTreeMap::new();
    for (name, around) in &found.pending {
        let secret = secrets::name_for(&found.name, name, &taken);
        taken.push(secret.clone());
        pending.insert(name.clone(), format!("{}{}{}", around.before, secrets::reference(&secret), around.after));
    }
    let secret = || found.secrets.iter().map(|(name, value)| (name.clone(), value.expose_secret().to_owned()));
    let revision = found.config.revision.map(|revision| revision.to_string());
    match &found.config.transport {
        ServerTransport::Stdio(stdio) => {
            let mut env = stdio.env.clone();
            env.extend(pending);
            env.extend(secret());
            ServerConfig::Stdio {
                command: stdio.command.clone(),
                args: stdio.args.clone(),
                env,
                secret_env: Some(found.secrets.keys().cloned().collect()),
                cwd: stdio.cwd.as_ref().map(|cwd| cwd.display().to_string()),
                sandbox: stdio.sandbox.clone().map(super::containment::sandbox_shown),
                revision,
            }
        }
        ServerTransport::Http(http) => {
            let plain = http.headers.clone().into_iter().chain(pending);
            let plain = plain.map(|(name, value)| HttpHeader { name, value: Some(value), secret: false });
            let secret = secret().map(|(name, value)| HttpHeader { name, value: Some(value), secret: true });
            ServerConfig::Http {
                url: http.url.clone(),
                headers: plain.chain(secret).collect(),
                kind: http.kind.map(kind),
                auth: http.auth.as_ref().map(|auth| sign_in(auth, found)),
                revision,
            }
        }
    }
}

fn sign_in(auth: &AuthConfig, found: &Found) -> AuthSettings {
    AuthSettings {
        client_id: auth.client_id.clone(),
        client_secret: found.client_secret.as_ref().map(|secret| secret.expose_secret().to_owned()),
        has_secret: found.client_secret.is_some(),
        issuer: auth.issuer.clone(),
        scopes: auth.scopes.clone(),
        redirect_port: auth.redirect_port,
        secret_names: Vec::new(),
        rest: None,
    }
}
