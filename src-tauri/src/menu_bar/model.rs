//! Contents of a menu bar as plain data: actions of the page, and standard items.
//!
//! The page sends its actions with labels in the user's language. This module only arranges them as users of each
//! operating system expect. It adds no action of its own.

use super::content::{MenuBarContent, MenuOfAction, PageMenuAction};

/// Maximum number of actions in a menu bar. Further ones are omitted.
const MAX_MENU_ACTIONS: usize = 64;
/// Maximum length of an action's identifier in bytes. Actions with longer ones are omitted.
const MAX_MENU_ACTION_ID_BYTES: usize = 64;

/// Operating system whose conventions a menu bar follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MenuConventions {
    /// macOS: one menu bar for the whole system, with a menu for the app.
    MacOs,
    /// Windows: a menu bar in each window.
    Windows,
    /// Linux: a menu bar in each window. GTK implements none of the items in [`StandardMenuItem`].
    Linux,
}

impl MenuConventions {
    /// Returns the conventions of the operating system that this build is for.
    pub(crate) const fn current() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// Item that apps usually have in their menus. The operating system or the shell implements it, unlike an action of the
/// page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandardMenuItem {
    /// Shows the name and version of Drawbridge.
    About,
    /// Opens the submenu *Services* of macOS.
    Services,
    /// Hides Drawbridge's windows on macOS.
    Hide,
    /// Hides all other apps on macOS.
    HideOthers,
    /// Shows all hidden apps on macOS.
    ShowAll,
    /// Quits Drawbridge, which stops the servers.
    Quit,
    /// Reverts the last change of the focused field.
    Undo,
    /// Applies a reverted change again.
    Redo,
    /// Moves the selection to the clipboard.
    Cut,
    /// Copies the selection to the clipboard.
    Copy,
    /// Inserts the content of the clipboard.
    Paste,
    /// Selects the whole content of the focused field.
    SelectAll,
    /// Minimizes the window to the task bar or the Dock.
    Minimize,
    /// Enters or leaves full-screen mode.
    FullScreen,
    /// Closes the window, like the close button in its frame.
    CloseWindow,
}

/// A menu of a menu bar, with its title and entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrangedMenu {
    /// Title of the menu, in which `&` precedes the character that opens the menu together with Alt.
    pub(crate) title: String,
    /// Entries of the menu, from top to bottom.
    pub(crate) entries: Vec<MenuEntry>,
}

/// Entry of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MenuEntry {
    /// Line between two groups of entries.
    Separator,
    /// Item that the operating system or the shell implements, with its label.
    Standard(StandardMenuItem, String),
    /// Item that invokes an action of the page.
    Action {
        /// Identifier of the action, which is sent to the page when the user chooses the item.
        id: String,
        /// Label of the item, in which each `&` is doubled.
        label: String,
        /// Keyboard shortcut in Tauri's notation.
        accelerator: Option<String>,
        /// `true` if the user can choose the item.
        enabled: bool,
    },
}

/// Returns the menus of a menu bar with this content, arranged by the conventions of an operating system.
pub(crate) fn arrange_menus(content: &MenuBarContent, conventions: MenuConventions) -> Vec<ArrangedMenu> {
    let MenuBarContent { titles, labels, actions, .. } = content;
    let of = |menu: MenuOfAction| -> Vec<MenuEntry> {
        let known = actions.iter().filter(|action| action.id.len() <= MAX_MENU_ACTION_ID_BYTES).take(MAX_MENU_ACTIONS);
        let mut entries = Vec::new();
        for action in known.filter(|action| action.menu == menu) {
            if action.starts_group && !entries.is_empty() {
                entries.push(MenuEntry::Separator);
            }
            entries.push(action_entry(action));
        }
        entries
    };
    let standard = |items: &[(StandardMenuItem, &String)]| -> Vec<MenuEntry> {
        items.iter().map(|&(item, label)| MenuEntry::Standard(item, escape_mnemonics(label))).collect()
    };
    let is_mac = conventions == MenuConventions::MacOs;
    let title = |text: &String, mnemonic| {
        if is_mac { escape_mnemonics(text) } else { with_mnemonic(text, mnemonic) }
    };
    let about = || standard(&[(StandardMenuItem::About, &labels.about)]);
    let quit = || standard(&[(StandardMenuItem::Quit, &labels.quit)]);
    let close = || standard(&[(StandardMenuItem::CloseWindow, &labels.close_window)]);
    let clipboard = standard(&[
        (StandardMenuItem::Cut, &labels.cut),
        (StandardMenuItem::Copy, &labels.copy),
        (StandardMenuItem::Paste, &labels.paste),
        (StandardMenuItem::SelectAll, &labels.select_all),
    ]);
    // Tauri has no such items for Windows, where fields have them in their context menu.
    let history = if conventions == MenuConventions::Windows {
        Vec::new()
    } else {
        standard(&[(StandardMenuItem::Undo, &labels.undo), (StandardMenuItem::Redo, &labels.redo)])
    };
    let edit = ArrangedMenu { title: title(&titles.edit, 'E'), entries: join_menu_groups([history, clipboard]) };
    let menu = |text, mnemonic, entries| ArrangedMenu { title: title(text, mnemonic), entries };
    if !is_mac {
        let file = join_menu_groups([of(MenuOfAction::File), of(MenuOfAction::App), [close(), quit()].concat()]);
        return vec![
            menu(&titles.file, 'F', file),
            edit,
            menu(&titles.view, 'V', join_menu_groups([of(MenuOfAction::View), of(MenuOfAction::Window)])),
            menu(&titles.help, 'H', join_menu_groups([of(MenuOfAction::Help), about()])),
        ];
    }
    let hide = standard(&[
        (StandardMenuItem::Hide, &labels.hide),
        (StandardMenuItem::HideOthers, &labels.hide_others),
        (StandardMenuItem::ShowAll, &labels.show_all),
    ]);
    let services = standard(&[(StandardMenuItem::Services, &labels.services)]);
    let app = join_menu_groups([about(), of(MenuOfAction::App), services, hide, quit()]);
    let full_screen = standard(&[(StandardMenuItem::FullScreen, &labels.full_screen)]);
    let window =
        join_menu_groups([standard(&[(StandardMenuItem::Minimize, &labels.minimize)]), of(MenuOfAction::Window)]);
    vec![
        ArrangedMenu { title: "Drawbridge".to_owned(), entries: app },
        menu(&titles.file, 'F', join_menu_groups([of(MenuOfAction::File), close()])),
        edit,
        menu(&titles.view, 'V', join_menu_groups([of(MenuOfAction::View), full_screen])),
        menu(&titles.window, 'W', window),
        menu(&titles.help, 'H', of(MenuOfAction::Help)),
    ]
}

/// An action whose menu item has to be changed, because its label or enabled state has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChangedMenuAction<'m> {
    /// Identifier of the changed action.
    pub(crate) id: &'m str,
    /// New label of the item, or `None` if the label is the same as before.
    pub(crate) label: Option<&'m str>,
    /// `true` if the user can choose the item now.
    pub(crate) enabled: bool,
}

/// Returns the actions whose labels or enabled states differ between two versions of a menu bar. Returns `None` if
/// anything else differs, so that the native menus have to be built again.
pub(crate) fn changed_actions_if_same_structure<'m>(
    before: &[ArrangedMenu],
    after: &'m [ArrangedMenu],
) -> Option<Vec<ChangedMenuAction<'m>>> {
    if before.len() != after.len() {
        return None;
    }
    let mut changed = Vec::new();
    for (old, new) in before.iter().zip(after) {
        if old.title != new.title || old.entries.len() != new.entries.len() {
            return None;
        }
        for (one, other) in old.entries.iter().zip(&new.entries) {
            if one == other {
                continue;
            }
            let (
                MenuEntry::Action { id: old_id, label: old_label, accelerator: old_accelerator, .. },
                MenuEntry::Action { id, label, accelerator, enabled },
            ) = (one, other)
            else {
                return None;
            };
            if (old_id, old_accelerator) != (id, accelerator) {
                return None;
            }
            let label = (old_label != label).then_some(label.as_str());
            changed.push(ChangedMenuAction { id, label, enabled: *enabled });
        }
    }
    Some(changed)
}

fn action_entry(action: &PageMenuAction) -> MenuEntry {
    MenuEntry::Action {
        id: action.id.clone(),
        label: escape_mnemonics(&action.label),
        accelerator: action.keys.as_deref().and_then(tauri_accelerator_of_shortcut),
        enabled: action.enabled,
    }
}

/// Joins groups of menu entries, with a separator between them. Empty groups are omitted.
fn join_menu_groups<const N: usize>(groups: [Vec<MenuEntry>; N]) -> Vec<MenuEntry> {
    let mut entries = Vec::new();
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        if !entries.is_empty() {
            entries.push(MenuEntry::Separator);
        }
        entries.extend(group);
    }
    entries
}

/// Converts a keyboard shortcut from the page's notation to Tauri's. Returns `None` for keys that also type text, such
/// as `?`.
fn tauri_accelerator_of_shortcut(keys: &str) -> Option<String> {
    if let Some(key) = keys.strip_prefix("Mod+") {
        return match key {
            // On most keyboards the key of the plus sign is that of the equals sign.
            "+" => Some("CmdOrCtrl+=".to_owned()),
            "-" | "," => Some(format!("CmdOrCtrl+{key}")),
            _ if key.len() == 1 && key.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                Some(format!("CmdOrCtrl+{key}"))
            }
            _ => None,
        };
    }
    let number: u8 = keys.strip_prefix('F')?.parse().ok()?;
    (1..=12).contains(&number).then(|| format!("F{number}"))
}

/// Returns a label with each `&` doubled, because a single one marks the next character as the mnemonic.
fn escape_mnemonics(text: &str) -> String {
    text.replace('&', "&&")
}

/// Returns a menu title with the mnemonic `letter`: marked at the title's beginning if the title begins with it, or
/// else added in parentheses at the end, as in titles of other scripts than Latin.
fn with_mnemonic(title: &str, letter: char) -> String {
    let escaped = escape_mnemonics(title);
    if escaped.starts_with(letter) { format!("&{escaped}") } else { format!("{escaped}(&{letter})") }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
