// Extracts tool calls from a server's activity log: requests with their responses.
import type { ActivityBody, ActivityEntry, JsonValue } from "$lib/api/generated";
import { hasRounded, parseJson } from "$lib/format/json";
import { app } from "$lib/state/app.svelte";

/**
 * One request of a call with its response. A call has several if the server requested more input or if it was retried.
 */
export interface PastCall {
  request: ActivityEntry;
  /** The response, if there is one. */
  response: ActivityEntry | null;
}

/** Contents of a request. */
export interface SentCall {
  tool: string;
  arguments: JsonValue;
  /** The protocol revision in the request itself, as in each since 2026-07-28. */
  revision: string | null;
  /** Set if the request continues a call for which the server requested more input. */
  continued: boolean;
  /** Set if the arguments are exactly the sent ones: no redacted secrets and no rounded numbers. */
  exact: boolean;
}

/**
 * Returns the revision of the session of the entry with this sequence number, or `null` if it is unknown: earlier
 * entries may belong to another session.
 */
export function revisionAt(
  entries: readonly ActivityEntry[],
  server: string,
  seq: number,
): string | null {
  const sessionStart =
    entries.findLast((entry) => entry.sent && entry.method === "initialize")?.seq ?? 0;
  return seq > sessionStart ? (app.server(server)?.revision ?? null) : null;
}

const REVISION = "io.modelcontextprotocol/protocolVersion";

/** Returns the calls in these entries, latest first. */
export function callsIn(entries: readonly ActivityEntry[]): PastCall[] {
  const calls: PastCall[] = [];
  /** Calls without a response by id. A restarted server reuses ids. */
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

/** Returns the contents of a call's request, or `null` if the log contains only its beginning. */
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
