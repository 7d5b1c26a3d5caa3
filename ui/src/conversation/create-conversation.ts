// Creates conversations with the servers and tools of the previous one.
import { call } from "$lib/api/client";
import {
  MAX_CONVERSATION_SERVERS,
  type ConversationSettings,
  type OfferedServer,
} from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

/**
 * Creates a conversation and returns its id. Its model may use the servers of the previous conversation, which may be
 * none. The first conversation gets the running servers with their reviewed tools. Calls require consent as usual.
 * Rejects with an `ApiError`.
 */
export async function createConversation(
  title: string,
  changes: Partial<ConversationSettings> = {},
): Promise<string> {
  const previousServers = await previousConversationServers();
  const { id, settings } = await call("create_conversation", { title });
  const servers = previousServers ?? runningServers();
  const all = { ...settings, servers: servers.slice(0, MAX_CONVERSATION_SERVERS), ...changes };
  if (servers.length > 0 || Object.keys(changes).length > 0)
    await call("set_conversation", { conversation: id, settings: all });
  return id;
}

/**
 * Returns the servers of the most recently used conversation. `null` if there is no conversation or its model had no
 * tools.
 */
async function previousConversationServers(): Promise<OfferedServer[] | null> {
  const [latest] = [...app.conversations].sort((a, b) => b.updatedAt - a.updatedAt);
  if (!latest) return null;
  // An unreadable conversation does not prevent a new one.
  const servers = await call("read_conversation", { conversation: latest.id }).then(
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
