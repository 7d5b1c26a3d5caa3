//! The [`Api`] type, which serves the contract on a host. Used by the desktop shell and the development host.

use std::sync::Arc;

use ::chat::Chat;
use checkup::Computer;
use host::Host;
use installer::Installer;
use other_apps::AppEnvironment;

use crate::EventStream;

/// Implementation of the contract on a host.
#[derive(Clone)]
pub struct Api {
    pub(super) host: Host,
    pub(super) chat: Chat,
    /// Environment that is searched for servers of other apps, or `None` to disable the import.
    pub(super) surroundings: Option<Arc<AppEnvironment>>,
    /// Installer for servers of a registry or a bundle, or `None` to disable the installation.
    pub(super) installer: Option<Installer>,
    /// Environment that `check_computer` examines, or `None` to disable the check.
    pub(super) computer: Option<Arc<Computer>>,
}

impl Api {
    /// Creates the implementation for this host.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self { chat: Chat::new(host.clone()), host, surroundings: None, installer: None, computer: None }
    }

    /// Returns the host that the commands run on.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the conversations and tool calls of the host.
    #[must_use]
    pub const fn chat(&self) -> &Chat {
        &self.chat
    }

    /// Returns the events from now on. Subscribe before reading the snapshot, so that no event is missed.
    #[must_use]
    pub fn events(&self) -> EventStream {
        EventStream::new(self.clone())
    }
}
