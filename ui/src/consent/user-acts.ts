// Whether the user is in a text field, and whether a consent request that appears follows from the user's own act. A
// request that follows from none leaves a field alone, and no letter decides it.

import type { ConsentRequest } from "$lib/api/generated";
import { isInputMethodKey } from "$lib/format/keys";

import { isField } from "./consent-shortcuts";
import { isUserIn } from "./focus-return";

/** Time after a click or Enter in which a request of the user is a consequence of it, in milliseconds. */
export const OWN_ACT_MS = 5_000;

const MODIFIER_KEYS = ["Control", "Shift", "Alt", "Meta"];

/** Time of the last click or activating key, or `null` if another key was pressed since. */
let actedAt: number | null = null;

/** Returns `true` for a key that activates a button or submits a form. In a text area, Enter alone may send a message. */
function isActivation(event: KeyboardEvent): boolean {
  const { target } = event;
  if (event.repeat || isInputMethodKey(event)) return false;
  if (event.key === " ") return !isField(target);
  if (event.key !== "Enter") return false;
  const isTextArea =
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLElement && target.isContentEditable);
  return !isTextArea || event.ctrlKey || event.metaKey;
}

addEventListener(
  "keydown",
  (event) => {
    if (!MODIFIER_KEYS.includes(event.key))
      actedAt = isActivation(event) ? performance.now() : null;
  },
  true,
);
addEventListener("pointerdown", () => (actedAt = performance.now()), true);

/** Returns `true` if the user asked for this a moment ago, such as with the button *Call*, and has typed nothing since. */
export function followsOwnAct({ origin }: ConsentRequest): boolean {
  return origin.by === "user" && actedAt !== null && performance.now() - actedAt < OWN_ACT_MS;
}

/**
 * Returns `true` if a request must not open by itself, because the user is in a text field that the dialog would cover.
 */
export function holdsBack(request: ConsentRequest): boolean {
  const active = document.activeElement;
  if (!isUserIn(active) || active?.closest(".consent-dialog")) return false;
  return !followsOwnAct(request);
}
