// Labels of the import from other apps.
import type {
  ImportCandidate,
  ImportedValue,
  ImportNote,
  ImportNoteKind,
  ImportPlace,
  ImportStatus,
} from "$lib/api/generated";
import { formatList } from "$lib/format/lists";
import { visibleText } from "$lib/format/text-safety";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";

export function statusLabel(status: ImportStatus): string {
  const words: Record<ImportStatus, () => string> = {
    new: m.import_status_new,
    same: m.import_status_same,
    conflict: m.import_status_conflict,
    unsupported: m.import_status_unsupported,
  };
  return words[status]();
}

/**
 * Returns a text about what the import does with a server of this status. `undefined` if the server is imported
 * unchanged.
 */
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

export function transportLabel(transport: string): string {
  if (transport === "stdio") return m.import_local();
  return transport === "sse" ? m.import_remote_sse() : m.import_remote();
}

/** Returns `true` if the user has to enter the value after the import, because its app stores it elsewhere. */
export function isValueMissing({ kind, requiresInput }: ImportedValue): boolean {
  return requiresInput || kind === "reference";
}

/** Returns `true` if the server needs no further values after the import. */
export function isComplete({ env, headers, placeholders }: ImportCandidate): boolean {
  return placeholders.length === 0 && ![...env, ...headers].some(isValueMissing);
}

/** Returns a text about what the import does with the value of a variable or header. */
export function valueText({ kind, requiresInput }: ImportedValue): string {
  if (requiresInput) return m.import_value_to_enter();
  switch (kind) {
    case "secret":
      return m.import_value_secret();
    case "literal":
      return m.import_value_literal();
    case "reference":
      return m.import_value_reference();
  }
}

export function importPlaceLabel(place: ImportPlace): string {
  switch (place.is) {
    case "command":
      return m.import_place_command();
    case "argument":
      return m.import_place_argument({ number: place.number });
    case "folder":
      return m.import_place_folder();
    case "url":
      return m.import_place_url();
    case "value":
      return visibleText(place.name);
    case "client_secret":
      return m.import_place_client_secret();
  }
}

/** Kinds of notes that are omitted from the list, because the row already shows their content. */
const SHOWN_ELSEWHERE: ReadonlySet<ImportNoteKind> = new Set([
  ...(["off", "also_in", "denied_tools", "exposed_tools"] as const),
  ...(["name_taken", "placeholder", "as_written", "enter_value"] as const),
]);

export function notesShownInList(notes: ImportNote[]): ImportNote[] {
  return notes.filter(({ kind }) => !SHOWN_ELSEWHERE.has(kind));
}

/** Returns the translated note, or `undefined` if it exists in English only. */
export function noteText({ kind, names }: ImportNote): string | undefined {
  const [name = "", second] = names;
  const list = (names: string[]) => formatList(names, languageTag());
  switch (kind) {
    case "name_shared":
      return m.import_note_name_shared({ name });
    case "set_up_here":
      return m.import_note_set_up_here({ name });
    case "project":
      return m.import_note_project({ folder: name });
    case "not_used":
      return m.import_note_not_used({ names: list(names) });
    case "approvals":
      return m.import_note_approvals({ names: list(names) });
    case "secret_removed":
      return m.import_note_secret_left_out();
    case "bridge":
      return m.import_note_bridge({ program: name });
    case "windows":
      return m.import_note_windows();
    case "input":
      return second === undefined
        ? m.import_note_input({ placeholder: name })
        : m.import_note_input_described({ placeholder: name, description: second });
    case "not_followed":
      return m.import_note_not_followed({ name });
    case "env_file":
      return second === undefined
        ? m.import_note_env_file({ file: name })
        : m.import_note_env_file_names({ file: name, names: list(names.slice(1)) });
    case "merged":
      return m.import_note_merged({ names: list(names) });
    case "different":
      return m.import_note_different({ names: list(names) });
    case "other_list":
      return m.import_note_other_list({ name });
    default:
      return undefined;
  }
}
