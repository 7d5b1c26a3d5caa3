// Puts a resource or a skill into a conversation.

import { call } from "$lib/api/client";
import type { ResourceContents } from "$lib/api/generated";

/** What to attach, and where. */
export interface Attach {
  server: string;
  uri: string;
  /** What it is called in the conversation. */
  name: string;
  /** What was read of it; without it the resource is read now. */
  contents?: ResourceContents[];
  /** True for a skill; then `uri` is that of its `SKILL.md`. */
  skill?: boolean;
  /** The conversation, or nothing for a new one. */
  conversation: string | null;
}

/** Attaches a resource or a skill as it is now. Returns the conversation. Rejects with an `ApiError`. */
export async function attachResource(attach: Attach): Promise<string> {
  const { server, uri, name, skill = false } = attach;
  const contents = attach.contents ?? (await (skill ? readSkill : readResource)(server, uri));
  const conversation =
    attach.conversation ?? (await call("create_conversation", { title: name })).id;
  await call("append_items", {
    conversation,
    items: [
      {
        id: crypto.randomUUID(),
        at: Date.now(),
        body: { kind: "attachment", server, uri, name, contents, ...(skill && { skill }) },
      },
    ],
  });
  return conversation;
}

async function readResource(server: string, uri: string): Promise<ResourceContents[]> {
  const read = { call: crypto.randomUUID(), server, uri, refresh: false };
  return (await call("read_resource", read)).contents;
}

async function readSkill(server: string, skill: string): Promise<ResourceContents[]> {
  const read = { call: crypto.randomUUID(), server, skill, file: null };
  return [(await call("read_skill", read)).contents];
}
