// What the keys mean in the composer.

export type ComposerKey = "send" | "prompt" | "resource" | null;

/** `/` at the start of a line asks for a prompt, `@` at the start of a word for a resource, Enter sends. */
export function composerKey(
  event: Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey" | "isComposing">,
  text: string,
  caret: number,
): ComposerKey {
  if (event.isComposing) return null;
  if (event.key === "Enter") return event.shiftKey || event.altKey ? null : "send";
  if (event.ctrlKey || event.metaKey) return null;
  const before = text.slice(0, caret);
  if (event.key === "/" && /(^|\n)$/.test(before)) return "prompt";
  if (event.key === "@" && /(^|\s)$/.test(before)) return "resource";
  return null;
}

/** The text with a character put in at the caret: what was pressed, when nothing was picked. */
export function inserted(text: string, caret: number, character: string): string {
  return text.slice(0, caret) + character + text.slice(caret);
}
