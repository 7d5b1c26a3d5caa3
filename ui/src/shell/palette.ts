// Entries and search of the command palette.
import type { Excerpt, FoundItem, Models, Settings } from "$lib/api/generated";
import { fuzzyFilter } from "$lib/format/fuzzy";
import { app } from "$lib/state/app.svelte";
import { catalogs } from "$lib/state/catalogs.svelte";
import { router } from "$lib/state/router.svelte";

import { chatModels } from "../models/chat-models";
import { m } from "../paraglide/messages";
import { signIn } from "../sign-in/actions";

import {
  setConversationModel,
  changeSettings,
  newConversationWithModel,
  serverCommand,
} from "./actions";
import { openSearchHit } from "./history-search.svelte";
import { windowActions } from "./window-actions";

export interface PaletteEntry {
  id: string;
  group:
    "actions" | "settings" | "servers" | "conversations" | "tools" | "prompts" | "models" | "said";
  label: string;
  /** Secondary text next to the label, such as the name of the server. */
  context?: string;
  /** Name of a tool or prompt in the protocol, if the label is its title. */
  name?: string;
  /** Other words for what the entry does. One of them must begin with the query. */
  words?: string[];
  /** Excerpt of a message that matches the search. */
  excerpt?: Excerpt;
  run: () => unknown;
}

/** Returns all entries in the order of the groups. Names of tools and prompts are from the servers. */
export function allEntries(known: Models | null): PaletteEntry[] {
  return [
    ...[...actionEntries(), ...serverEntries(), ...conversationEntries()],
    ...[...toolAndPromptEntries(), ...modelEntries(known), ...settingEntries()],
  ];
}

function actionEntries(): PaletteEntry[] {
  return windowActions()
    .filter((action) => !action.isUnlisted)
    .map(({ id, label, words, run }) => ({
      ...{ id: `action ${id}`, group: "actions", label, run },
      words: words?.split(", "),
    }));
}

function settingEntries(): PaletteEntry[] {
  const choices: [string, Partial<Settings>][] = [
    [m.shell_set_theme_system(), { theme: "system" }],
    [m.shell_set_theme_light(), { theme: "light" }],
    [m.shell_set_theme_dark(), { theme: "dark" }],
    [m.shell_set_language_system(), { language: "system" }],
    [m.shell_set_language_en(), { language: "en" }],
    [m.shell_set_language_zh(), { language: "zh" }],
    app.settings.announce
      ? [m.shell_set_announce_off(), { announce: false }]
      : [m.shell_set_announce_on(), { announce: true }],
  ];
  return choices.map(([label, change], i) => ({
    id: `setting ${i}`,
    group: "settings",
    label,
    run: () => changeSettings(change),
  }));
}

function serverEntries(): PaletteEntry[] {
  return app.servers.flatMap(({ name, state, commandLine }) => {
    const entry = (
      id: string,
      label: string,
      run: () => unknown,
      context?: string,
    ): PaletteEntry => ({
      id: `server ${id} ${name}`,
      group: "servers",
      label,
      run,
      context,
    });
    const open = entry("open", name, () => router.server(name), commandLine);
    const activity = entry("activity", m.shell_server_activity({ name }), () =>
      router.server(name, "activity"),
    );
    const command =
      state.is === "ready"
        ? [
            entry("restart", m.shell_restart_server({ name }), () =>
              serverCommand("restart_server", name),
            ),
            entry("stop", m.shell_stop_server({ name }), () => serverCommand("stop_server", name)),
          ]
        : state.is === "needs_sign_in"
          ? [entry("sign-in", m.shell_sign_in_to({ name }), () => signIn(name))]
          : state.is === "stopped" || state.is === "failed"
            ? [
                entry("start", m.shell_start_server({ name }), () => {
                  router.server(name);
                  void serverCommand("start_server", name);
                }),
              ]
            : [];
    return [open, ...command, activity];
  });
}

function conversationEntries(): PaletteEntry[] {
  return app.conversations.map(({ id, title }) => ({
    id: `conversation ${id}`,
    group: "conversations",
    label: title,
    run: () => router.go({ at: "conversation", id }),
  }));
}

function toolAndPromptEntries(): PaletteEntry[] {
  const tools: PaletteEntry[] = [];
  const prompts: PaletteEntry[] = [];
  for (const { name: server } of app.servers) {
    const catalog = catalogs.get(server).value;
    for (const tool of catalog?.tools ?? []) {
      tools.push({
        id: `tool ${server} ${tool.name}`,
        group: "tools",
        label: tool.title ?? tool.name,
        name: tool.name,
        context: server,
        run: () => router.server(server, "tools", tool.name),
      });
    }
    for (const prompt of catalog?.prompts ?? []) {
      prompts.push({
        id: `prompt ${server} ${prompt.name}`,
        group: "prompts",
        label: prompt.title ?? prompt.name,
        name: prompt.name,
        context: server,
        run: () => router.server(server, "prompts", prompt.name),
      });
    }
  }
  return [...tools, ...prompts];
}

/** Returns an entry for each available model, which selects it for the open conversation or a new one. */
function modelEntries(known: Models | null): PaletteEntry[] {
  const view = router.current;
  const here = view.at === "conversation" ? view.id : null;
  return (known?.providers ?? []).flatMap((provider) =>
    chatModels(provider).map(({ id, name }) => {
      const model = { provider: provider.id, model: id };
      const words = { model: name || id };
      return {
        id: `model ${provider.id} ${id}`,
        group: "models",
        label: here === null ? m.shell_begin_with_model(words) : m.shell_answer_with_model(words),
        name: id,
        context: provider.name,
        run: () =>
          here === null ? newConversationWithModel(model) : setConversationModel(here, model),
      };
    }),
  );
}

/** Returns the entries for results of the history search. */
export function historyEntries(found: FoundItem[]): PaletteEntry[] {
  return found.map((one) => ({
    id: `said ${one.number}`,
    group: "said",
    label: one.title,
    excerpt: one.excerpt,
    run: () => openSearchHit(one),
  }));
}

export interface PaletteGroup {
  group: PaletteEntry["group"];
  entries: PaletteEntry[];
}

/** Maximum number of entries in all groups together. */
const MAX_ENTRIES = 60;
/** Maximum number of entries per group while the query is empty. */
const MOST_UNASKED = 8;

/**
 * Returns the texts of an entry that the query is compared with: its label, and for tools and prompts also the name and
 * the label after the name of the server.
 */
function searched({ label, name, context }: PaletteEntry): string[] {
  return name === undefined ? [label] : [label, name, `${context} ${label}`];
}

/** Returns the entries that match the query, by group. The group with the best match is first. */
export function searchPalette(query: string, entries: PaletteEntry[]): PaletteGroup[] {
  const hasQuery = query.trim() !== "";
  const groups = new Map<PaletteEntry["group"], PaletteEntry[]>();
  const beginning = query.trim().toLowerCase();
  const found = fuzzyFilter(query, entries, (entry) => [
    ...searched(entry),
    ...(entry.words ?? []).filter((word) => word.toLowerCase().startsWith(beginning)),
  ]);
  let count = 0;
  for (const entry of found) {
    const group = groups.get(entry.group) ?? [];
    if (count >= MAX_ENTRIES || (!hasQuery && group.length >= MOST_UNASKED)) continue;
    group.push(entry);
    groups.set(entry.group, group);
    count += 1;
  }
  return [...groups].map(([group, list]) => ({ group, entries: list }));
}
