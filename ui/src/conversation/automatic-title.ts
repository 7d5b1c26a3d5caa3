// What a conversation is called that the user has not named.
import { call } from "$lib/api/client";
import { beginning } from "$lib/format/text-safety";
import { app } from "$lib/state/app.svelte";

import { m } from "../paraglide/messages";

const TITLE = 60;

/** Names a conversation after what came into it first, unless it already has a name of its own. */
export async function setAutomaticTitle(conversation: string, text: string): Promise<void> {
  const title = beginning(text.trim(), TITLE, 1);
  const now = app.conversations.find(({ id }) => id === conversation)?.title;
  if (title === "" || now !== m.shell_new_conversation_title()) return;
  // It is there all the same, under the name it had.
  await call("rename_conversation", { conversation, title }).catch(() => undefined);
}
