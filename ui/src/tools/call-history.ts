// Extracts tool calls from a server's activity log: requests with their responses.
import type { ActivityBody, ActivityEntry, JsonValue } from "$lib/api/generated";
import { hasPossiblyRounded, parseJson } from "$lib/format/json";
import { app } from "$lib/state/app.svelte";

/**
 * Request of a call with its response. A call has several requests if the server required more input or the host
 * retried it.
 */
export interface PastCall {
  request: ActivityEntry;
  /** Entry of the response, or `null` if there is none. */
  response: ActivityEntry | null;
}

/** Content of a `tools/call` request. */
export interface SentCall {
  tool: string;
  arguments: JsonValue;
  /** Protocol revision in the request, which each request contains since 2026-07-28. `null` in older revisions. */
  revision: string | null;
  /** Set if the request continues a call, after the server required more input. */
  continued: boolean;
  /** Set if the arguments are complete and exact: without redacted secrets and rounded numbers. */
  exact: boolean;
}

/**
 * Returns the protocol revision of the session that contains the entry `seq`. `null` if it is unknown, because earlier
 * entries may belong to another session.
 */
export function sessionRevisionAt(
  entries: readonly ActivityEntry[],
  server: string,
  seq: number,
): string | null {
  const sessionStart =
    entries.findLast((entry) => entry.sent && entry.method === "initialize")?.seq ?? 0;
  return seq > sessionStart ? (app.server(server)?.revision ?? null) : null;
}

const REVISION = "io.modelcontextprotocol/protocolVersion";

/** Returns the tool calls in these entries, latest first. */
export function toolCallsIn(entries: readonly ActivityEntry[]): PastCall[] {
  const calls: PastCall[] = [];
  /** Calls without a response so far, by request id. A restarted server reuses ids. */
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

/** Returns the content of a call's request. `null` if the log contains only the beginning of the request. */
export function parseSentCall({ text, truncated, redacted }: ActivityBody): SentCall | null {
  const parsed = truncated ? null : parseJson(text);
  const params = parsed?.ok ? memberOf(parsed.value, "params") : undefined;
  const tool = memberOf(params, "name");
  if (typeof tool !== "string") return null;
  const sent = (memberOf(params, "arguments") ?? {}) as JsonValue;
  const revision = memberOf(memberOf(params, "_meta"), REVISION);
  return {
    tool,
    arguments: sent,
    revision: typeof revision === "string" ? revision : null,
    continued: ["inputResponses", "requestState"].some(
      (name) => memberOf(params, name) !== undefined,
    ),
    exact: !hasPossiblyRounded(sent) && !redacted,
  };
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
