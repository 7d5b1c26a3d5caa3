// Groups of servers by state in the left column. The collapsed groups are stored in the storage of the web view.
import type { Server, ServerState } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { displayedState } from "$lib/server-state";

import { m } from "../paraglide/messages";

export type ServerGroupId = "attention" | "in_use" | "not_in_use";

const OF_STATE: Record<ServerState["is"], ServerGroupId> = {
  failed: "attention",
  needs_sign_in: "attention",
  awaiting_approval: "attention",
  reconnecting: "attention",
  ready: "in_use",
  starting: "in_use",
  stopping: "in_use",
  stopped: "not_in_use",
};

export const SERVER_GROUP_LABELS: Record<ServerGroupId, () => string> = {
  attention: m.shell_servers_attention,
  in_use: m.shell_servers_in_use,
  not_in_use: m.shell_servers_not_in_use,
};

const GROUPS = Object.keys(SERVER_GROUP_LABELS) as ServerGroupId[];

/** Returns the non-empty groups. Servers keep their order within a group. */
export function groupedServers(
  servers: readonly Server[],
): { id: ServerGroupId; servers: Server[] }[] {
  return GROUPS.map((id) => ({
    id,
    servers: servers.filter(({ state }) => OF_STATE[displayedState(state)] === id),
  })).filter((group) => group.servers.length > 0);
}

const KEY = "collapsed servers";

class CollapsedGroups {
  #ids = $state.raw<readonly ServerGroupId[]>([]);

  constructor() {
    try {
      const stored = (localStorage.getItem(KEY) ?? "").split(" ");
      this.#ids = GROUPS.filter((id) => stored.includes(id));
    } catch {
      // Without storage all groups are expanded at first.
    }
  }

  has(id: ServerGroupId): boolean {
    return this.#ids.includes(id);
  }

  toggle(id: ServerGroupId): void {
    this.#ids = this.has(id) ? this.#ids.filter((other) => other !== id) : [...this.#ids, id];
    try {
      localStorage.setItem(KEY, this.#ids.join(" "));
    } catch {
      // Without storage the state lasts as long as the page.
    }
  }
}

export let collapsedGroups: CollapsedGroups;
registerPageState(() => (collapsedGroups = new CollapsedGroups()));
