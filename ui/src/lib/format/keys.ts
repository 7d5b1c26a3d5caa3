// Keys of shortcuts.
const isMac = /mac|iphone|ipad/i.test(navigator.platform);

/** `"Mod+K"` as the names on the keys: Ctrl and K, or ⌘ and K on a Mac. */
export function keyNames(keys: string, mac = isMac): string[] {
  const names: Record<string, string> = mac
    ? { Mod: "⌘", Shift: "⇧", Alt: "⌥", Enter: "⏎", Escape: "esc" }
    : { Mod: "Ctrl", Escape: "Esc" };
  // The last part may be the plus itself.
  return keys.split(/\+(?=.)/).map((key) => names[key] ?? key);
}

/** Whether the key that makes a shortcut of a letter is down. */
export function isMod(event: KeyboardEvent | MouseEvent, mac = isMac): boolean {
  return mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
}

/** Whether what has the focus takes letters itself. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])")
  );
}
