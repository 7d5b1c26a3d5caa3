// Helpers for keyboard shortcuts.
import { isMac } from "$lib/operating-system";

/** Returns the key names of a shortcut such as `"Mod+K"`: `Ctrl` and `K`, or `⌘` and `K` on a Mac. */
export function keyNames(keys: string, mac = isMac): string[] {
  const names: Record<string, string> = mac
    ? { Mod: "⌘", Shift: "⇧", Alt: "⌥", Enter: "⏎", Escape: "esc" }
    : { Mod: "Ctrl", Escape: "Esc" };
  // The last part may be a plus sign.
  return keys.split(/\+(?=.)/).map((key) => names[key] ?? key);
}

/** Returns `true` if the shortcut modifier is pressed: Ctrl, or ⌘ on a Mac. */
export function isShortcutModifier(event: KeyboardEvent | MouseEvent, mac = isMac): boolean {
  return mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
}

/**
 * Returns `true` if the event is a shortcut such as `"Mod+K"`, `"F1"` or `"?"`. Characters are ignored while the user
 * types.
 */
export function isShortcut(event: KeyboardEvent, keys: string): boolean {
  if (keys.startsWith("Mod+")) {
    const isPlain = isShortcutModifier(event) && !event.shiftKey && !event.altKey;
    return isPlain && event.key.toLowerCase() === keys.slice("Mod+".length).toLowerCase();
  }
  if (event.key !== keys || isShortcutModifier(event)) return false;
  return keys.length > 1 || !isTyping(event);
}

/** Key code of each key that an input method handles. */
const INPUT_METHOD_KEY_CODE = 229;

/**
 * Returns `true` if an input method handles the key, such as Enter or Escape that ends the composition of a word. WebKit
 * sends these keys after the end of the composition, and only their code tells them from others.
 */
export function isInputMethodKey({
  isComposing,
  keyCode,
}: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean {
  return isComposing || keyCode === INPUT_METHOD_KEY_CODE;
}

/** Returns `true` if the target of the key accepts text. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])")
  );
}
