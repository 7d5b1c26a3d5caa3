// Inserts the messages of a prompt into a conversation.

import { call } from "$lib/api/client";
import { textBeginning } from "$lib/format/text-safety";
import { router } from "$lib/state/router.svelte";

import { createConversation } from "../conversation/create-conversation";
import { setAutomaticTitle } from "../conversation/automatic-title";
import type { PromptRun } from "./prompt-run.svelte";

const TITLE = 60;

/**
 * Inserts the messages into a conversation. Without an id, creates a conversation with the prompt's name and opens it.
 */
export async function insertPrompt(run: PromptRun, conversation: string | null): Promise<void> {
  const title = textBeginning(run.prompt.title ?? run.prompt.name, TITLE, 1);
  const id = conversation ?? (await createConversation(title));
  await call("append_items", { conversation: id, items: run.items(Date.now()) });
  if (conversation !== null) await setAutomaticTitle(conversation, title);
  if (conversation === null) router.go({ at: "conversation", id });
}
