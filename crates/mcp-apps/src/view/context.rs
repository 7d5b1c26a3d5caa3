//! Host context, display mode, and changes of the server's lists.

use std::collections::BTreeSet;

use super::output::ViewEvent;
use super::{Map, Phase, View, object};
use crate::display_mode::DisplayMode;
use crate::host_context::{HostContext, changed_members};

/// List of the page's server that can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerList {
    /// Resources and their templates.
    Resources,
    /// Prompts of the server.
    Prompts,
}

/// The page declares its display modes, and this one is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the page does not support the display mode {}", .0.as_str())]
pub struct UndeclaredMode(pub DisplayMode);

impl View {
    /// Replaces the host context. An initialized page is notified of the members that changed.
    ///
    /// # Errors
    ///
    /// Returns [`UndeclaredMode`] if the display mode changes to one that the page does not declare. Nothing changes
    /// then.
    pub fn change_context(&mut self, context: HostContext) -> Result<(), UndeclaredMode> {
        let mode = context.display_mode;
        if mode != self.config.context.display_mode && !self.may_switch_to(mode) {
            return Err(UndeclaredMode(mode));
        }
        self.config.context = context;
        if self.can_send() {
            self.send_context_change();
        }
        Ok(())
    }

    /// Replaces the names of the tools that the page may call, and notifies the page if this was announced.
    pub fn change_callable_tools(&mut self, callable_tools: BTreeSet<String>) {
        self.config.callable_tools = callable_tools;
        let announced = self.config.capabilities.server_tools.is_some_and(|lists| lists.list_changed);
        if announced && self.phase == Phase::Ready {
            self.send_notification("notifications/tools/list_changed", Map::new());
        }
    }

    /// Notifies the page of a changed list of its server if this was announced. Before the page is initialized, it has
    /// no list that could be outdated.
    pub fn notify_list_changed(&mut self, list: ServerList) {
        let announced = self.config.capabilities.server_resources.is_some_and(|lists| lists.list_changed);
        if announced && self.phase == Phase::Ready {
            let method = match list {
                ServerList::Resources => "notifications/resources/list_changed",
                ServerList::Prompts => "notifications/prompts/list_changed",
            };
            self.send_notification(method, Map::new());
        }
    }

    /// Sends the members of the context that the page does not have.
    pub(super) fn send_context_change(&mut self) {
        let context = self.config.context.to_map();
        let changed = changed_members(&self.sent_context, &context);
        self.sent_context = context;
        if !changed.is_empty() {
            self.send_notification("ui/notifications/host-context-changed", changed);
        }
    }

    /// Returns `true` if the host may display the page in this mode.
    fn may_switch_to(&self, mode: DisplayMode) -> bool {
        let declared = self.app.as_ref().and_then(|app| app.display_modes.as_ref());
        declared.is_none_or(|modes| modes.contains(&mode))
    }

    /// Returns `true` if the page declares the mode. A page that declares none supports no other than the present one.
    fn declares_mode(&self, mode: DisplayMode) -> bool {
        let declared = self.app.as_ref().and_then(|app| app.display_modes.as_ref());
        declared.is_some_and(|modes| modes.contains(&mode))
    }

    /// Returns `true` if the page's request for this mode is passed on to the host: both declare it, and it is not in
    /// force.
    pub(super) fn can_request_mode(&self, mode: DisplayMode) -> bool {
        let context = &self.config.context;
        mode != context.display_mode && context.available_display_modes.contains(&mode) && self.declares_mode(mode)
    }

    pub(super) fn is_mode_in_force_or_declared(&self, mode: DisplayMode) -> bool {
        mode == self.config.context.display_mode || self.declares_mode(mode)
    }

    /// Puts a display mode into force that the host chose at the request of the page.
    pub(super) fn apply_display_mode(&mut self, mode: DisplayMode) {
        if mode == self.config.context.display_mode {
            return;
        }
        self.config.context.display_mode = mode;
        self.sent_context.insert("displayMode".to_owned(), mode.as_str().into());
        self.send_notification("ui/notifications/host-context-changed", object("displayMode", mode.as_str()));
        self.push_event(ViewEvent::DisplayModeChanged(mode));
    }
}
