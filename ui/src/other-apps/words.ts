// The words for servers of other apps.
import type { ImportCandidate, ImportedValue, ImportStatus } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";

export function statusWord(status: ImportStatus): string {
  const words: Record<ImportStatus, () => string> = {
    new: m.import_status_new,
    same: m.import_status_same,
    conflict: m.import_status_conflict,
    unsupported: m.import_status_unsupported,
  };
  return words[status]();
}

/** The consequence of the status; nothing if the server can be imported as it is. */
export function statusText({ status, name }: ImportCandidate): string | undefined {
  switch (status) {
    case "new":
      return undefined;
    case "same":
      return m.import_same_text();
    case "conflict":
      return m.import_conflict_text({ name: visibleText(name) });
    case "unsupported":
      return m.import_unsupported_text();
  }
}

export function transportWord(transport: string): string {
  if (transport === "stdio") return m.import_local();
  return transport === "sse" ? m.import_remote_sse() : m.import_remote();
}

/** Says what becomes of the value of a variable or header. */
export function valueText({ kind, toEnter }: ImportedValue): string {
  if (toEnter) return m.import_value_to_enter();
  switch (kind) {
    case "secret":
      return m.import_value_secret();
    case "literal":
      return m.import_value_literal();
    case "reference":
      return m.import_value_reference();
  }
}

/** The host's notes without those that repeat what the page says in its own words. */
export function otherNotes(server: ImportCandidate): string[] {
  const repeated: [boolean, RegExp][] = [
    [server.off, /^it is turned off there$/],
    [server.origins.length > 1, /^also in /],
    [server.deniedTools.length > 0, /^these tools are denied, as in /],
    [server.exposedTools.length > 0, /^its app offers only these tools/],
    [server.status === "conflict", / is another server here$/],
  ];
  const shown = repeated.filter(([isShown]) => isShown).map(([, words]) => words);
  return server.notes.filter((note) => !shown.some((words) => words.test(note)));
}
