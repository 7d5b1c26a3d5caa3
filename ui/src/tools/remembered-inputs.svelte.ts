// What was filled in for a tool and its last run, so that both are there when the tool is looked at again.

import type { JsonValue } from "$lib/api/generated";
import { pageState } from "$lib/page-state";
import { SvelteMap } from "svelte/reactivity";

import type { ToolRun } from "./tool-run.svelte";

/** How many tools are remembered. */
export const MAX_REMEMBERED = 50;

interface Remembered {
  value: JsonValue | undefined;
  run: ToolRun | null;
  /** Whether the user filled something in that was not sent since. */
  edited: boolean;
}

const tools = new SvelteMap<string, Remembered>();
pageState(() => tools.clear());

function keyOf(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}

/** What is remembered of a tool. */
export function remembered(server: string, tool: string): Remembered {
  return tools.get(keyOf(server, tool)) ?? { value: undefined, run: null, edited: false };
}

/** Remembers it; the tool that was used longest ago is forgotten for it when there are too many. */
export function remember(server: string, tool: string, what: Partial<Remembered>): void {
  const key = keyOf(server, tool);
  const before = remembered(server, tool);
  tools.delete(key);
  tools.set(key, { ...before, ...what });
  for (const oldest of tools.keys()) {
    if (tools.size <= MAX_REMEMBERED) break;
    tools.delete(oldest);
  }
}
