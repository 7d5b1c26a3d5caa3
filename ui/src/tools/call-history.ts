// The calls of tools in a server's activity: what was sent, and what came back for it.
import type { ActivityBody, ActivityEntry, JsonValue } from "$lib/api/generated";
import { hasRounded, parseJson } from "$lib/format/json";
import { app } from "$lib/state/app.svelte";

/**
 * One request of a call with its response. A call has several if the server requested more input or if it was retried.
 */
export interface PastCall {
  request: ActivityEntry;
  /** What came back, if anything did. */
  response: ActivityEntry | null;
}

/** What a request says. */
export interface SentCall {
  tool: string;
  arguments: JsonValue;
  /** The revision that the request itself names, as each does since 2026-07-28. */
  revision: string | null;
  /** Whether it continues a call for which the server had asked for something more. */
  continued: boolean;
  /** Whether the arguments are those that were sent: no secret in them is replaced, and no number rounded. */
  exact: boolean;
}

/**
 * Returns the revision of the session that the entry with this number belongs to, or `null` if it is not known: entries before the
 * session in use may have been of another one.
 */
export function revisionAt(
  entries: readonly ActivityEntry[],
  server: string,
  seq: number,
): string | null {
  const began = entries.findLast((entry) => entry.sent && entry.method === "initialize")?.seq ?? 0;
  return seq > began ? (app.server(server)?.revision ?? null) : null;
}

const REVISION = "io.modelcontextprotocol/protocolVersion";

/** The calls in these entries, the latest first. */
export function callsIn(entries: readonly ActivityEntry[]): PastCall[] {
  const calls: PastCall[] = [];
  /** By id, those without an answer: a server that was started again begins to count anew. */
  const open = new Map<string, PastCall>();
  for (const entry of entries) {
    if (entry.id === null) continue;
    if (entry.sent && entry.kind === "request") {
      open.delete(entry.id);
      if (entry.method !== "tools/call") continue;
      const call = { request: entry, response: null };
      calls.push(call);
      open.set(entry.id, call);
    } else if (!entry.sent && (entry.kind === "response" || entry.kind === "error")) {
      const call = open.get(entry.id);
      if (call) call.response = entry;
      open.delete(entry.id);
    }
  }
  return calls.reverse();
}

/** What a request for a call says; nothing where the log has no more of it than its beginning. */
export function sentCall({ text, truncated, redacted }: ActivityBody): SentCall | null {
  const parsed = truncated ? null : parseJson(text);
  const params = parsed?.ok ? member(parsed.value, "params") : undefined;
  const tool = member(params, "name");
  if (typeof tool !== "string") return null;
  const sent = (member(params, "arguments") ?? {}) as JsonValue;
  const revision = member(member(params, "_meta"), REVISION);
  return {
    tool,
    arguments: sent,
    revision: typeof revision === "string" ? revision : null,
    continued: ["inputResponses", "requestState"].some(
      (name) => member(params, name) !== undefined,
    ),
    exact: !hasRounded(sent) && !redacted,
  };
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
