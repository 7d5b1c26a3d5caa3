//! Selects the registry from which servers are installed: the one that the environment or the command line names, or
//! else the one in the user's settings, or else the official one.
//!
//! The setting is read before each use, since another process may have changed it. The value of the header is in the
//! keychain and bound to the address, so that a process that changes the setting can't redirect it to another host.

use std::sync::Arc;

use domain::StoreError;
use ports::{Document, Documents, SecretError, SecretPersistence, Secrets};
use registry::{RegistryAddress, RegistryCatalog, RegistryHeader};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::{InstallError, Installer, run_blocking};

/// Determines from which registry servers are installed.
#[derive(Clone)]
pub enum RegistryChoice {
    /// From the official registry, whatever the user's settings contain.
    Official,
    /// From the registry at this address, whatever the user's settings contain. No header is sent.
    Named(String),
    /// From the registry in the user's settings or, if they contain none, from the official one.
    Settings {
        /// Storage of the document `registry.json`, which contains the registry setting.
        documents: Arc<dyn Documents>,
        /// Keychain that contains the value of the registry's header.
        secrets: Arc<dyn Secrets>,
    },
}

/// The registry from which servers are currently installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveRegistry {
    /// Address of the registry, to which requests for servers are sent.
    pub address: RegistryAddress,
    /// Name of the header that is sent with each request, or `None`. Its value is in the keychain.
    pub header: Option<String>,
    /// Set if an environment variable or a command-line option determines the registry, so that the user's setting is
    /// ignored.
    pub is_named: bool,
}

/// Header for requests to a registry, as the user entered it.
#[derive(Debug, Clone)]
pub struct NewRegistryHeader {
    /// Name of the header, such as `Authorization`.
    pub name: String,
    /// Value of the header. `None` to use the value that is already in the keychain.
    pub value: Option<SecretString>,
}

/// Contents of the settings file `registry.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RegistrySetting {
    address: String,
    #[serde(default)]
    header: Option<String>,
}

/// A registry that was opened with its cache. It is reused until another registry or header is selected.
pub(crate) struct OpenRegistry {
    in_use: ActiveRegistry,
    catalog: Arc<RegistryCatalog>,
}

impl RegistrySetting {
    fn read(documents: &dyn Documents) -> Result<Option<Self>, StoreError> {
        let Some(value) = documents.read(Document::Registry)? else { return Ok(None) };
        let bad = |error: serde_json::Error| StoreError {
            path: documents.path().join(Document::Registry.file_name()).display().to_string(),
            cause: format!("{error}; set the registry in Settings again"),
        };
        serde_json::from_value(value).map(Some).map_err(bad)
    }

    /// Returns the key of the header's value in the keychain, or `None` if there is no header.
    fn header_keychain_key(&self) -> Option<String> {
        let name = self.header.as_ref()?.to_ascii_lowercase();
        Some(ports::secrets::secret_storage_key(&format!("registry/{name}"), &self.address))
    }
}

impl RegistryChoice {
    /// Returns the address and header of the registry that is in use. Reads the user's setting if it depends on that.
    /// Blocks.
    fn active_registry(&self) -> Result<ActiveRegistry, InstallError> {
        let official = ActiveRegistry { address: RegistryAddress::default(), header: None, is_named: false };
        match self {
            Self::Official => Ok(official),
            Self::Named(address) => {
                Ok(ActiveRegistry { address: RegistryAddress::parse(address)?, is_named: true, ..official })
            }
            Self::Settings { documents, .. } => match RegistrySetting::read(documents.as_ref())? {
                None => Ok(official),
                Some(RegistrySetting { address, header }) => {
                    Ok(ActiveRegistry { address: RegistryAddress::parse(&address)?, header, is_named: false })
                }
            },
        }
    }

    /// Returns the header for requests to the registry `in_use`, with its value from the keychain, or `None` if the
    /// registry needs no header. Blocks.
    fn load_header(&self, in_use: &ActiveRegistry) -> Result<Option<RegistryHeader>, InstallError> {
        let (Self::Settings { secrets, .. }, Some(name)) = (self, &in_use.header) else { return Ok(None) };
        let value = read_header_value(secrets.as_ref(), in_use)?
            .ok_or_else(|| InstallError::NoHeaderValue { header: name.clone(), address: in_use.address.to_string() })?;
        Ok(Some(RegistryHeader::new(name, &value)?))
    }

    /// Writes the user's registry setting and the value of the registry's header. Blocks.
    fn set_registry(
        &self,
        address: Option<&str>,
        header: Option<NewRegistryHeader>,
    ) -> Result<SecretPersistence, InstallError> {
        let Self::Settings { documents, secrets } = self else { return Err(InstallError::RegistryNamed) };
        let before = RegistrySetting::read(documents.as_ref()).ok().flatten();
        let address = address.map(RegistryAddress::parse).transpose()?.filter(|address| !address.is_official());
        let now = match &address {
            None if header.is_some() => return Err(InstallError::OfficialHeader),
            None => None,
            Some(address) => {
                let header = header.as_ref().map(|header| header.name.clone());
                Some(RegistrySetting { address: address.as_str().to_owned(), header })
            }
        };
        let mut persistence = SecretPersistence::Keychain;
        let key = now.as_ref().and_then(RegistrySetting::header_keychain_key);
        if let (Some(key), Some(NewRegistryHeader { name, value }), Some(address)) = (&key, header, address) {
            let is_new = value.is_some();
            let in_use = ActiveRegistry { address, header: Some(name.clone()), is_named: false };
            let value = match value {
                Some(value) => value,
                None => read_header_value(secrets.as_ref(), &in_use)?.ok_or_else(|| InstallError::NoHeaderValue {
                    header: name.clone(),
                    address: in_use.address.to_string(),
                })?,
            };
            RegistryHeader::new(&name, &value)?;
            // Stored first, since without the setting it has no effect.
            if is_new {
                persistence = secrets.set(key, value.expose_secret())?;
            }
        }
        documents.write(Document::Registry, &serde_json::to_value(&now).unwrap_or_default())?;
        if let Some(former) =
            before.as_ref().and_then(RegistrySetting::header_keychain_key).filter(|former| Some(former) != key.as_ref())
            && let Err(error) = secrets.delete(&former)
        {
            tracing::warn!(%error, "the header of the former registry could not be removed from the keychain");
        }
        Ok(persistence)
    }
}

fn read_header_value(secrets: &dyn Secrets, in_use: &ActiveRegistry) -> Result<Option<SecretString>, SecretError> {
    let setting = RegistrySetting { address: in_use.address.as_str().to_owned(), header: in_use.header.clone() };
    let Some(key) = setting.header_keychain_key() else { return Ok(None) };
    Ok(secrets.get(&key)?.map(SecretString::from))
}

impl Installer {
    /// Returns the registry that is in use, with its cache. It is opened again if another one was selected since the
    /// last call.
    ///
    /// # Errors
    /// Returns [`InstallError::Registry`] if its address is not valid, [`InstallError::NoHeaderValue`] if the value of
    /// its header is not in the keychain, and [`InstallError::Store`] if the cache can't be opened.
    pub async fn catalog(&self) -> Result<Arc<RegistryCatalog>, InstallError> {
        let mut open = self.shared.open.lock().await;
        let shared = Arc::clone(&self.shared);
        let in_use = run_blocking(move || shared.registry.active_registry()).await?;
        if let Some(open) = open.as_ref().filter(|open| open.in_use == in_use) {
            return Ok(Arc::clone(&open.catalog));
        }
        let (shared, choice) = (Arc::clone(&self.shared), in_use.clone());
        let opened = run_blocking(move || {
            let header = shared.registry.load_header(&choice)?;
            (shared.open_registry_catalog)(choice.address, header)
        });
        let catalog = Arc::new(opened.await?);
        *open = Some(OpenRegistry { in_use, catalog: Arc::clone(&catalog) });
        *self.lock_time_of_last_changes_read().await = None;
        Ok(catalog)
    }

    /// Returns the address and header of the registry that is in use, without sending a request.
    ///
    /// # Errors
    /// Returns an [`InstallError`] if the setting can't be read, or its address is not valid.
    pub async fn read_active_registry(&self) -> Result<ActiveRegistry, InstallError> {
        let shared = Arc::clone(&self.shared);
        run_blocking(move || shared.registry.active_registry()).await
    }

    /// Writes the user's registry setting. If there is no address, the official registry will be used. The value of a
    /// header is stored in the keychain.
    ///
    /// # Errors
    /// Returns [`InstallError::Registry`] if the address or header is not valid, [`InstallError::NoHeaderValue`] if a
    /// header has no value, [`InstallError::OfficialHeader`] for a header without an address,
    /// [`InstallError::RegistryNamed`] if the environment or the command line names the registry, and other errors if
    /// the setting or the value can't be written.
    pub async fn set_registry(
        &self,
        address: Option<String>,
        header: Option<NewRegistryHeader>,
    ) -> Result<SecretPersistence, InstallError> {
        let mut open = self.shared.open.lock().await;
        let shared = Arc::clone(&self.shared);
        let set = run_blocking(move || shared.registry.set_registry(address.as_deref(), header)).await;
        // The value of its header may have changed.
        *open = None;
        set
    }
}
