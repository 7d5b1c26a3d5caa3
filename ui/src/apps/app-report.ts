// Report about a shown app as plain text, for a bug report to the developers of its server.
import { app } from "$lib/state/app.svelte";

import type { AppDiagnostics, BlockedRequest } from "./app-diagnostics.svelte";
import type { AppLogEntry } from "./app-log.svelte";
import type { AppSession } from "./app-session.svelte";

/** Maximum number of characters of an entry in the report. */
const MAX_TEXT = 2_000;

/** Returns the report in English. `policy` is the Content Security Policy of the page, or `null` if it is unknown. */
export function appReport(session: AppSession, policy: string | null): string {
  const { subject, log, phase } = session;
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
    ...diagnosticLines(session.diagnostics),
    "",
    "Messages:",
    ...log.entries.map(entryLine),
  ];
  return lines.join("\n");
}

function diagnosticLines(diagnostics: AppDiagnostics): string[] {
  const { blocked, unlisted, outputs, isWebglMissing, dropped } = diagnostics;
  return [
    "Blocked requests:",
    ...blocked.map(blockedLine),
    ...(unlisted > 0 ? [`${unlisted} more`] : []),
    "",
    "Console output:",
    ...(isWebglMissing ? ["WebGL is missing"] : []),
    ...outputs.map(({ at, level, text }) => `${timeText(at)} ${level}: ${shortened(text)}`),
    ...(dropped > 0 ? [`${dropped} reports were dropped`] : []),
  ];
}

function blockedLine({ directive, address, count }: BlockedRequest): string {
  return `${shortened(directive)} ${shortened(address)} (${count} times)`;
}

function entryLine({ at, kind, direction, name, text, cut }: AppLogEntry): string {
  const arrow = direction === "from_page" ? "app > host" : "host > app";
  const head = [timeText(at), arrow, kind, name].filter((part) => part !== "");
  return `${head.join(" ")}: ${shortened(text, cut)}`;
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}

/** Returns the beginning of a text, with the number of omitted characters. `cut` were omitted before. */
function shortened(text: string, cut = 0): string {
  const shown = text.slice(0, MAX_TEXT);
  const hidden = cut + text.length - shown.length;
  // Untrusted text must not look like another entry of the report.
  const lines = shown.split(/\r\n|[\n\r\u2028\u2029]/).join("\n    ");
  return hidden === 0 ? lines : `${lines} [${hidden} more characters]`;
}
