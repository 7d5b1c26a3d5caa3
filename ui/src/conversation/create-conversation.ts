// Creates conversations with the model, servers and tools of the previous ones.
import { call } from "$lib/api/client";
import {
  MAX_CONVERSATION_SERVERS,
  type ConversationSettings,
  type ModelRef,
  type OfferedServer,
} from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

/** Maximum number of conversations that are read to find the model that was used last. */
const MAX_READS = 10;

/**
 * Creates a conversation and returns its id. Its model is the default model, or else the one that was used last. It may
 * use the servers of the previous conversation, which may be none. The first conversation gets the running servers with
 * their reviewed tools. Calls require consent as usual. Rejects with an `ApiError`.
 */
export async function createConversation(
  title: string,
  changes: Partial<ConversationSettings> = {},
): Promise<string> {
  const previous = previousSettings();
  const [previousServers, model] = await Promise.all([
    previousConversationServers(previous),
    changes.model === undefined ? lastUsedModel(previous) : null,
  ]);
  const { id, settings } = await call("create_conversation", { title });
  const servers = previousServers ?? runningServers();
  const known = { ...(model && { model }), ...changes };
  const all = { ...settings, servers: servers.slice(0, MAX_CONVERSATION_SERVERS), ...known };
  if (servers.length > 0 || Object.keys(known).length > 0)
    await call("set_conversation", { conversation: id, settings: all });
  return id;
}

/** A lazy read of a conversation's settings. Resolves to `null` if it can't be read. */
type SettingsRead = () => Promise<ConversationSettings | null>;

/** Returns the reads of the most recently used conversations, the latest first. Each conversation is read once. */
function previousSettings(): SettingsRead[] {
  const latest = [...app.conversations].sort((a, b) => b.updatedAt - a.updatedAt);
  return latest.slice(0, MAX_READS).map(({ id }) => {
    let read: Promise<ConversationSettings | null> | null = null;
    return () =>
      (read ??= call("read_conversation", { conversation: id }).then(
        ({ settings }) => settings,
        () => null,
      ));
  });
}

/**
 * Returns the servers of the most recently used conversation. `null` if there is no conversation or its model had no
 * tools.
 */
async function previousConversationServers([latest]: SettingsRead[]): Promise<
  OfferedServer[] | null
> {
  if (!latest) return null;
  const settings = await latest();
  // An unreadable conversation does not prevent a new one.
  if (settings === null) return [];
  const { model, servers } = settings;
  if (model === null && servers.length === 0) return null;
  return servers.filter(({ server }) => app.server(server) !== undefined);
}

/**
 * Returns the model of the most recently used conversation that has one of an existing provider. `null` if there is
 * none, or a default model, which the host then uses.
 */
async function lastUsedModel(previous: SettingsRead[]): Promise<ModelRef | null> {
  // The model can be chosen later.
  const models = await call("list_models", {}).catch(() => null);
  if (models === null || models.providers.length === 0 || models.default !== null) return null;
  for (const read of previous) {
    const model = (await read())?.model ?? null;
    if (model !== null && models.providers.some(({ id }) => id === model.provider)) return model;
  }
  return null;
}

function runningServers(): OfferedServer[] {
  return app.servers
    .filter(({ state, counts }) => state.is === "ready" && counts.tools > 0)
    .map(({ name }) => ({ server: name, tools: null, instructions: null }));
}
