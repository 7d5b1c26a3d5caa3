// Parses pasted text for servers while the user types.
import { call } from "$lib/api/client";
import type { ConfigProblem, ImportedServer, ImportNote, ServerConfig } from "$lib/api/generated";
import { joinCommand } from "$lib/format/command-line";
import { textPlace, type TextPlace } from "$lib/format/text-place";
import { app } from "$lib/state/app.svelte";

import { commandValues, type CommandValues } from "./command-check";
import { draftProblems, type DraftProblem } from "./draft-problems";
import { ServerDraft } from "./draft.svelte";
import {
  fillInputs,
  isPasswordMoved,
  isResolved,
  pastedInputs,
  type PastedInput,
} from "./pasted-inputs";
import { reportSecretStorage } from "./secret-notices";

const QUIET_MS = 200;

/** Server found in the text, with the user's edits. */
export class FoundServer {
  readonly draft: ServerDraft;
  /** Values of the command in the text. */
  readonly given: CommandValues;
  /** Entered values of the inputs, by their references in the configuration. */
  inputValues = $state<Record<string, string>>({});
  readonly usable: boolean;
  chosen = $state(true);
  open = $state(false);
  error = $state.raw<unknown>(null);
  readonly #notes: readonly ImportNote[];
  /** Configuration that the notes are about. */
  readonly #before: ServerConfig;

  constructor(server: ImportedServer) {
    this.draft = new ServerDraft(server.name, server.config);
    this.given = commandValues(this.draft);
    this.#notes = server.notes;
    this.#before = this.draft.config;
    this.usable = server.usable;
    this.chosen = server.usable;
  }

  /** Inputs of VS Code that the configuration refers to. */
  get inputs(): PastedInput[] {
    return pastedInputs(this.draft.config, this.#notes);
  }

  /** Configuration with the entered values of the inputs. */
  get config(): ServerConfig {
    return fillInputs(this.draft.config, this.inputValues);
  }

  /** Command line or URL with the entered values, as the consent request will show it. */
  get commandLine(): string {
    const { config } = this;
    return config.type === "http" ? config.url : joinCommand([config.command, ...config.args]);
  }

  /** Notes of the host that the user's edits have not resolved. */
  get notes(): ImportNote[] {
    const { config, draft } = this;
    return this.#notes.filter((note) =>
      // A password that was entered is still stored as plain text.
      note.kind === "plain_password"
        ? !isPasswordMoved(note, draft.config)
        : !isResolved(note, this.#before, config),
    );
  }

  /** Returns the problems that prevent the server from being added. `taken` has the names of the others. */
  problems(taken: string[]): DraftProblem[] {
    const { config } = this;
    return draftProblems(this.draft, taken, config.type === "http" ? config.url : "");
  }
}

/** Returns the problems that prevent the selected servers from being added. */
export function importProblems(found: TextImport): DraftProblem[] {
  const names = app.servers.map((server) => server.name);
  return found.chosen.flatMap((one) => one.problems(found.usedNames(one, names)));
}

export class TextImport {
  text = $state("");
  found = $state.raw<FoundServer[]>([]);
  problem = $state.raw<ConfigProblem | null>(null);
  /** Place of the problem in the text, or `null` if it is unknown. */
  place = $state.raw<TextPlace | null>(null);
  error = $state.raw<unknown>(null);
  busy = $state(false);
  /** Set while the text has changed since it was parsed. */
  pending = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Schedules parsing for when the user stops typing. */
  changed(): void {
    this.pending = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.read(), QUIET_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async read(): Promise<void> {
    const text = this.text;
    this.error = null;
    if (text.trim() === "") {
      this.found = [];
      this.problem = null;
      this.pending = false;
      return;
    }
    try {
      const preview = await call("parse_import", { text });
      if (this.text !== text) return;
      this.found = preview.servers.map((server) => new FoundServer(server));
      // A URL alone contains little, so the fields that it requires are shown at once.
      const [only] = this.found;
      if (only && this.found.length === 1) only.open = only.usable && only.draft.type === "http";
      this.problem = preview.problem;
      const { line = null, column = null } = preview.problem ?? {};
      this.place = line === null ? null : textPlace(text, line, column ?? 1);
    } catch (cause) {
      if (this.text !== text) return;
      this.found = [];
      this.problem = null;
      this.error = cause;
    }
    this.pending = false;
  }

  get chosen(): FoundServer[] {
    return this.found.filter((one) => one.chosen);
  }

  /** Returns the names that a found server must not have: those of existing servers and of the other found servers. */
  usedNames(one: FoundServer, servers: string[]): string[] {
    const others = this.chosen.filter((other) => other !== one);
    return [...servers, ...others.map((other) => other.draft.name.trim())];
  }

  /** Adds the selected servers. Resolves to the names of the added ones. The others remain listed with the reason. */
  async add(): Promise<string[]> {
    this.busy = true;
    const added: FoundServer[] = [];
    for (const one of this.chosen) {
      one.error = null;
      try {
        const name = one.draft.name.trim();
        reportSecretStorage(await call("add_server", { name, config: one.config }));
        added.push(one);
      } catch (cause) {
        one.error = cause;
      }
    }
    this.found = this.found.filter((one) => !added.includes(one));
    this.busy = false;
    return added.map((one) => one.draft.name.trim());
  }
}
