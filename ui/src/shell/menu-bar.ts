// Contents of the window's menu bar, which the desktop shell arranges by the conventions of the operating system.
import type { MenuBar } from "$lib/platform";
import { app } from "$lib/state/app.svelte";

import { m } from "../paraglide/messages";

import { canRun, windowActions } from "./window-actions";

/** Returns the contents of the menu bar in the current language, with the actions that can be run now enabled. */
export function menuBar(): MenuBar {
  return {
    shown: app.settings.menuBar,
    titles: {
      file: m.shell_menu_file(),
      edit: m.shell_menu_edit(),
      view: m.shell_menu_view(),
      window: m.shell_menu_window(),
      help: m.shell_help(),
    },
    labels: {
      about: m.shell_menu_about(),
      services: m.shell_menu_services(),
      hide: m.shell_menu_hide(),
      hideOthers: m.shell_menu_hide_others(),
      showAll: m.shell_menu_show_all(),
      quit: m.shell_closing_quit(),
      undo: m.shell_menu_undo(),
      redo: m.shell_menu_redo(),
      cut: m.shell_menu_cut(),
      copy: m.shell_copy(),
      paste: m.shell_menu_paste(),
      selectAll: m.shell_menu_select_all(),
      minimize: m.shell_menu_minimize(),
      fullScreen: m.shell_menu_full_screen(),
      closeWindow: m.shell_menu_close_window(),
    },
    actions: windowActions().flatMap((action) => {
      const { id, label, menu, startsGroup = false, keys = null } = action;
      if (menu === undefined) return [];
      return [{ id, menu, startsGroup, label, keys, enabled: canRun(action) }];
    }),
  };
}
