// Translated notes of an install plan.
import type { InstallNote, PlanPlace } from "$lib/api/generated";
import { formatList } from "$lib/format/lists";
import { languageTag } from "$lib/state/locale.svelte";

import { noteText } from "../other-apps/import-labels";
import { m } from "../paraglide/messages";

import { defaultProblemText } from "./install-labels";

function planPlaceLabel(place: PlanPlace): string {
  switch (place.is) {
    case "url":
      return m.installs_place_url();
    case "argument":
      return m.installs_place_argument({ name: place.name });
    case "variable":
      return m.installs_place_variable({ name: place.name });
    case "header":
      return m.installs_place_header({ name: place.name });
    case "input":
      return m.installs_place_input({ name: place.name });
  }
}

/** Returns the note in the language of the page. Contains texts of the publisher. */
export function installNoteText(note: InstallNote): string {
  const list = (names: string[]) => formatList(names, languageTag());
  switch (note.is) {
    case "other_package_registry":
      return m.installs_note_other_package_registry({ registry: note.registry });
    case "no_version":
      return m.installs_note_no_version({ program: note.program });
    case "unpinned_tag":
      return m.installs_note_unpinned_tag({ tag: note.tag });
    case "no_tag":
      return m.installs_note_no_tag();
    case "other_program":
      return m.installs_note_other_program({ named: note.named, used: note.used });
    case "hash_not_used":
      return m.installs_note_hash_not_used({ program: note.program });
    case "code_variables":
      return m.installs_note_code_variables({ names: list(note.names) });
    case "launcher_arguments":
      return m.installs_note_launcher_arguments({ program: note.program });
    case "step_afterwards": {
      const description = note.description ?? m.installs_note_step_own();
      return note.command === null
        ? m.installs_note_step({ description })
        : m.installs_note_step_command({ description, command: note.command });
    }
    case "public_secret":
      return m.installs_note_public_secret({ place: planPlaceLabel(note.place) });
    case "undeclared_input": {
      const place = planPlaceLabel(note.place);
      return m.installs_note_undeclared_input({ place, variable: note.variable });
    }
    case "invisible_characters": {
      const place = planPlaceLabel(note.place);
      return m.installs_note_invisible_characters({ place, text: note.text });
    }
    case "default_omitted": {
      const reason = defaultProblemText(note.problem);
      return m.installs_note_default_omitted({ input: note.input, reason });
    }
    case "unencrypted":
      return m.installs_note_unencrypted();
    case "url_from_input":
      return m.installs_note_url_from_input();
    case "private_url":
      return m.installs_note_private_url();
    case "bridge":
      return noteText(note.note) ?? note.note.text;
    case "missing_setting":
      return m.installs_note_missing_setting({ text: note.text, setting: note.setting });
    case "first_value_only": {
      const { variable, setting } = note;
      return m.installs_note_first_value_only({ variable, setting });
    }
    case "repeated_argument": {
      const { argument, setting } = note;
      return m.installs_note_repeated_argument({ argument, setting });
    }
    case "unknown_reference":
      return m.installs_note_unknown_reference({ text: note.text });
    case "loads_over_network":
      return m.installs_note_loads_over_network({ program: note.program });
    case "program_outside":
      return m.installs_note_program_outside({ program: note.program });
    case "uv_packages":
      return m.installs_note_uv_packages();
    case "other_platforms": {
      const platforms = list(note.platforms);
      return m.installs_note_other_platforms({ platforms, own: note.own });
    }
    case "runtime_needed":
      return m.installs_note_runtime_needed({ runtime: note.runtime, range: note.range });
    case "runtime_mismatch": {
      const { runtime, range, version } = note;
      return m.installs_note_runtime_mismatch({ runtime, range, version });
    }
    case "runtime_unclear": {
      const { runtime, range, version } = note;
      return m.installs_note_runtime_unclear({ runtime, range, version });
    }
  }
}
