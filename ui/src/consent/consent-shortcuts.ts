// Keyboard shortcuts of a consent request: A allows, D denies, F focuses the first field, unless the user is typing. A and
// D have no effect on a request with fields. Ctrl+Enter submits a form, also from its fields.

import { isInputMethodKey } from "$lib/format/keys";

/** Fields in which no text can be typed. */
const TEXTLESS_SELECTOR =
  "select, [readonly], input:is([type=range], [type=color], [type=file], [type=button], [type=submit], [type=reset])";
const CHECK_BOX_SELECTOR = "input[type=checkbox], input[type=radio]";

export type ConsentShortcut = "allow" | "deny" | "fields" | "send";

export function consentShortcut(event: KeyboardEvent): ConsentShortcut | null {
  if (isSend(event)) return "send";
  if (event.repeat || isInputMethodKey(event) || event.ctrlKey || event.altKey || event.metaKey)
    return null;
  if (isTyping(event.target)) return null;
  switch (event.key.toLowerCase()) {
    case "a":
      return "allow";
    case "d":
      return "deny";
    case "f":
      return "fields";
    default:
      return null;
  }
}

function isSend(event: KeyboardEvent): boolean {
  if (event.repeat || isInputMethodKey(event) || event.altKey || event.shiftKey) return false;
  return event.key === "Enter" && (event.ctrlKey || event.metaKey);
}

/** Returns `true` for a key repeat that would activate a button or menu item again. */
export function isHeldActivation(event: KeyboardEvent): boolean {
  return event.repeat && (event.key === "Enter" || event.key === " ") && !isField(event.target);
}

/** Returns `true` if the focused element handles keys itself: a text field, a menu or a list. */
function isTyping(target: EventTarget | null): boolean {
  if (isField(target)) return true;
  return target instanceof Element && target.closest("[role=menu], [role=listbox]") !== null;
}

/** Returns `true` for a key that changes the focused check box. */
export function isToggle({ key, target }: KeyboardEvent): boolean {
  return key === " " && target instanceof Element && target.matches(CHECK_BOX_SELECTOR);
}

/** Returns `true` if an element takes letters: a text field or a list. Check boxes and radio buttons do not. */
export function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  return target.matches("input, textarea, select") && !target.matches(CHECK_BOX_SELECTOR);
}

/** Returns `true` for a field in which text can be typed, unlike a list, a slider or a field that is read-only. */
export function isTextField(target: EventTarget | null): boolean {
  return isField(target) && target instanceof Element && !target.matches(TEXTLESS_SELECTOR);
}
