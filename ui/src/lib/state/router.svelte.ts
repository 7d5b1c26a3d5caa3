// Current view. Stored in the hash of the location, so that back and forward work.
import { pageState } from "$lib/page-state";

import { fromHash, toHash, type ServerTab, type View } from "./route";

export type { ServerTab, View } from "./route";

class Router {
  current = $state.raw<View>(fromHash(location.hash));

  /** Opens a view. With `replace`, no history entry is added. */
  go(view: View, options: { replace?: boolean } = {}): void {
    const hash = toHash(view);
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
pageState(() => (router = new Router()));
addEventListener("hashchange", () => (router.current = fromHash(location.hash)));
