// Puts a resource or a skill into a conversation.

import { call } from "$lib/api/client";
import type { ConversationItem, ResourceContents } from "$lib/api/generated";

import { createConversation } from "../conversation/create-conversation";

/** What to attach, and where. */
export interface Attach {
  server: string;
  uri: string;
  /** What it is called in the conversation. */
  name: string;
  /** What was read of it; without it the resource is read now. */
  contents?: ResourceContents[];
  /** The hash of a skill's entry as it was shown; then `uri` is that of its `SKILL.md`. */
  skill?: string;
  /** The conversation, or nothing for a new one. */
  conversation: string | null;
}

/** A resource or a skill as it is now, as an item of a conversation. Rejects with an `ApiError`. */
export async function attachmentOf(
  attach: Omit<Attach, "conversation">,
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

/** Attaches a resource or a skill as it is now. Returns the conversation. Rejects with an `ApiError`. */
export async function attachResource(attach: Attach): Promise<string> {
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
  shown: string,
): Promise<ResourceContents[]> {
  const read = { call: crypto.randomUUID(), server, skill, shown, file: null };
  return [(await call("read_skill", read)).contents];
}
