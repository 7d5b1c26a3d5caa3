// Route of the home view.
import { app } from "$lib/state/app.svelte";
import type { View } from "$lib/state/route";

/**
 * Returns the route of the home view: the welcome view until the user has closed it, then the latest conversation, or
 * the first server if there is no conversation. Ignores `leaving`, which is being deleted.
 */
export function homeRoute(leaving: { conversation?: string; server?: string } = {}): View {
  if (!app.settings.welcomeDone) return { at: "welcome" };
  const conversation = app.conversations.find(({ id }) => id !== leaving.conversation);
  if (conversation) return { at: "conversation", id: conversation.id };
  const server = app.servers.find(({ name }) => name !== leaving.server);
  return server ? { at: "server", name: server.name, tab: "overview" } : { at: "welcome" };
}
