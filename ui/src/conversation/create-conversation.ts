// Begins a conversation, with the tools of the one before it.
import { call } from "$lib/api/client";
import {
  MAX_CONVERSATION_SERVERS,
  type ConversationSettings,
  type OfferedServer,
} from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

/**
 * Begins a conversation and returns its id. Its model may use the servers of the conversation before, which may be none, or in the
 * first one those that run: of each the tools that the user has reviewed, and each call asks as ever. Rejects with an `ApiError`.
 */
export async function createConversation(
  title: string,
  changes: Partial<ConversationSettings> = {},
): Promise<string> {
  const before = await serversBefore();
  const { id, settings } = await call("create_conversation", { title });
  const servers = before ?? runningServers();
  const all = { ...settings, servers: servers.slice(0, MAX_CONVERSATION_SERVERS), ...changes };
  if (servers.length > 0 || Object.keys(changes).length > 0)
    await call("set_conversation", { conversation: id, settings: all });
  return id;
}

/** Those of the conversation that was used last; null without one, or if it had no model to use tools. */
async function serversBefore(): Promise<OfferedServer[] | null> {
  const [latest] = [...app.conversations].sort((a, b) => b.updatedAt - a.updatedAt);
  if (!latest) return null;
  // A conversation that can't be read keeps no other from beginning.
  const servers = await call("conversation", { conversation: latest.id }).then(
    ({ settings: { model, servers } }) => (model === null && servers.length === 0 ? null : servers),
    () => [],
  );
  return servers && servers.filter(({ server }) => app.server(server) !== undefined);
}

function runningServers(): OfferedServer[] {
  return app.servers
    .filter(({ state, counts }) => state.is === "ready" && counts.tools > 0)
    .map(({ name }) => ({ server: name, tools: null, instructions: null }));
}
