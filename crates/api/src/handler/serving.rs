//! The contract on a host. Callers: the shells, which serve its commands and events.

use std::sync::Arc;

use ::chat::Chat;
use checkup::Computer;
use host::Host;
use installer::Installer;
use other_apps::Surroundings;

use crate::EventStream;

/// Serves the contract on a host.
#[derive(Clone)]
pub struct Api {
    pub(super) host: Host,
    pub(super) chat: Chat,
    /// Where servers of other apps are looked for; nowhere if none.
    pub(super) surroundings: Option<Arc<Surroundings>>,
    /// What installs servers of a registry or a bundle; nothing if none.
    pub(super) installer: Option<Installer>,
    /// What `check_computer` looks at; nothing if none.
    pub(super) computer: Option<Arc<Computer>>,
}

impl Api {
    /// The contract on this host.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self { chat: Chat::new(host.clone()), host, surroundings: None, installer: None, computer: None }
    }

    /// The host.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The conversations, and the calls of tools.
    #[must_use]
    pub const fn chat(&self) -> &Chat {
        &self.chat
    }

    /// The events from now on. Take them first, then read the snapshot: nothing is missed then.
    #[must_use]
    pub fn events(&self) -> EventStream {
        EventStream::new(self.clone())
    }
}
