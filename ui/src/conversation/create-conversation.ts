// Creates conversations with the model, servers and tools of the previous ones.
import { call } from "$lib/api/client";
import {
  MAX_CONVERSATION_SERVERS,
  type ConversationSettings,
  type ModelRef,
  type Models,
  type OfferedServer,
} from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

import { lastModel, rememberModel } from "./last-model";

/**
 * Creates a conversation and returns its id. Its model is the default model, or else the one that was used last. It may
 * use the servers of the previous conversation, which may be none. The first conversation gets the running servers with
 * their reviewed tools. Calls require consent as usual. Rejects with an `ApiError`.
 */
export async function createConversation(
  title: string,
  changes: Partial<ConversationSettings> = {},
): Promise<string> {
  const [previous, models] = await Promise.all([
    previousSettings(),
    // The model can be chosen later.
    changes.model === undefined ? call("list_models", {}).catch(() => null) : null,
  ]);
  const previousServers = previousConversationServers(previous);
  const model = models && lastUsedModel(models, previous);
  const { id, settings } = await call("create_conversation", { title });
  const servers = previousServers ?? runningServers();
  const known = { ...(model && { model }), ...changes };
  const all = { ...settings, servers: servers.slice(0, MAX_CONVERSATION_SERVERS), ...known };
  if (servers.length > 0 || Object.keys(known).length > 0)
    await call("set_conversation", { conversation: id, settings: all });
  if (changes.model) rememberModel(changes.model);
  return id;
}

/** Settings of the most recently used conversation: `null` if there is none, `unreadable` if they can't be read. */
type PreviousSettings = ConversationSettings | null | "unreadable";

async function previousSettings(): Promise<PreviousSettings> {
  const [latest] = [...app.conversations].sort((a, b) => b.updatedAt - a.updatedAt);
  if (!latest) return null;
  try {
    return (await call("read_conversation", { conversation: latest.id })).settings;
  } catch {
    // An unreadable conversation does not prevent a new one.
    return "unreadable";
  }
}

/** Returns the servers of the previous conversation. `null` if there is none or its model had no tools. */
function previousConversationServers(previous: PreviousSettings): OfferedServer[] | null {
  if (previous === null) return null;
  if (previous === "unreadable") return [];
  const { model, servers } = previous;
  if (model === null && servers.length === 0) return null;
  return servers.filter(({ server }) => app.server(server) !== undefined);
}

/**
 * Returns the model that was used last, or else the one of the previous conversation, if its provider still offers it.
 * `null` if neither is offered, or there is a default model, which the host then uses.
 */
function lastUsedModel(models: Models, previous: PreviousSettings): ModelRef | null {
  if (models.default !== null) return null;
  const used = [lastModel(), previous === "unreadable" ? null : (previous?.model ?? null)];
  return used.find((model) => model !== null && isOffered(models, model)) ?? null;
}

/** Returns `true` if a provider lists the model. One that has not listed any may offer it. */
function isOffered({ providers }: Models, { provider, model }: ModelRef): boolean {
  const listed = providers.find(({ id }) => id === provider)?.models;
  return listed !== undefined && (listed.length === 0 || listed.some(({ id }) => id === model));
}

function runningServers(): OfferedServer[] {
  return app.servers
    .filter(({ state, counts }) => state.is === "ready" && counts.tools > 0)
    .map(({ name }) => ({ server: name, tools: null, instructions: null }));
}
