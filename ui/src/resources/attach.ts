// Puts a resource into a conversation.

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
  /** The conversation, or nothing for a new one. */
  conversation: string | null;
}

/** Attaches a resource as it is now. Returns the conversation. Rejects with an `ApiError`. */
export async function attachResource(attach: Attach): Promise<string> {
  const { server, uri, name } = attach;
  const contents =
    attach.contents ??
    (await call("read_resource", { call: crypto.randomUUID(), server, uri, refresh: false }))
      .contents;
  const conversation =
    attach.conversation ?? (await call("create_conversation", { title: name })).id;
  await call("append_items", {
    conversation,
    items: [
      {
        id: crypto.randomUUID(),
        at: Date.now(),
        body: { kind: "attachment", server, uri, name, contents },
      },
    ],
  });
  return conversation;
}
