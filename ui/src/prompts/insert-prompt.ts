// Puts the messages of a prompt into a conversation.

import { call } from "$lib/api/client";
import { beginning } from "$lib/format/text-safety";
import { router } from "$lib/state/router.svelte";

import { beginConversation } from "../conversation/create-conversation";
import { nameAfter } from "../conversation/automatic-title";
import type { PromptRun } from "./prompt-run.svelte";

const TITLE = 60;

/** Into this conversation, or a new one that is named after the prompt and comes to the front. */
export async function putIntoConversation(
  run: PromptRun,
  conversation: string | null,
): Promise<void> {
  const title = beginning(run.prompt.title ?? run.prompt.name, TITLE, 1);
  const id = conversation ?? (await beginConversation(title));
  await call("append_items", { conversation: id, items: run.items(Date.now()) });
  if (conversation !== null) await nameAfter(conversation, title);
  if (conversation === null) router.go({ at: "conversation", id });
}
