//! Contents of a menu bar as the page sends them, in the user's language.

use serde::Deserialize;

/// Contents of the menu bar of a window, as the page sends them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct MenuBarContent {
    /// `true` to show the menu bar. Ignored on macOS.
    pub(super) shown: bool,
    /// Titles of the menus in the menu bar.
    pub(super) titles: MenuTitles,
    /// Labels of the menu items that the operating system or the shell implements.
    pub(super) labels: StandardMenuItemLabels,
    /// Menu items that invoke actions of the page, in the order in which menus list them.
    pub(super) actions: Vec<PageMenuAction>,
}

/// Titles of the menus, in the language that the page uses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct MenuTitles {
    pub(super) file: String,
    pub(super) edit: String,
    pub(super) view: String,
    pub(super) window: String,
    pub(super) help: String,
}

/// Labels of the menu items that the operating system or the shell implements, in the language that the page uses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StandardMenuItemLabels {
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

/// A menu item that invokes an action of the page.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageMenuAction {
    /// Identifier of the action, which is sent to the page when the user chooses the item.
    pub(super) id: String,
    /// Menu that contains the item.
    pub(super) menu: MenuOfAction,
    /// `true` if a separator line precedes the item in its menu.
    pub(super) starts_group: bool,
    /// Label of the item, in the language that the page uses.
    pub(super) label: String,
    /// Keyboard shortcut in the notation of the page, such as `Mod+K`.
    pub(super) keys: Option<String>,
    /// `true` if the user can choose the item at the moment.
    pub(super) enabled: bool,
}

/// Menu that contains an item for an action of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MenuOfAction {
    /// On macOS the menu of the app, on other systems the end of the menu *File*.
    App,
    /// Menu *File*, for actions that create or add something.
    File,
    /// Menu *View*, for actions that change what the page shows, and how.
    View,
    /// On macOS the menu *Window*, on other systems the menu *View*.
    Window,
    /// Menu *Help*, which is the last one.
    Help,
}
