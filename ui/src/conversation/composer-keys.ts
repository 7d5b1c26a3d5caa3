// Key bindings of the composer.
import { isInputMethodKey } from "$lib/format/keys";

export type ComposerKey = "send" | "prompt" | "resource" | "editLast" | "stop" | null;

/** Length from which pasted text is attached as a file, in UTF-16 code units. */
export const MIN_ATTACHED_PASTE = 10_000;

/**
 * Returns the action of a key: `/` at the start of a line opens prompts, `@` at the start of a word opens resources,
 * Enter sends, the up arrow in an empty field edits the last message, and Escape stops the answer.
 */
export function composerKey(
  event: Pick<
    KeyboardEvent,
    "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey" | "isComposing" | "keyCode"
  >,
  text: string,
  caret: number,
): ComposerKey {
  if (isInputMethodKey(event)) return null;
  if (event.key === "Enter") return event.shiftKey || event.altKey ? null : "send";
  if (event.ctrlKey || event.metaKey) return null;
  if (event.key === "ArrowUp" && text === "" && !event.shiftKey && !event.altKey) return "editLast";
  if (event.key === "Escape" && !event.shiftKey && !event.altKey) return "stop";
  const before = text.slice(0, caret);
  if (event.key === "/" && /(^|\n)$/.test(before)) return "prompt";
  if (event.key === "@" && /(^|\s)$/.test(before)) return "resource";
  return null;
}

/** Returns the text with the typed character inserted at the caret, for a picker that closed without a choice. */
export function insertAtCaret(text: string, caret: number, character: string): string {
  return text.slice(0, caret) + character + text.slice(caret);
}
