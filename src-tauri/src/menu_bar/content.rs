//! Contents of a menu bar as the page sends them, in the user's language.

use serde::Deserialize;

/// Contents of the menu bar of a window, as the page sends them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct MenuContent {
    /// `true` to show the menu bar. Ignored on macOS.
    pub(super) shown: bool,
    /// Titles of the menus.
    pub(super) titles: MenuTitles,
    /// Labels of the system's items.
    pub(super) labels: SystemLabels,
    /// Actions of the page, in the order in which menus list them.
    pub(super) actions: Vec<MenuAction>,
}

/// Titles of the menus in the language of the page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct MenuTitles {
    pub(super) file: String,
    pub(super) edit: String,
    pub(super) view: String,
    pub(super) window: String,
    pub(super) help: String,
}

/// Labels of the system's items in the language of the page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SystemLabels {
    pub(super) about: String,
    pub(super) services: String,
    pub(super) hide: String,
    pub(super) hide_others: String,
    pub(super) show_all: String,
    pub(super) quit: String,
    pub(super) undo: String,
    pub(super) redo: String,
    pub(super) cut: String,
    pub(super) copy: String,
    pub(super) paste: String,
    pub(super) select_all: String,
    pub(super) minimize: String,
    pub(super) full_screen: String,
    pub(super) close_window: String,
}

/// Action of the page in a menu.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MenuAction {
    /// Identifier with which the page is notified.
    pub(super) id: String,
    /// Menu that lists the action.
    pub(super) menu: ActionMenu,
    /// `true` if a line separates the action from the previous one of its menu.
    pub(super) starts_group: bool,
    /// Label in the language of the page.
    pub(super) label: String,
    /// Keyboard shortcut in the notation of the page, such as `Mod+K`.
    pub(super) keys: Option<String>,
    /// `true` if the action can be chosen at the moment.
    pub(super) enabled: bool,
}

/// Menu that lists an action of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ActionMenu {
    /// Menu of the app on macOS, otherwise the end of the menu *File*.
    App,
    /// Menu *File*, for what creates or adds something.
    File,
    /// Menu *View*, for what is shown, and how.
    View,
    /// Menu *Window*, which macOS has, otherwise the menu *View*.
    Window,
    /// Menu *Help*, the last one.
    Help,
}
