//! Upgrades: replaces an installed server by another version. The user gets an offer of the version and a preview next
//! to the current settings, and the upgrade is executed if the preview has the approved hash. The server keeps its
//! name, its secrets, its sandbox and all settings of the user. It is stopped only with the user's consent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use bundles::direct_subfolder;
use host::Host;
use host::view::ServerState;
use installs::{InstallPlan, ValuesKeptInUpgrade};
use ports::SecretPersistence;
use ports::secrets::split_secret_references;
use ports::server_config::{
    AccessMode, AllowedFolder, FilledInputs, InstallationInfo, NewServer, SandboxConfig, ServerConfig, ServerEntry,
    ServerOrigin, ValuePart,
};
use registry::CachePolicy;

use crate::{InstallContainment, InstallDraft, InstallError, InstallOffer, InstallSource, Installer};

/// An offer to replace an installed server by another version of it.
#[derive(Debug)]
pub struct UpgradeOffer {
    /// Offer of the other version.
    pub offer: InstallOffer,
    /// Origin of the currently installed version.
    pub installed: ServerOrigin,
    /// Values that the upgrade takes over unless the user enters others, as returned by
    /// [`InstallPlan::displayed_kept_values`].
    pub current_values: BTreeMap<String, Option<Vec<String>>>,
    /// Set if the server is running, and the upgrade would have to stop it.
    pub is_running: bool,
}

/// An installed server with its origin and current settings.
#[derive(Debug)]
pub(crate) struct InstalledServer {
    pub(crate) name: String,
    pub(crate) config: ServerConfig,
    pub(crate) origin: ServerOrigin,
    filled_in: FilledInputs,
    is_running: bool,
}

impl InstalledServer {
    pub(crate) async fn find(host: &Host, name: &str) -> Result<Self, InstallError> {
        let found = host.snapshot().await?.servers.into_iter().find(|server| server.name == name);
        let found = found.ok_or_else(|| host::ServerError::NotFound(name.to_owned()))?;
        let Some(InstallationInfo { origin, filled_in, .. }) = found.installed else {
            return Err(InstallError::NotInstalled(found.name));
        };
        let is_running = matches!(
            found.state,
            ServerState::Starting | ServerState::Ready | ServerState::Stopping | ServerState::Reconnecting(_)
        );
        Ok(Self { name: found.name, config: found.config, origin, filled_in, is_running })
    }

    /// Returns the values of the installed server that `plan`, the plan of another version, can reuse.
    pub(crate) fn values_kept_in_upgrade(&self, plan: &InstallPlan) -> ValuesKeptInUpgrade {
        plan.values_kept_from(&self.config, &self.filled_in)
    }

    /// Returns the current settings of the server. Its secrets have no values.
    pub(crate) fn current_settings(&self) -> NewServer {
        let entry = ServerEntry { name: self.name.clone(), config: self.config.clone() };
        let parts = self
            .config
            .environment_or_headers()
            .iter()
            .map(|(name, value)| (name.clone(), split_secret_references(value)));
        let is_secret = |parts: &Vec<ValuePart>| parts.iter().any(|part| matches!(part, ValuePart::Secret(_)));
        NewServer { secret_values: parts.filter(|(_, parts)| is_secret(parts)).collect(), ..entry.into() }
    }

    /// Returns the source of the version to upgrade to: the one in `named`, or else the newest in the registry. If
    /// `named` selects no package or remote endpoint, the installed one is used.
    fn upgrade_source(&self, named: Option<&InstallSource>) -> Result<InstallSource, InstallError> {
        let (name, version, target) = match (&self.origin, named) {
            (ServerOrigin::Registry { target, .. }, Some(InstallSource::Registry { name, version, target: None })) => {
                (name, version.clone(), *target)
            }
            (_, Some(named)) => return Ok(named.clone()),
            (ServerOrigin::Registry { name, target, .. }, None) => (name, None, *target),
            (ServerOrigin::Bundle { .. }, None) => return Err(InstallError::NoSource(self.name.clone())),
        };
        Ok(InstallSource::Registry { name: name.clone(), version, target: Some(target) })
    }
}

impl Installer {
    /// Returns the offer for another version of an installed server: the one in `named`, or else the newest in the
    /// registry from which the server was installed. Nothing is unpacked or changed.
    ///
    /// # Errors
    /// Returns the errors of [`offer`](Self::offer), [`InstallError::NotInstalled`] if the server was not installed by
    /// Drawbridge, [`InstallError::NoSource`] if a file must be named, [`InstallError::OtherServer`] if the source
    /// contains another server, and [`InstallError::SameVersion`] for the installed version.
    pub async fn offer_upgrade(
        &self,
        host: &Host,
        server: &str,
        source: Option<&InstallSource>,
    ) -> Result<UpgradeOffer, InstallError> {
        let installed = InstalledServer::find(host, server).await?;
        let source = installed.upgrade_source(source)?;
        let offer = self.offer(&source, CachePolicy::Now).await?;
        self.check_offer_is_other_version(&installed, &offer).await?;
        let current_values = offer
            .plan
            .as_ref()
            .map(|plan| plan.displayed_kept_values(&installed.values_kept_in_upgrade(plan)))
            .unwrap_or_default();
        Ok(UpgradeOffer { offer, current_values, is_running: installed.is_running, installed: installed.origin })
    }

    /// Replaces an installed server by another version, exactly as its preview shows it. `may_stop` is `true` if the
    /// user has agreed that the server is stopped if it is running. The server is not started again.
    ///
    /// # Errors
    /// Returns the errors of [`install`](Self::install), and [`InstallError::Running`] if the server is running and
    /// must not be stopped. After an error, the server is unchanged.
    pub async fn upgrade(
        &self,
        host: &Host,
        draft: &InstallDraft,
        hash: &str,
        may_stop: bool,
    ) -> Result<SecretPersistence, InstallError> {
        let preview = self.recompute_approved_preview(host, draft, hash).await?;
        match &preview.upgraded {
            None => return Err(InstallError::NotInstalled(draft.name.clone())),
            Some(installed) if installed.is_running && !may_stop => {
                return Err(InstallError::Running(installed.name.clone()));
            }
            Some(_) => {}
        }
        self.set_up_previewed_server(host, preview).await
    }

    /// Checks that an offer is for the installed server, and for another version of it.
    pub(crate) async fn check_offer_is_other_version(
        &self,
        installed: &InstalledServer,
        offer: &InstallOffer,
    ) -> Result<(), InstallError> {
        let (is_same, is_same_version, installed_name, offered) = match (&installed.origin, &offer.source) {
            (
                ServerOrigin::Registry { registry, name, version, target, .. },
                InstallSource::Registry { name: offered, version: offered_version, target: offered_target },
            ) => {
                let catalog = self.catalog().await?;
                let address = catalog.address().as_str();
                let is_same_version = Some(version) == offered_version.as_ref() && Some(*target) == *offered_target;
                let installed_name = format!("{name} of {registry}");
                (
                    registry == address && name == offered,
                    is_same_version,
                    installed_name,
                    format!("{offered} of {address}"),
                )
            }
            (ServerOrigin::Bundle { name, files, .. }, InstallSource::Bundle { sha256, path }) => {
                let offered = offer.origin.bundle().map(|file| file.bundle.manifest.name.clone());
                let offered = offered.unwrap_or_else(|| path.display().to_string());
                (*name == offered, Some(&files.sha256) == sha256.as_ref(), name.clone(), offered)
            }
            (ServerOrigin::Registry { name, registry, .. }, InstallSource::Bundle { path, .. }) => {
                (false, false, format!("{name} of {registry}"), path.display().to_string())
            }
            (ServerOrigin::Bundle { name, .. }, InstallSource::Registry { name: offered, .. }) => {
                (false, false, format!("the bundle {name}"), offered.clone())
            }
        };
        if !is_same {
            return Err(InstallError::OtherServer { installed: installed_name, offered });
        }
        if is_same_version {
            let version = installed.origin.version().to_owned();
            return Err(InstallError::SameVersion { name: installed.name.clone(), version });
        }
        Ok(())
    }

    /// Returns the sandbox of the server after the upgrade: the current one, with the folder of the new bundle in place
    /// of the old one. If the server was remote before, it is the sandbox that is proposed for a new server.
    pub(crate) async fn sandbox_after_upgrade(
        &self,
        installed: &InstalledServer,
        offer: &InstallOffer,
        plan: &InstallPlan,
    ) -> Result<Option<SandboxConfig>, InstallError> {
        let is_possible = match self.containment(plan).await {
            InstallContainment::Container | InstallContainment::Remote => return Ok(None),
            InstallContainment::Possible => true,
            InstallContainment::Impossible { .. } => false,
        };
        let Some(stdio) = installed.config.as_stdio() else {
            return Ok(is_possible.then(|| offer.proposed_sandbox(plan)));
        };
        let Some(mut sandbox) = stdio.sandbox.clone() else { return Ok(None) };
        if let Some(old) = self.bundle_folder(&installed.origin).await? {
            sandbox.folders.retain(|folder| folder.path != old);
        }
        let bundle = offer.origin.bundle().map(|file| file.folder.clone());
        if let Some(path) = bundle.filter(|path| !sandbox.folders.iter().any(|folder| folder.path == *path)) {
            sandbox.folders.insert(0, AllowedFolder { path, access: AccessMode::Read });
        }
        Ok(Some(sandbox))
    }

    /// Returns the folder of the bundle from which a server was installed. Returns `None` if the server was not
    /// installed from a bundle, or its record of the installation names a folder that is not directly in the folder of
    /// bundles.
    pub(crate) async fn bundle_folder(&self, origin: &ServerOrigin) -> Result<Option<PathBuf>, InstallError> {
        let root = self.bundles_folder().await?;
        Ok(origin.files().and_then(|files| direct_subfolder(&root, &files.folder)))
    }
}
