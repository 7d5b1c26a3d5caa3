// Windows that show one conversation each. The main window opens those again that were open when the app ended.
import { tick } from "svelte";

import { registerPageState } from "$lib/page-state";
import { platform, type WindowProblem } from "$lib/platform";
import { app } from "$lib/state/app.svelte";
import { failures } from "$lib/state/failures.svelte";
import { windows } from "$lib/state/windows.svelte";

import { draftsStored } from "../conversation/stored-draft";

import { m } from "../paraglide/messages";

import { leaving } from "./leaving.svelte";

const KEY = "conversation windows";

/** The conversations of the shell's last list. */
let shown: readonly string[];
/** Conversations whose windows are being opened. The shell's list may not contain them yet. */
let opening: readonly string[];
/** State of opening the windows of the last start again. */
let restoring: "waits" | "runs" | "done";
registerPageState(() => {
  shown = [];
  opening = [];
  restoring = "waits";
});

/**
 * Opens a conversation in a window of its own, or brings that window to the front. This window stops showing it first,
 * so that its draft has only one editor. The user is asked before if the composer contains what can't move.
 */
export function openInNewWindow(conversation: string): void {
  if (windows.isElsewhere(conversation)) void bringToFront(conversation);
  else leaving.ask(conversation, "move", () => move(conversation));
}

async function bringToFront(conversation: string): Promise<void> {
  try {
    await platform().openConversationWindow(conversation);
  } catch (cause) {
    reportProblem(cause);
  }
}

/** Opens the window of a conversation, after its draft was stored. The conversation stays here if this fails. */
async function move(conversation: string): Promise<void> {
  if (!opening.includes(conversation)) opening = [...opening, conversation];
  showList();
  let isOpened = false;
  try {
    await tick();
    await draftsStored();
    await platform().openConversationWindow(conversation);
    isOpened = true;
  } catch (cause) {
    reportProblem(cause);
  }
  opening = opening.filter((id) => id !== conversation);
  // An opened one remains hidden here until the next list, which may still be on its way.
  if (!isOpened) showList();
}

function reportProblem(cause: unknown): void {
  if (typeof cause !== "object" || cause === null || !("problem" in cause)) {
    failures.add(cause);
    return;
  }
  const problem = cause as WindowProblem;
  if (problem.problem === "failed") failures.add(problem.cause);
  else failures.add("", m.shell_window_too_many({ count: problem.maximum }));
}

function showList(): void {
  windows.elsewhere = [...shown, ...opening.filter((id) => !shown.includes(id))];
}

/** Applies the list of conversations that other windows show. The first list opens the windows of the last start. */
export function receiveConversationWindows(conversations: readonly string[]): void {
  shown = conversations.filter((id) => id !== windows.own);
  // Only the main window opens others.
  if (windows.own !== null) return showList();
  if (restoring === "waits") void restore();
  else if (restoring === "done") store(shown);
  showList();
  windows.isListReceived = true;
}

/** Opens the windows of the last start one after another, so that each has the same position as before. */
async function restore(): Promise<void> {
  const ids = stored().filter(
    (id) => !shown.includes(id) && app.conversations.some((one) => one.id === id),
  );
  restoring = "runs";
  opening = [...opening, ...ids];
  for (const id of ids) await move(id);
  restoring = "done";
  if (ids.length > 0) store(shown);
}

/**
 * Stores the draft of this window's conversation, and then closes the window. It stays open if the draft can't be
 * stored, or if the user wants to keep what is not part of the draft.
 */
export function closeConversationWindow(): void {
  const close = async () => {
    windows.isClosing = true;
    await tick();
    try {
      await draftsStored();
    } catch (cause) {
      windows.isClosing = false;
      platform().closingShown();
      failures.add(cause);
      return;
    }
    platform().closeWindow();
  };
  if (windows.own === null) return;
  leaving.ask(windows.own, "close", close);
  if (leaving.asked !== null) platform().closingShown();
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
