// Labels of the import from other apps.
import type {
  ImportCandidate,
  ImportedValue,
  ImportedValueSource,
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

/** Returns `true` if the user has to enter the value after the import, unless the import takes it from its source. */
export function isValueMissing({ kind, requiresInput }: ImportedValue): boolean {
  return requiresInput || kind === "reference";
}

/** Returns the values that the user has to enter after the import, which has taken those with the names `taken`. */
export function missingValues(
  { env, headers }: ImportCandidate,
  taken: readonly string[],
): ImportedValue[] {
  return [...env, ...headers].filter(
    (value) => isValueMissing(value) && !taken.includes(value.name),
  );
}

/** Returns `true` if the server needs no further values after the import. */
export function isComplete(server: ImportCandidate, taken: readonly string[]): boolean {
  return server.placeholders.length === 0 && missingValues(server, taken).length === 0;
}

/** Returns the label of the choice to take a value from its source. */
export function sourceLabel(source: ImportedValueSource): string {
  switch (source.is) {
    case "environment":
      return m.import_take_environment({ names: joinNames(source.variables.map(visibleText)) });
    case "file":
      return m.import_take_file({ file: visibleText(source.path) });
  }
}

/** Returns a text about what the import does with a value that it takes from its source. */
export function sourceHint({ is }: ImportedValueSource): string {
  switch (is) {
    case "environment":
      return m.import_taken_environment();
    case "file":
      return m.import_taken_file();
  }
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

/** Values that the translation of a note may contain. */
interface NoteValues {
  name: string;
  /** Second name, or `undefined` if the note has only one. */
  second: string | undefined;
  names: string[];
  /** Label of the part of the configuration that the note is about. */
  place: string;
}

function joinNames(names: string[]): string {
  return formatList(names, languageTag());
}

/** Translations of all notes but reasons of failures, which exist in English only. */
const NOTE_TEXTS: Record<Exclude<ImportNoteKind, "reason">, (values: NoteValues) => string> = {
  off: () => m.import_note_off(),
  also_in: ({ name, second = "" }) => m.import_note_also_in({ app: name, name: second }),
  denied_tools: ({ names }) => m.import_note_denied_tools({ names: joinNames(names) }),
  exposed_tools: ({ names }) =>
    names.length === 0
      ? m.import_note_exposed_none()
      : m.import_note_exposed_tools({ names: joinNames(names) }),
  name_taken: ({ name }) => m.import_note_name_taken({ name }),
  name_shared: ({ name }) => m.import_note_name_shared({ name }),
  set_up_here: ({ name }) => m.import_note_set_up_here({ name }),
  project: ({ name }) => m.import_note_project({ folder: name }),
  not_used: ({ names }) => m.import_note_not_used({ names: joinNames(names) }),
  omitted: ({ name, second = "" }) => m.import_note_omitted({ name, reason: second }),
  approvals: ({ names }) => m.import_note_approvals({ names: joinNames(names) }),
  secret_removed: () => m.import_note_secret_left_out(),
  secret_name: () => m.import_note_secret_name(),
  secret_tool: () => m.import_note_secret_tool(),
  bridge: ({ name }) => m.import_note_bridge({ program: name }),
  windows: () => m.import_note_windows(),
  command_split: () => m.import_note_command_split(),
  unquoted: ({ name }) => m.import_note_unquoted({ name }),
  input: ({ name, second }) =>
    second === undefined
      ? m.import_note_input({ placeholder: name })
      : m.import_note_input_described({ placeholder: name, description: second }),
  command_input: ({ name, second }) =>
    second === undefined
      ? m.import_note_command_input({ placeholder: name })
      : m.import_note_command_input_described({ placeholder: name, description: second }),
  plain_password: ({ name, place }) => m.import_note_plain_password({ place, placeholder: name }),
  more_plain_passwords: ({ name }) => m.import_note_more_plain_passwords({ count: Number(name) }),
  enter_value: ({ names }) => m.import_note_enter_value({ names: joinNames(names) }),
  not_followed: ({ name }) => m.import_note_not_followed({ name }),
  headers_program: ({ name, names }) =>
    names.length === 0
      ? m.import_note_headers_program_unnamed()
      : m.import_note_headers_program({ program: name }),
  header_without_value: () => m.import_note_header_without_value(),
  codex_token: () => m.import_note_codex_token(),
  url_without_type: () => m.import_note_url_without_type(),
  other_url_key: () => m.import_note_other_url_key(),
  placeholder: ({ name, place }) => m.import_note_placeholder({ place, text: name }),
  as_written: ({ name, place }) => m.import_note_as_written({ place, text: name }),
  empty: ({ place }) => m.import_note_empty({ place }),
  more_placeholders: ({ name }) => m.import_note_more_placeholders({ count: Number(name) }),
  env_file: ({ name, names }) =>
    names.length < 2
      ? m.import_note_env_file({ file: name })
      : m.import_note_env_file_names({ file: name, names: joinNames(names.slice(1)) }),
  merged: ({ names }) => m.import_note_merged({ names: joinNames(names) }),
  different: ({ names }) => m.import_note_different({ names: joinNames(names) }),
  other_list: ({ name }) => m.import_note_other_list({ name }),
  link_keys: ({ names }) => m.import_note_link_keys({ names: joinNames(names) }),
  link_name: ({ name }) => m.import_note_link_name({ name }),
  link_secrets: ({ names }) => m.import_note_link_secrets({ names: joinNames(names) }),
  unencrypted: () => m.import_note_unencrypted(),
  this_computer: () => m.import_note_this_computer(),
  own_network: () => m.import_note_own_network(),
  lookalike_host: ({ name }) => m.import_note_lookalike_host({ host: name }),
  shell: ({ name, place }) => m.import_note_shell({ place, program: name }),
  more_rights: ({ name, place }) => m.import_note_more_rights({ place, program: name }),
  code_option: ({ name, place }) => m.import_note_code_option({ place, option: name }),
  source_option: ({ name, place }) => m.import_note_source_option({ place, option: name }),
  access_option: ({ name, place }) => m.import_note_access_option({ place, option: name }),
  package_address: ({ place }) => m.import_note_package_address({ place }),
  code_variables: ({ names }) => m.import_note_code_variables({ names: joinNames(names) }),
  more_warnings: ({ name }) => m.import_note_more_warnings({ count: Number(name) }),
};

/** Returns the translated note, or `undefined` if it exists in English only. */
export function noteText({ kind, place, names }: ImportNote): string | undefined {
  if (kind === "reason") return undefined;
  const [name = "", second] = names;
  const label = place === null ? "" : importPlaceLabel(place);
  return NOTE_TEXTS[kind]({ name, second, names, place: label });
}
