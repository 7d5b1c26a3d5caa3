// Windows that show one conversation each. The main window opens those again that were open when the app ended.
import { tick } from "svelte";

import { registerPageState } from "$lib/page-state";
import { platform } from "$lib/platform";
import { app } from "$lib/state/app.svelte";
import { failures } from "$lib/state/failures.svelte";
import { windows } from "$lib/state/windows.svelte";

import { draftsStored } from "../conversation/stored-draft";

const KEY = "conversation windows";

let isRestored: boolean;
registerPageState(() => (isRestored = false));

/**
 * Opens a conversation in a window of its own, or brings that window to the front. This window stops showing it first,
 * so that its draft has only one editor.
 */
export async function openInNewWindow(conversation: string): Promise<void> {
  const isOpen = windows.isElsewhere(conversation);
  if (!isOpen) {
    windows.elsewhere = [...windows.elsewhere, conversation];
    await tick();
    await draftsStored();
  }
  try {
    await platform().openConversationWindow(conversation);
  } catch (cause) {
    if (!isOpen) windows.elsewhere = windows.elsewhere.filter((id) => id !== conversation);
    failures.add(cause);
  }
}

/** Applies the list of conversations that other windows show. The first list opens the windows of the last start. */
export function receiveConversationWindows(conversations: readonly string[]): void {
  windows.elsewhere = conversations;
  if (isRestored) return store(conversations);
  isRestored = true;
  for (const id of stored()) {
    const isKnown = app.conversations.some((one) => one.id === id);
    if (isKnown && !conversations.includes(id)) void openInNewWindow(id);
  }
}

/** Stores the draft of this window's conversation, and then closes the window. */
export async function closeConversationWindow(): Promise<void> {
  windows.isClosing = true;
  await tick();
  await draftsStored();
  platform().closeWindow();
}

function stored(): string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(list) ? list.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

function store(conversations: readonly string[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(conversations));
  } catch {
    // Without storage, the windows are not restored.
  }
}
