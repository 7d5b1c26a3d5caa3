//! Menu bars as native menus, and the items that the shell implements where the operating system has none.

use std::collections::HashMap;

use tauri::menu::{AboutMetadata, IsMenuItem, Menu, MenuItem, PredefinedMenuItem, Submenu};
use tauri::{Manager as _, Runtime, WebviewWindow};

use super::model::{ArrangedMenu, MenuConventions, MenuEntry, StandardMenuItem};
use crate::quitting;

/// Prefix, in the identifier of a native menu item, of the name of an item that the shell implements.
const STANDARD_ITEM_ID_PREFIX: &str = "system:";
/// Prefix, in the identifier of a native menu item, of the identifier of an action of the page.
const ACTION_ITEM_ID_PREFIX: &str = "action:";

/// Items that the shell can implement, with their names. It implements all of them on Linux, and some on other systems.
const STANDARD_ITEMS_RUN_BY_SHELL: [(StandardMenuItem, &str); 8] = [
    (StandardMenuItem::Undo, "undo"),
    (StandardMenuItem::Redo, "redo"),
    (StandardMenuItem::Cut, "cut"),
    (StandardMenuItem::Copy, "copy"),
    (StandardMenuItem::Paste, "paste"),
    (StandardMenuItem::SelectAll, "select-all"),
    (StandardMenuItem::CloseWindow, "close-window"),
    (StandardMenuItem::Quit, "quit"),
];

/// Item that the user has chosen in a menu bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChosenMenuItem<'i> {
    /// Item that the shell implements.
    Standard(StandardMenuItem),
    /// An action of the page, given by its identifier.
    Action(&'i str),
}

/// Splits the identifier of a native menu item into the label of its window and the item. Returns `None` for items of
/// menus other than menu bars.
pub(super) fn parse_menu_item_id(id: &str) -> Option<(&str, ChosenMenuItem<'_>)> {
    let (window, name) = id.split_once('/')?;
    if let Some(action) = name.strip_prefix(ACTION_ITEM_ID_PREFIX) {
        return Some((window, ChosenMenuItem::Action(action)));
    }
    let name = name.strip_prefix(STANDARD_ITEM_ID_PREFIX)?;
    let (item, _) = STANDARD_ITEMS_RUN_BY_SHELL.iter().find(|(_, own)| *own == name)?;
    Some((window, ChosenMenuItem::Standard(*item)))
}

type NativeMenuWithActions<R> = (Menu<R>, HashMap<String, MenuItem<R>>);

/// Creates the native menus of a menu bar, and returns them with the items for the page's actions. Must be called on
/// the main thread.
pub(super) fn build_menu<R: Runtime>(
    window: &WebviewWindow<R>,
    models: &[ArrangedMenu],
) -> tauri::Result<NativeMenuWithActions<R>> {
    let mut actions = HashMap::new();
    let menu = Menu::new(window)?;
    for model in models {
        let submenu = Submenu::new(window, &model.title, true)?;
        for entry in &model.entries {
            match entry {
                MenuEntry::Separator => submenu.append(&PredefinedMenuItem::separator(window)?)?,
                MenuEntry::Standard(item, label) => submenu.append(&*standard_item(window, *item, label)?)?,
                MenuEntry::Action { id, label, accelerator, enabled } => {
                    let item_id = format!("{}/{ACTION_ITEM_ID_PREFIX}{id}", window.label());
                    let item = MenuItem::with_id(window, item_id, label, *enabled, accelerator.as_deref())?;
                    submenu.append(&item)?;
                    actions.insert(id.clone(), item);
                }
            }
        }
        menu.append(&submenu)?;
    }
    Ok((menu, actions))
}

/// Shows a menu bar: on macOS as that of the whole system, on other systems in the window.
pub(super) fn attach_menu<R: Runtime>(window: &WebviewWindow<R>, menu: &Menu<R>) -> tauri::Result<()> {
    if MenuConventions::current() == MenuConventions::MacOs {
        window.app_handle().set_menu(menu.clone())?;
    } else {
        window.set_menu(menu.clone())?;
    }
    Ok(())
}

fn standard_item<R: Runtime>(
    window: &WebviewWindow<R>,
    item: StandardMenuItem,
    label: &str,
) -> tauri::Result<Box<dyn IsMenuItem<R>>> {
    let text = Some(label);
    let conventions = MenuConventions::current();
    let is_own = match conventions {
        // The item of macOS ends the app before the pages can store their drafts.
        MenuConventions::MacOs => item == StandardMenuItem::Quit,
        MenuConventions::Windows => matches!(item, StandardMenuItem::CloseWindow | StandardMenuItem::Quit),
        MenuConventions::Linux => true,
    };
    if is_own && let Some((_, name)) = STANDARD_ITEMS_RUN_BY_SHELL.iter().find(|(own, _)| *own == item) {
        let id = format!("{}/{STANDARD_ITEM_ID_PREFIX}{name}", window.label());
        let accelerator = (conventions == MenuConventions::MacOs).then_some("CmdOrCtrl+Q");
        return Ok(Box::new(MenuItem::with_id(window, id, label, true, accelerator)?));
    }
    let predefined = match item {
        StandardMenuItem::About => PredefinedMenuItem::about(window, text, Some(about_metadata(window))),
        StandardMenuItem::Services => PredefinedMenuItem::services(window, text),
        StandardMenuItem::Hide => PredefinedMenuItem::hide(window, text),
        StandardMenuItem::HideOthers => PredefinedMenuItem::hide_others(window, text),
        StandardMenuItem::ShowAll => PredefinedMenuItem::show_all(window, text),
        StandardMenuItem::Quit => PredefinedMenuItem::quit(window, text),
        StandardMenuItem::Undo => PredefinedMenuItem::undo(window, text),
        StandardMenuItem::Redo => PredefinedMenuItem::redo(window, text),
        StandardMenuItem::Cut => PredefinedMenuItem::cut(window, text),
        StandardMenuItem::Copy => PredefinedMenuItem::copy(window, text),
        StandardMenuItem::Paste => PredefinedMenuItem::paste(window, text),
        StandardMenuItem::SelectAll => PredefinedMenuItem::select_all(window, text),
        StandardMenuItem::Minimize => PredefinedMenuItem::minimize(window, text),
        StandardMenuItem::FullScreen => PredefinedMenuItem::fullscreen(window, text),
        StandardMenuItem::CloseWindow => PredefinedMenuItem::close_window(window, text),
    };
    Ok(Box::new(predefined?))
}

fn about_metadata<R: Runtime>(window: &WebviewWindow<R>) -> AboutMetadata<'static> {
    let package = window.app_handle().package_info();
    AboutMetadata {
        name: Some("Drawbridge".to_owned()),
        version: Some(package.version.to_string()),
        icon: window.app_handle().default_window_icon().map(|icon| icon.clone().to_owned()),
        ..AboutMetadata::default()
    }
}

/// Runs an item that the shell implements, after the user has chosen it.
pub(super) fn run_standard_item<R: Runtime>(window: &WebviewWindow<R>, item: StandardMenuItem) {
    let result = match item {
        StandardMenuItem::Quit => {
            quitting::quit(window.app_handle());
            Ok(())
        }
        // The same as the button of the title bar, so the setting for closing applies.
        StandardMenuItem::CloseWindow => window.close(),
        _ => run_edit_command(window, item),
    };
    if let Err(error) = result {
        tracing::warn!("failed to execute an item of the menu bar: {error}");
    }
}

/// Executes an editing command in the focused field of the page.
#[cfg(target_os = "linux")]
fn run_edit_command<R: Runtime>(window: &WebviewWindow<R>, item: StandardMenuItem) -> tauri::Result<()> {
    use webkit2gtk::WebViewExt as _;

    let command = match item {
        StandardMenuItem::Undo => "Undo",
        StandardMenuItem::Redo => "Redo",
        StandardMenuItem::Cut => "Cut",
        StandardMenuItem::Copy => "Copy",
        StandardMenuItem::Paste => "Paste",
        StandardMenuItem::SelectAll => "SelectAll",
        _ => return Ok(()),
    };
    window.with_webview(move |webview| webview.inner().execute_editing_command(command))
}

/// Does nothing, since the operating system implements the editing commands.
#[cfg(not(target_os = "linux"))]
fn run_edit_command<R: Runtime>(_: &WebviewWindow<R>, _: StandardMenuItem) -> tauri::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn menu_item_ids_name_the_window_and_the_item() {
        let parsed = parse_menu_item_id("main/action:system:quit");
        assert_eq!(parsed, Some(("main", ChosenMenuItem::Action("system:quit"))), "an action of the page");
        let parsed = parse_menu_item_id("conversation-1/system:cut");
        assert_eq!(
            parsed,
            Some(("conversation-1", ChosenMenuItem::Standard(StandardMenuItem::Cut))),
            "an item of the shell"
        );
        for other in ["main/system:approve", "main/quit", "quit", ""] {
            assert_eq!(parse_menu_item_id(other), None, "{other:?} is not an item of a menu bar");
        }
    }
}
