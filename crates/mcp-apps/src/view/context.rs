//! Host context, display mode, and changes of the server's lists.

use std::collections::BTreeSet;

use super::output::ViewEvent;
use super::{Map, View, ViewPhase, single_member_object};
use crate::display_mode::DisplayMode;
use crate::host_context::{HostContext, changed_context_members};

/// List of the app page's server whose changes are reported to the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerListKind {
    /// Lists of the server's resources and resource templates.
    Resources,
    /// List of the server's prompts.
    Prompts,
}

/// Error for a display mode that is not among those that the app page declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the page does not support the display mode {}", .0.as_str())]
pub struct UndeclaredDisplayMode(pub DisplayMode);

impl View {
    /// Replaces the host context, and notifies an initialized page of the members that changed.
    ///
    /// # Errors
    ///
    /// Returns [`UndeclaredDisplayMode`] if the display mode changes to one that the page does not declare, or before the
    /// page has declared its modes. Nothing changes then.
    pub fn change_host_context(&mut self, context: HostContext) -> Result<(), UndeclaredDisplayMode> {
        let mode = context.display_mode;
        if mode != self.config.context.display_mode && !self.may_host_switch_to_mode(mode) {
            return Err(UndeclaredDisplayMode(mode));
        }
        self.config.context = context;
        if self.can_send_to_page() {
            self.send_context_change();
        }
        Ok(())
    }

    /// Replaces the names of the tools that the app page may call. Notifies an initialized page if the host announced
    /// such notifications.
    pub fn change_tools_callable_by_app(&mut self, callable_tools: BTreeSet<String>) {
        self.config.callable_tools = callable_tools;
        let announced = self.config.capabilities.server_tools.is_some_and(|lists| lists.list_changed);
        if announced && self.phase == ViewPhase::Ready {
            self.send_notification("notifications/tools/list_changed", Map::new());
        }
    }

    /// Notifies an initialized page of a changed list of its server, if the host announced such notifications.
    pub fn notify_server_list_changed(&mut self, list: ServerListKind) {
        let announced = self.config.capabilities.server_resources.is_some_and(|lists| lists.list_changed);
        if announced && self.phase == ViewPhase::Ready {
            let method = match list {
                ServerListKind::Resources => "notifications/resources/list_changed",
                ServerListKind::Prompts => "notifications/prompts/list_changed",
            };
            self.send_notification(method, Map::new());
        }
    }

    /// Sends the members of the host context that changed since the app page last received the context.
    pub(super) fn send_context_change(&mut self) {
        let context = self.config.context.to_map();
        let changed = changed_context_members(&self.sent_context, &context);
        self.sent_context = context;
        if !changed.is_empty() {
            self.send_notification("ui/notifications/host-context-changed", changed);
        }
    }

    /// Returns `true` if the host may change to this display mode: the app page declares it, or declares no list of
    /// modes, also not an empty one. Before its `ui/initialize`, it may still declare a list without this mode.
    fn may_host_switch_to_mode(&self, mode: DisplayMode) -> bool {
        self.app.as_ref().is_some_and(|app| app.display_modes.as_ref().is_none_or(|modes| modes.contains(&mode)))
    }

    /// Returns `true` if the app page declares that it supports this display mode.
    fn page_declares_mode(&self, mode: DisplayMode) -> bool {
        let declared = self.app.as_ref().and_then(|app| app.display_modes.as_ref());
        declared.is_some_and(|modes| modes.contains(&mode))
    }

    /// Returns `true` if the app page may request this display mode: page and host both support it, and it is not the
    /// current mode.
    pub(super) fn may_page_request_mode(&self, mode: DisplayMode) -> bool {
        let context = &self.config.context;
        mode != context.display_mode && context.available_display_modes.contains(&mode) && self.page_declares_mode(mode)
    }

    pub(super) fn is_mode_current_or_declared(&self, mode: DisplayMode) -> bool {
        mode == self.config.context.display_mode || self.page_declares_mode(mode)
    }

    /// Makes a display mode that the host chose at the request of the app page the current one.
    pub(super) fn apply_display_mode(&mut self, mode: DisplayMode) {
        if mode == self.config.context.display_mode {
            return;
        }
        self.config.context.display_mode = mode;
        self.sent_context.insert("displayMode".to_owned(), mode.as_str().into());
        self.send_notification(
            "ui/notifications/host-context-changed",
            single_member_object("displayMode", mode.as_str()),
        );
        self.push_event(ViewEvent::DisplayModeChanged(mode));
    }
}
