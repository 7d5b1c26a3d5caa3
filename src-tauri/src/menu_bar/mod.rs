//! Menu bars of the windows.
//!
//! The page defines the actions: it sends their labels, shortcuts and states ([`set_menu_bar`]), and is notified of a
//! chosen one ([`ShellEvent::ActionChosen`]). It then runs the same function as for a keyboard shortcut, or nothing if
//! the action is not available at that moment. So the shell decides nothing, and no item can approve a consent request.

mod content;
mod model;
mod native;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tauri::menu::{MenuEvent, MenuItem};
use tauri::{AppHandle, Manager as _, Runtime, State, WebviewWindow, Wry};

use crate::shell_events::{ShellEvent, ShellEvents};
use crate::window_labels::MAIN_WINDOW_LABEL;
use content::MenuBarContent;
use model::{ArrangedMenu, MenuConventions};
use native::ChosenMenuItem;

/// The native menu bars of Drawbridge's windows, by the label of the window.
pub(crate) struct MenuBars<R: Runtime>(Mutex<HashMap<String, MenuBar<R>>>);

impl<R: Runtime> Default for MenuBars<R> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

struct MenuBar<R: Runtime> {
    models: Vec<ArrangedMenu>,
    menu: tauri::menu::Menu<R>,
    /// Native menu items for the page's actions, by the identifier of the action. Their labels and states can be
    /// changed.
    actions: HashMap<String, MenuItem<R>>,
}

/// Command that sets the contents of the menu bar of the page's window, or hides the menu bar.
///
/// # Errors
/// Returns a message if the system can't show the menu bar, or the window is already closed.
#[tauri::command]
pub(crate) fn set_menu_bar<R: Runtime>(
    window: WebviewWindow<R>,
    bars: State<'_, MenuBars<R>>,
    content: MenuBarContent,
) -> Result<(), String> {
    bars.set(&window, &content).map_err(|error| error.to_string())
}

impl<R: Runtime> MenuBars<R> {
    fn set(&self, window: &WebviewWindow<R>, content: &MenuBarContent) -> tauri::Result<()> {
        let conventions = MenuConventions::current();
        let mut bars = self.lock();
        if !content.shown && conventions != MenuConventions::MacOs {
            if bars.remove(window.label()).is_some() {
                window.remove_menu()?;
            }
            return Ok(());
        }
        let models = model::arrange_menus(content, conventions);
        if let Some(bar) = bars.get_mut(window.label())
            && let Some(changed) = model::changed_actions_if_same_structure(&bar.models, &models)
        {
            for action in changed {
                let Some(item) = bar.actions.get(action.id) else { continue };
                if let Some(label) = action.label {
                    item.set_text(label)?;
                }
                item.set_enabled(action.enabled)?;
            }
            bar.models = models;
            return Ok(());
        }
        let (menu, actions) = native::build_menu(window, &models)?;
        // On macOS all windows share one menu bar, and the window shows its own when it is focused.
        if conventions != MenuConventions::MacOs || window.is_focused()? {
            native::attach_menu(window, &menu)?;
        }
        bars.insert(window.label().to_owned(), MenuBar { models, menu, actions });
        Ok(())
    }

    /// On macOS, where all windows share one menu bar, shows the menu bar of the window that has received the focus.
    pub(crate) fn on_focus(&self, app: &AppHandle<R>, label: &str) {
        if MenuConventions::current() != MenuConventions::MacOs {
            return;
        }
        let Some(menu) = self.lock().get(label).map(|bar| bar.menu.clone()) else { return };
        if let Err(error) = app.set_menu(menu) {
            tracing::warn!("failed to show the menu bar of a window: {error}");
        }
    }

    /// Removes the menu bar of a closed window. On macOS the menu bar of the main window is shown again, because no
    /// other window may be focused afterwards.
    pub(crate) fn remove(&self, app: &AppHandle<R>, label: &str) {
        self.lock().remove(label);
        let is_other_focused = app.webview_windows().values().any(|window| window.is_focused().unwrap_or(false));
        if !is_other_focused {
            self.on_focus(app, MAIN_WINDOW_LABEL);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, MenuBar<R>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Registers the handler that is called when the user chooses an item of any menu bar.
pub(crate) fn handle_menu_events(app: &AppHandle) {
    app.on_menu_event(on_menu_event);
}

fn on_menu_event(app: &AppHandle<Wry>, event: MenuEvent) {
    let Some((label, item)) = native::parse_menu_item_id(event.id().as_ref()) else { return };
    let Some(window) = app.get_webview_window(label) else { return };
    match item {
        ChosenMenuItem::Standard(item) => native::run_standard_item(&window, item),
        ChosenMenuItem::Action(action) => {
            // On macOS the menu bar is also available while the window is hidden or minimized.
            if !window.is_visible().unwrap_or(true)
                && let Err(error) = crate::window::bring_window_to_front(&window)
            {
                tracing::warn!("failed to bring a window to the front: {error}");
            }
            app.state::<ShellEvents>().send_to(label, ShellEvent::ActionChosen { action: action.to_owned() });
        }
    }
}
