//! What exactly would be set up, and the hash over it.

use std::path::PathBuf;

use host::Host;
use installs::InputValues;
use policy::Hash;
use ports::server_config::{FilledIn, NewServer, SandboxConfig, StdioConfig, ValuePart, config_hash};
use process::ServerCommand;
use registry::Freshness;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::upgrade::InstalledServer;
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
    /// What it may reach; none if all that its user may. An upgrade keeps what the server has.
    pub sandbox: Option<SandboxConfig>,
    /// The installed server whose place it takes, by the user's name; none if it is a new one.
    pub upgrades: Option<String>,
}

/// A server that would be set up.
#[derive(Debug)]
pub struct InstallPreview {
    /// What is installed.
    pub offer: InstallOffer,
    /// The server. Secrets that it keeps have no value in it.
    pub server: NewServer,
    /// The server whose place it takes, as it is set up now, without the values of secrets.
    pub before: Option<NewServer>,
    /// Over all that would be set up, secrets included, over where it comes from, and over what it replaces.
    pub hash: Hash,
    pub(crate) filled_in: FilledIn,
    pub(crate) upgraded: Option<InstalledServer>,
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
        let upgraded = match &draft.upgrades {
            Some(server) => Some(InstalledServer::find(host, server).await?),
            None => None,
        };
        let offer = self.offer(&draft.source, freshness).await?;
        let mut plan = offer.plan.clone()?;
        let (mut server, filled_in) = match &upgraded {
            Some(installed) => {
                self.check_same_server(installed, &offer).await?;
                plan.name.clone_from(&installed.name);
                let sandbox = self.sandbox_after(installed, &offer, &plan).await?;
                let kept = installed.kept(&plan);
                let server = plan.fill_keeping(&draft.values, &kept, &installed.config, sandbox)?;
                let mut values = kept.values;
                values.extend(draft.values.clone());
                (server, plan.filled_in(&values))
            }
            None => {
                containment::check(draft.sandbox.as_ref(), &self.containment(&plan).await)?;
                plan.name.clone_from(&draft.name);
                (plan.fill(&draft.values, draft.sandbox.clone())?, plan.filled_in(&draft.values))
            }
        };
        // With the folders of its sandbox as they are resolved now, so that the hash is over what is granted.
        server.entry = match &upgraded {
            Some(_) => host.check_changed_server(server.entry).await?,
            None => host.check_new_server(server.entry).await?,
        };
        let registry = match &offer.source {
            InstallSource::Registry { .. } => Some(self.catalog().await?.address().as_str().to_owned()),
            InstallSource::Bundle { .. } => None,
        };
        let hash = hash(&offer, registry.as_deref(), &server, upgraded.as_ref());
        let before = upgraded.as_ref().map(InstalledServer::shown);
        Ok(InstallPreview { offer, server, before, hash, filled_in, upgraded })
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
fn hash(offer: &InstallOffer, registry: Option<&str>, server: &NewServer, upgraded: Option<&InstalledServer>) -> Hash {
    let origin = match &offer.source {
        InstallSource::Registry { name, version, target } => {
            let sha256 = offer.origin.bundle().map(|file| file.bundle.archive.sha256());
            json!({ "registry": registry, "name": name, "version": version, "target": target, "sha256": sha256 })
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
        "upgrades": upgraded.map(|installed| json!([config_hash(&installed.config), installed.origin])),
    }))
}
