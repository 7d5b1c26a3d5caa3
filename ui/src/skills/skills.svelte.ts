// The skills of each server, listed when they are first wanted. Nothing tells of changes of them; the user lists them again.
import { call } from "$lib/api/client";
import type { Server, Skills } from "$lib/api/generated";
import { pageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";
import { PerServer } from "$lib/state/per-server.svelte";

const EXTENSION = "extensions.io.modelcontextprotocol/skills";

/** True of a server that offers the extension. */
export function hasSkills(server: Server | undefined): boolean {
  return server?.capabilities.includes(EXTENSION) ?? false;
}

class SkillLists extends PerServer<Skills> {
  constructor() {
    super((server) => call("skills", { server }));
  }

  override want(server: string): void {
    if (hasSkills(app.server(server))) super.want(server);
  }

  /** Has the server list them again. */
  refresh(server: string): Promise<void> {
    return this.renew(server, () => call("skills", { server }));
  }
}

export let skillLists: SkillLists;
pageState(() => (skillLists = new SkillLists()));
