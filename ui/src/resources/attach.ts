// Attaches resources and skills to conversations.

import { call } from "$lib/api/client";
import type { ConversationItem, ResourceContents } from "$lib/api/generated";

import { createConversation } from "../conversation/create-conversation";

/** Resource or skill to attach, and the conversation to attach it to. */
export interface AttachRequest {
  server: string;
  uri: string;
  /** Title in the conversation. */
  name: string;
  /** Contents that were already read. Without them the resource is read first. */
  contents?: ResourceContents[];
  /** Hash of the list entry, if a skill is attached. `uri` is then that of its `SKILL.md`. */
  skill?: string;
  /** Id of the conversation, or `null` for a new one. */
  conversation: string | null;
}

/** Returns a resource or skill with its contents as a conversation item. Rejects with an `ApiError`. */
export async function attachmentOf(
  attach: Omit<AttachRequest, "conversation">,
): Promise<ConversationItem> {
  const { server, uri, name, skill } = attach;
  const contents =
    attach.contents ??
    (await (skill === undefined ? readResource(server, uri) : readSkill(server, uri, skill)));
  return {
    id: crypto.randomUUID(),
    at: Date.now(),
    body: {
      kind: "attachment",
      server,
      uri,
      name,
      contents,
      ...(skill !== undefined && { skill: true }),
    },
  };
}

/**
 * Attaches a resource or skill with its contents. Resolves to the id of the conversation. Rejects with an `ApiError`.
 */
export async function attachResource(attach: AttachRequest): Promise<string> {
  const item = await attachmentOf(attach);
  const conversation = attach.conversation ?? (await createConversation(attach.name));
  await call("append_items", { conversation, items: [item] });
  return conversation;
}

async function readResource(server: string, uri: string): Promise<ResourceContents[]> {
  const read = { call: crypto.randomUUID(), server, uri, refresh: false };
  return (await call("read_resource", read)).contents;
}

async function readSkill(
  server: string,
  skill: string,
  shownHash: string,
): Promise<ResourceContents[]> {
  const read = { call: crypto.randomUUID(), server, skill, shownHash, file: null };
  return [(await call("read_skill", read)).contents];
}
