// Form values and the last run of each tool, restored when the tool is opened again.

import type { JsonValue } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { SvelteMap } from "svelte/reactivity";

import type { ToolRun } from "./tool-run.svelte";

/** Maximum number of tools whose state is remembered. */
export const MAX_REMEMBERED_TOOLS = 50;

interface Remembered {
  value: JsonValue | undefined;
  run: ToolRun | null;
  /** Set if the user has edited the form since the last call. */
  edited: boolean;
}

const tools = new SvelteMap<string, Remembered>();
registerPageState(() => tools.clear());

function keyOf(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

/** Returns the remembered form values and last run of a tool. */
export function rememberedState(server: string, tool: string): Remembered {
  return tools.get(keyOf(server, tool)) ?? { value: undefined, run: null, edited: false };
}

/** Stores some fields of a tool's state. Drops the least recently used tool if there are too many. */
export function rememberState(server: string, tool: string, what: Partial<Remembered>): void {
  const key = keyOf(server, tool);
  const previous = rememberedState(server, tool);
  tools.delete(key);
  tools.set(key, { ...previous, ...what });
  for (const oldest of tools.keys()) {
    if (tools.size <= MAX_REMEMBERED_TOOLS) break;
    tools.delete(oldest);
  }
}
