//! The type [`Api`], which implements the commands and events on a host. Used by the desktop shell, the command line,
//! and the development host.

use std::sync::Arc;

use ::chat::Chat;
use app_views::AppViews;
use checkup::CheckInputs;
use host::Host;
use installer::Installer;
use mcp_apps::FrameAncestor;
use other_apps::AppEnvironment;

use crate::EventStream;

/// Implementation of the API's commands and events on a host.
#[derive(Clone)]
pub struct Api {
    pub(super) host: Host,
    pub(super) chat: Chat,
    pub(super) apps: AppViews,
    /// Home folder and environment variables by which settings of other apps are found, or `None` to disable the
    /// import.
    pub(super) environment: Option<Arc<AppEnvironment>>,
    /// Reads an environment variable for an import, or `None` if the variable is not set.
    pub(super) read_variable: fn(&str) -> Option<String>,
    /// Installer of servers, or `None` to disable the installation commands.
    pub(super) installer: Option<Installer>,
    /// Environment that `check_computer` examines, or `None` to disable the check.
    pub(super) computer: Option<Arc<CheckInputs>>,
}

impl Api {
    /// Creates the API of this host, without import, installation and computer checks.
    #[must_use]
    pub fn new(host: Host) -> Self {
        let chat = Chat::new(host.clone());
        let apps = AppViews::new(host.clone(), chat.clone());
        Self { chat, apps, host, environment: None, read_variable: |_| None, installer: None, computer: None }
    }

    /// Permits web pages with these origins to display MCP apps in frames. The caller has to serve the responses of
    /// [`AppViews::respond_to_frame`] to the frames, with a separate origin for each shown app.
    #[must_use]
    pub fn with_app_frames(mut self, ancestors: Vec<FrameAncestor>) -> Self {
        self.apps = self.apps.with_frame_ancestors(ancestors);
        self
    }

    /// Returns the component that manages the shown MCP apps.
    #[must_use]
    pub const fn app_views(&self) -> &AppViews {
        &self.apps
    }

    /// Returns the host that the commands run on.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the component that manages the conversations of the host. The API also makes the user's own tool calls
    /// through it.
    #[must_use]
    pub const fn chat(&self) -> &Chat {
        &self.chat
    }

    /// Subscribes to the events that occur from now on. Must be called before the snapshot is read, so that no event is
    /// missed.
    #[must_use]
    pub fn events(&self) -> EventStream {
        EventStream::new(self.clone())
    }
}
