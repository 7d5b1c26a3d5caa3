// Titles of conversations that the user has not named.
import { call } from "$lib/api/client";
import { textBeginning } from "$lib/format/text-safety";
import { app } from "$lib/state/app.svelte";

import { m } from "../paraglide/messages";
import { locales } from "../paraglide/runtime";

const TITLE = 60;

/** Sets the title of a conversation to the beginning of its first item, unless the conversation has a title. */
export async function setAutomaticTitle(conversation: string, text: string): Promise<void> {
  const title = textBeginning(text.trim(), TITLE, 1);
  const current = app.conversations.find(({ id }) => id === conversation)?.title;
  if (title === "" || current === undefined || !isDefaultTitle(current)) return;
  // The conversation is usable without a title.
  await call("rename_conversation", { conversation, title }).catch(() => undefined);
}

/** Returns `true` for the title of a new conversation. It is in the language in which the conversation was created. */
function isDefaultTitle(title: string): boolean {
  return locales.some((locale) => title === m.shell_new_conversation_title({}, { locale }));
}
