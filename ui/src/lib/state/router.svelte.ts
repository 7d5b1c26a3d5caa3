// Current view. Stored in the hash of the location, so that back and forward work.
import { registerPageState } from "$lib/page-state";

import { viewFromHash, viewToHash, type ServerTab, type View } from "./route";

export type { ServerTab, View } from "./route";

class Router {
  current = $state.raw<View>(viewFromHash(location.hash));

  /** Opens a view. With `replace`, no history entry is added. */
  go(view: View, options: { replace?: boolean } = {}): void {
    const hash = viewToHash(view);
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
addEventListener("hashchange", () => (router.current = viewFromHash(location.hash)));
