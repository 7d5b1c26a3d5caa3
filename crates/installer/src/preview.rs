//! Previews of installations: the exact server that would be added, and its hash.

use std::path::PathBuf;

use host::Host;
use installs::InputValues;
use policy::Hash;
use ports::server_config::{FilledInputs, NewServer, SandboxConfig, StdioConfig, ValuePart, config_hash};
use process::ServerCommand;
use registry::CachePolicy;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::upgrade::InstalledServer;
use crate::{InstallError, InstallOffer, InstallSource, Installer, containment};

/// A server to be installed, with the user's choices and values.
#[derive(Clone)]
pub struct InstallDraft {
    /// Registry entry or bundle file from which the server is installed.
    pub source: InstallSource,
    /// Name that the user chose for the server.
    pub name: String,
    /// Values that the user entered, including secrets.
    pub values: InputValues,
    /// Sandbox that the user chose, or `None` to run the server with the user's access rights. Ignored for an upgrade,
    /// which keeps the server's sandbox.
    pub sandbox: Option<SandboxConfig>,
    /// Name of the installed server that is to be upgraded, or `None` to add a new server.
    pub upgrades: Option<String>,
}

/// The exact result that an installation would have.
#[derive(Debug)]
pub struct InstallPreview {
    /// Offer from which the server would be installed.
    pub offer: InstallOffer,
    /// Server that would be added. Secrets that an upgrade takes over from the installed server have no value here.
    pub server: NewServer,
    /// Current settings of the server that is upgraded, without the values of secrets. `None` for a new server.
    pub before: Option<NewServer>,
    /// Hash of the server with its secrets, of its origin, and of the server that it would replace. The user approves
    /// the preview with this hash.
    pub hash: Hash,
    pub(crate) filled_in: FilledInputs,
    pub(crate) upgraded: Option<InstalledServer>,
}

impl Installer {
    /// Computes the result of an installation. Nothing is unpacked or added.
    ///
    /// # Errors
    /// Returns the errors of [`offer`](Self::offer), [`InstallError::NotInstallable`] if there is no plan,
    /// [`InstallError::Fill`] if values don't match the plan, and [`InstallError::Setup`] if no server could be added
    /// under this name.
    pub async fn preview(
        &self,
        host: &Host,
        draft: &InstallDraft,
        freshness: CachePolicy,
    ) -> Result<InstallPreview, InstallError> {
        let upgraded = match &draft.upgrades {
            Some(server) => Some(InstalledServer::find(host, server).await?),
            None => None,
        };
        let offer = self.offer(&draft.source, freshness).await?;
        let mut plan = offer.plan.clone()?;
        let (mut server, filled_in) = match &upgraded {
            Some(installed) => {
                self.check_offer_is_other_version(installed, &offer).await?;
                plan.name.clone_from(&installed.name);
                let sandbox = self.sandbox_after_upgrade(installed, &offer, &plan).await?;
                let carried = installed.values_kept_in_upgrade(&plan);
                let server = plan.fill_for_upgrade(&draft.values, &carried, &installed.config, sandbox)?;
                let mut values = carried.values;
                values.extend(draft.values.clone());
                (server, plan.filled_inputs(&values))
            }
            None => {
                containment::check_chosen_sandbox(draft.sandbox.as_ref(), &self.containment(&plan).await)?;
                plan.name.clone_from(&draft.name);
                (plan.fill(&draft.values, draft.sandbox.clone())?, plan.filled_inputs(&draft.values))
            }
        };
        // Links in the sandbox's folders are resolved now, so that the hash covers the folders that are really
        // accessible.
        server.entry = match &upgraded {
            Some(_) => host.check_changed_server(server.entry).await?,
            None => host.check_new_server(server.entry).await?,
        };
        let registry = match &offer.source {
            InstallSource::Registry { .. } => Some(self.catalog().await?.address().as_str().to_owned()),
            InstallSource::Bundle { .. } => None,
        };
        let hash = hash_preview(&offer, registry.as_deref(), &server, upgraded.as_ref());
        let before = upgraded.as_ref().map(InstalledServer::current_settings);
        Ok(InstallPreview { offer, server, before, hash, filled_in, upgraded })
    }

    /// Returns the path of the program that a command would start on this computer, or `None` if it is not found.
    pub async fn find_program_path(&self, command: &StdioConfig) -> Option<PathBuf> {
        let command = ServerCommand {
            program: command.command.clone(),
            environment: command.env.clone(),
            working_directory: command.cwd.clone(),
            ..ServerCommand::default()
        };
        self.path_and_sandbox_support().await.path.resolve(&command).ok()
    }
}

/// Returns the hash of a preview, by which the user approves it. A bundle is identified by its content, not by the path
/// of its file.
fn hash_preview(
    offer: &InstallOffer,
    registry: Option<&str>,
    server: &NewServer,
    upgraded: Option<&InstalledServer>,
) -> Hash {
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
    Hash::of_json(&json!({
        "origin": origin,
        "name": server.entry.name,
        "config": config_hash(&server.entry.config),
        "secretValues": secret_values,
        "upgrades": upgraded.map(|installed| json!([config_hash(&installed.config), installed.origin])),
    }))
}
