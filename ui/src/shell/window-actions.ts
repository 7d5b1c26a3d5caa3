// Actions of the whole window. The command palette, the shortcuts and the menu bar run them from here.
import { isMac } from "$lib/operating-system";
import { platform } from "$lib/platform";
import { app } from "$lib/state/app.svelte";
import { dialogs, isDialogRendered } from "$lib/state/dialogs.svelte";
import { router } from "$lib/state/router.svelte";
import { windows } from "$lib/state/windows.svelte";

import { computerCheck } from "../checkup/checkup.svelte";
import { installSheet } from "../installs/install-sheet.svelte";
import { m } from "../paraglide/messages";

import { changeSettings, newConversation } from "./actions";
import { quit } from "./closing.svelte";
import { openInNewWindow } from "./conversation-windows";
import { currentActivity, toggleActivity } from "./current-activity";
import { overlay } from "./overlay.svelte";
import { isConsentOpen, openApprovals } from "./views";
import { applyZoomStep, zoomAfterStep, type ZoomStep } from "./zoom";

export interface WindowAction {
  id: string;
  label: string;
  /** Other words, separated by commas, by which the command palette finds the action. */
  words?: string;
  /** Text in the list of shortcuts, if it differs from the label. */
  shortcutText?: string;
  keys?: string;
  /** Set if the keys are handled elsewhere, because they depend on the keyboard layout. */
  hasOwnKeys?: boolean;
  /** Menu of the menu bar that lists the action. */
  menu?: "app" | "file" | "view" | "window" | "help";
  /** Set if a line separates the action from the previous one of its menu. */
  startsGroup?: boolean;
  /** Set if the action is also available while a dialog is open. */
  isAboveDialogs?: boolean;
  /** `false` if the action would do nothing in the current view. */
  isAvailable?: boolean;
  /** Set if the window of a conversation can't run the action. */
  isMainOnly?: boolean;
  /** Set if the command palette does not list the action. */
  isUnlisted?: boolean;
  run: () => unknown;
}

/**
 * Returns the actions of this window in the order of the command palette, with their labels in the current language.
 * Views that the window of a conversation does not show are opened in the main window.
 */
export function windowActions(): WindowAction[] {
  return windows.own === null ? allActions() : allActions().filter((one) => !one.isMainOnly);
}

function allActions(): WindowAction[] {
  return [
    {
      ...{ id: "search", label: m.shell_keys_palette(), keys: "Mod+K", menu: "view" },
      ...{ isUnlisted: true, isMainOnly: true },
      run: () => (overlay.palette = true),
    },
    {
      ...{ id: "new-conversation", label: m.shell_new_conversation(), keys: "Mod+N", menu: "file" },
      run: newConversation,
    },
    {
      ...{ id: "approvals", label: m.shell_open_approvals(), keys: "Mod+J", menu: "view" },
      run: () => openApprovals(),
    },
    {
      ...{ id: "activity", label: m.shell_activity_beside(), keys: "Mod+I", menu: "view" },
      isAvailable: currentActivity(router.current) !== null,
      run: toggleActivity,
    },
    {
      ...{ id: "add-server", label: m.shell_add_server(), menu: "file", startsGroup: true },
      run: () => router.go({ at: "add-server" }),
    },
    {
      ...{ id: "registry", label: m.installs_registry_open(), menu: "file" },
      run: () => router.go({ at: "registry" }),
    },
    {
      ...{ id: "bundle", label: m.installs_bundle_open(), menu: "file", isMainOnly: true },
      run: () => installSheet.openFile(),
    },
    {
      ...{ id: "import", label: m.import_open(), menu: "file" },
      run: () => router.go({ at: "import" }),
    },
    {
      ...{ id: "tools", label: m.shell_all_tools(), menu: "view", startsGroup: true },
      run: () => router.go({ at: "tools" }),
    },
    {
      ...{ id: "rules", label: m.shell_rules(), menu: "view" },
      words: m.shell_words_rules(),
      run: () => router.go({ at: "rules" }),
    },
    {
      ...{ id: "audit", label: m.shell_audit(), menu: "view" },
      words: m.shell_words_audit(),
      run: () => router.go({ at: "audit" }),
    },
    {
      ...{ id: "models", label: m.models_title(), menu: "view" },
      words: m.shell_words_models(),
      run: () => router.go({ at: "models" }),
    },
    {
      ...{ id: "settings", label: m.shell_settings(), keys: "Mod+,", menu: "app" },
      shortcutText: m.shell_keys_settings(),
      words: m.shell_words_settings(),
      run: () => router.go({ at: "settings" }),
    },
    {
      ...{ id: "guide", label: m.guide_title(), keys: "F1", menu: "help" },
      run: () => router.go({ at: "guide" }),
    },
    {
      ...{ id: "shortcuts", label: m.shell_shortcuts(), keys: "?", menu: "help" },
      run: () => (overlay.shortcuts = true),
    },
    ...(platform().zooms ? zoomActions() : []),
    ...(platform().menuBar === "optional" ? [menuBarAction()] : []),
    ...(platform().hasConversationWindows ? [otherWindowAction()] : []),
    {
      ...{ id: "checkup", label: m.checkup_open(), menu: "help", startsGroup: true },
      isMainOnly: true,
      run: () => computerCheck.open(),
    },
    {
      ...{ id: "welcome", label: m.shell_welcome(), menu: "help" },
      run: () => router.go({ at: "welcome" }),
    },
    // A browser has no app to quit.
    ...(platform().menuBar === "none" ? [] : [quitAction()]),
  ];
}

/** Returns the action that quits. The menu bar has an item of the shell for it, and a Mac its own keys. */
function quitAction(): WindowAction {
  return {
    ...{ id: "quit", label: m.shell_quit(), words: m.shell_words_quit() },
    keys: isMac ? undefined : "Mod+Q",
    run: quit,
  };
}

function zoomActions(): WindowAction[] {
  const zoom = app.settings.zoom;
  const action = (step: ZoomStep, label: string, keys: string): WindowAction => ({
    ...{ id: `zoom-${step}`, label, keys, hasOwnKeys: true, menu: "view", isAboveDialogs: true },
    startsGroup: step === "in",
    isAvailable: zoomAfterStep(zoom, step) !== zoom,
    run: () => applyZoomStep(step),
  });
  return [
    action("in", m.shell_zoom_in(), "Mod++"),
    action("out", m.shell_zoom_out(), "Mod+-"),
    action("reset", m.shell_zoom_reset({ percent: zoom }), "Mod+0"),
  ];
}

/** Returns the action that opens a window for the conversation, or in that window the one that shows the main one. */
function otherWindowAction(): WindowAction {
  if (windows.own !== null) {
    return {
      ...{ id: "main-window", label: m.shell_window_main(), menu: "window" },
      run: () => platform().showMainWindow(null),
    };
  }
  const view = router.current;
  return {
    ...{ id: "new-window", label: m.shell_window_open(), menu: "window" },
    isAvailable: view.at === "conversation",
    run: () => (view.at === "conversation" ? openInNewWindow(view.id) : undefined),
  };
}

/** Toolkits open the first menu with F10, which would have no effect while the menu bar is hidden. */
function menuBarAction(): WindowAction {
  const isShown = app.settings.menuBar;
  return {
    ...{ id: "menu-bar", label: isShown ? m.shell_menu_bar_hide() : m.shell_menu_bar_show() },
    ...{ keys: isShown ? undefined : "F10", menu: "window" },
    run: () => changeSettings({ menuBar: !isShown }),
  };
}

/** Returns `true` if the action can be run now: no dialog is open, or the action is available above dialogs. */
export function canRun(action: WindowAction): boolean {
  const isDialogOpen = dialogs.open > 0 || dialogs.sheets > 0 || overlay.palette || isConsentOpen();
  return action.isAvailable !== false && (action.isAboveDialogs === true || !isDialogOpen);
}

/** Runs the action with this id, as chosen in the menu bar. Does nothing if it can't be run now. */
export function runWindowAction(id: string): void {
  const action = windowActions().find((one) => one.id === id);
  if (!action || !canRun(action)) return;
  // Not every dialog is counted, such as one that is just opening.
  if (action.isAboveDialogs === true || !isDialogRendered()) action.run();
}
