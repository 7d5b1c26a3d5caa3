// State of an app that is not shown: the context that it last gave for the model, or the text of the result, and the
// height of its frame. Nothing of the app runs for it.
import type { ConversationItem } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

import { contextItemsOf } from "../conversation/context-items.svelte";
import { isAppUri } from "../tools/apps";
import { contextName } from "./model-context";

/** Maximum number of calls whose heights are retained. The least recently changed are dropped first. */
const MAX_HEIGHTS = 100;

export interface LastState {
  /** `context` is what the app gave for the model. `result` is the text of the call's result. */
  is: "context" | "result";
  text: string;
}

/** Heights that apps requested, in CSS pixels, by the id of the call's item. */
let heights: Map<string, number>;
registerPageState(() => (heights = new Map()));

export function rememberHeight(call: string, height: number): void {
  heights.delete(call);
  heights.set(call, height);
  for (const oldest of heights.keys()) {
    if (heights.size <= MAX_HEIGHTS) break;
    heights.delete(oldest);
  }
}

/** Returns the last requested height of a call's app, or `null` if it was not shown since the window was loaded. */
export function lastHeight(call: string): number | null {
  return heights.get(call) ?? null;
}

/**
 * Returns the last state of a call's app, or `null` if there is none. The context is the last one after the call, sent
 * or waiting in the composer, but before the next call of the tool. `page` is the URI of the app's page, or `null` if
 * the server does not list its tools.
 */
export function lastState(
  { id, items }: { id: string; items: readonly ConversationItem[] },
  call: ConversationItem,
  page: string | null,
): LastState | null {
  const { body } = call;
  if (body.kind !== "tool_call") return null;
  const after = items.slice(items.findIndex((item) => item.id === call.id) + 1);
  const next = after.findIndex(
    ({ body: other }) =>
      other.kind === "tool_call" &&
      other.app === undefined &&
      other.server === body.server &&
      other.tool === body.tool,
  );
  const waiting = contextItemsOf(id).all.filter(({ kind }) => kind === "app");
  const later =
    next < 0 ? [...after, ...waiting.flatMap((one) => one.items)] : after.slice(0, next);
  const contexts = later.flatMap(({ body: other }) =>
    other.kind === "attachment" && other.server === body.server && isAppUri(other.uri)
      ? [other]
      : [],
  );
  // Other tools of the server can have apps, too.
  const named = contextName(body.tool);
  const context = contexts.findLast(({ uri, name }) =>
    page === null ? name === named : uri === page,
  );
  const texts = (list: readonly (string | null)[]) => list.filter(Boolean).join("\n\n");
  // The user can attach the page itself as a resource, which is HTML.
  const plain = context?.contents.filter(({ mimeType }) => mimeType === "text/plain") ?? [];
  const given = texts(plain.map((part) => part.text));
  if (given !== "") return { is: "context", text: given };
  const content = body.result?.content ?? [];
  const text = texts(content.map((part) => (part.type === "text" ? part.text : null)));
  return text === "" ? null : { is: "result", text };
}
