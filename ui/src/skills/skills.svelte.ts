// Skills of each server, listed on first use and again on use after its offers changed.
import { SvelteSet } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type { Server, Skill, Skills } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";
import { PerServer } from "$lib/state/per-server.svelte";

const EXTENSION = "extensions.io.modelcontextprotocol/skills";

/** Returns `true` if the server declares the skills extension. */
export function hasSkills(server: Server | undefined): boolean {
  return server?.capabilities.includes(EXTENSION) ?? false;
}

class SkillLists extends PerServer<Skills> {
  /** Names of the servers whose skills may have changed since they were listed. */
  #outdated = new SvelteSet<string>();

  constructor() {
    super(listSkills);
    app.onEvent((event) => {
      // The extension has no notification. The files of skills are resources, whose changes are announced.
      if (event.type === "catalog_changed" && this.isKnown(event.server)) {
        this.#outdated.add(event.server);
      }
    });
  }

  /**
   * Reads the list if it was not read yet or may be outdated. Called only while the list is shown, because each read is
   * a request to the server.
   */
  override request(server: string): void {
    if (!hasSkills(app.server(server))) return;
    const isOutdated = this.#outdated.has(server);
    if (isOutdated) this.#outdated.delete(server);
    if (isOutdated && this.isKnown(server)) void this.read(server);
    else super.request(server);
  }

  /** Requests the list of skills from the server again. */
  refresh(server: string): Promise<void> {
    return this.renew(server, () => call("list_skills", { server }));
  }
}

async function listSkills(server: string): Promise<Skills> {
  const list = await call("list_skills", { server });
  return reuseUnchanged(list, skillLists.get(server).value);
}

/** Returns the list with the previous objects of unchanged skills, so that the view of an open skill is not reset. */
function reuseUnchanged(list: Skills, known: Skills | null): Skills {
  const knownByUri = new Map((known?.skills ?? []).map((skill) => [skill.uri, skill]));
  const reused = (skill: Skill): Skill => {
    const previous = knownByUri.get(skill.uri);
    // Files without digests may have changed.
    const isSame = skill.files !== null && JSON.stringify(previous) === JSON.stringify(skill);
    return isSame && previous !== undefined ? previous : skill;
  };
  return { ...list, skills: list.skills.map(reused) };
}

export let skillLists: SkillLists;
registerPageState(() => (skillLists = new SkillLists()));
