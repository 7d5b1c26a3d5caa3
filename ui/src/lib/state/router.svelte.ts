// Current view. Stored in the hash of the location, so that back and forward work.
import { registerPageState } from "$lib/page-state";
import { platform } from "$lib/platform";

import { windows } from "./windows.svelte";
import { viewFromHash, viewToHash, type ServerTab, type View } from "./route";

export type { ServerTab, View } from "./route";

class Router {
  current = $state.raw<View>(viewFromHash(location.hash));

  /**
   * Opens a view. With `replace`, no history entry is added. The window of a conversation opens all other views in the
   * main window.
   */
  go(view: View, options: { replace?: boolean } = {}): void {
    const hash = viewToHash(view);
    if (!isShownHere(view)) return platform().showMainWindow(hash);
    if (hash === location.hash) return;
    if (options.replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
    this.current = view;
  }

  back(): void {
    history.back();
  }

  server(name: string, tab: ServerTab = "overview", item?: string): void {
    this.go(item === undefined ? { at: "server", name, tab } : { at: "server", name, tab, item });
  }
}

export let router: Router;
registerPageState(() => (router = new Router()));
addEventListener("hashchange", () => {
  const view = viewFromHash(location.hash);
  if (isShownHere(view)) {
    router.current = view;
    return;
  }
  // A link was clicked.
  platform().showMainWindow(location.hash);
  history.replaceState(null, "", viewToHash(router.current));
});

function isShownHere(view: View): boolean {
  return windows.own === null || (view.at === "conversation" && view.id === windows.own);
}
