//! What exactly would be set up, and the hash over it.

use std::path::PathBuf;

use host::Host;
use installs::InputValues;
use policy::Hash;
use ports::server_config::{NewServer, SandboxConfig, StdioConfig, ValuePart, config_hash};
use process::ServerCommand;
use registry::Freshness;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::{InstallError, InstallOffer, InstallSource, Installer, containment};

/// A server as it is wanted.
#[derive(Clone)]
pub struct InstallDraft {
    /// What is installed.
    pub source: InstallSource,
    /// The user's name for it.
    pub name: String,
    /// The values of the inputs, secret ones among them.
    pub values: InputValues,
    /// What it may reach; none if all that its user may.
    pub sandbox: Option<SandboxConfig>,
}

/// A server that would be set up.
#[derive(Debug)]
pub struct InstallPreview {
    /// What is installed.
    pub offer: InstallOffer,
    /// The server.
    pub server: NewServer,
    /// Over all that would be set up, secrets included, and over where it comes from.
    pub hash: Hash,
}

impl Installer {
    /// Finds out what would be set up. Nothing is unpacked or added.
    ///
    /// # Errors
    /// As [`offer`](Self::offer); or if there is no plan, values do not fit, or no server could be added under this name.
    pub async fn preview(
        &self,
        host: &Host,
        draft: &InstallDraft,
        freshness: Freshness,
    ) -> Result<InstallPreview, InstallError> {
        let offer = self.offer(&draft.source, freshness).await?;
        let mut plan = offer.plan.clone()?;
        containment::check(draft.sandbox.as_ref(), &self.containment(&plan).await)?;
        plan.name.clone_from(&draft.name);
        let mut server = plan.fill(&draft.values, draft.sandbox.clone())?;
        // With the folders of its sandbox as they are resolved now, so that the hash is over what is granted.
        server.entry = host.check_new_server(server.entry).await?;
        let registry = match &offer.source {
            InstallSource::Registry { .. } => Some(self.catalog().await?.address().as_str()),
            InstallSource::Bundle { .. } => None,
        };
        let hash = hash(&offer.source, registry, &server);
        Ok(InstallPreview { offer, server, hash })
    }

    /// Where the program of a command is on this computer now, if it is.
    pub async fn found_at(&self, command: &StdioConfig) -> Option<PathBuf> {
        let command = ServerCommand {
            program: command.command.clone(),
            environment: command.env.clone(),
            working_directory: command.cwd.clone(),
            ..ServerCommand::default()
        };
        self.computer().await.path.resolve(&command).ok()
    }
}

/// Over a server that would be set up, and where it comes from. A bundle is its content, wherever its file lies.
fn hash(source: &InstallSource, registry: Option<&str>, server: &NewServer) -> Hash {
    let origin = match source {
        InstallSource::Registry { name, version, target } => {
            json!({ "registry": registry, "name": name, "version": version, "target": target })
        }
        InstallSource::Bundle { sha256, .. } => json!({ "sha256": sha256 }),
    };
    let part = |part: &ValuePart| match part {
        ValuePart::Text(text) => json!({ "text": text }),
        ValuePart::Secret(secret) => json!({ "secret": secret.as_ref().map(ExposeSecret::expose_secret) }),
    };
    let secret_values: Value = server
        .secret_values
        .iter()
        .map(|(name, parts)| (name.clone(), parts.iter().map(part).collect()))
        .collect::<serde_json::Map<String, Value>>()
        .into();
    Hash::of(&json!({
        "origin": origin,
        "name": server.entry.name,
        "config": config_hash(&server.entry.config),
        "secretValues": secret_values,
    }))
}
