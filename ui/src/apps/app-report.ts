// Report about a shown app as plain text, for a bug report to the developers of its server.
import { app } from "$lib/state/app.svelte";

import type { AppLogEntry } from "./app-log.svelte";
import type { AppSession } from "./app-session.svelte";

/** Maximum number of characters of an entry in the report. */
const MAX_TEXT = 2_000;

/** Returns the report in English. `policy` is the Content Security Policy of the page, or `null` if it is unknown. */
export function appReport({ subject, log, phase }: AppSession, policy: string | null): string {
  const server = app.server(subject.server);
  const lines = [
    `Drawbridge ${app.version}`,
    `Server: ${server?.claims?.name ?? subject.server} ${server?.claims?.version ?? ""}`.trim(),
    `Tool: ${subject.tool}`,
    `Page: ${subject.uri}`,
    `State: ${phase}`,
    `Faults: ${log.faults}`,
    `Content-Security-Policy: ${policy ?? "unknown"}`,
    "",
    ...log.entries.map(entryLine),
  ];
  return lines.join("\n");
}

function entryLine({ at, kind, direction, name, text, cut }: AppLogEntry): string {
  const arrow = direction === "from_page" ? "app > host" : "host > app";
  const shown = text.slice(0, MAX_TEXT);
  const hidden = cut + text.length - shown.length;
  const more = hidden === 0 ? "" : ` [${hidden} more characters]`;
  const head = [new Date(at).toISOString(), arrow, kind, name].filter((part) => part !== "");
  return `${head.join(" ")}: ${shown}${more}`;
}
