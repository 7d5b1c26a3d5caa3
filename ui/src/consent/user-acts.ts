// Records the user's acts, so that a consent request that appears is known to follow from one of them. A request that
// follows from none leaves a text field alone, and no letter decides it.

import type { ConsentRequest } from "$lib/api/generated";
import { isInputMethodKey } from "$lib/format/keys";

import { isField, isTextField } from "./consent-shortcuts";
import { isUserIn } from "./focus-return";

/** Time after a click or Enter in which a request of the user is a consequence of it, in milliseconds. */
export const OWN_ACT_MS = 5_000;

const MODIFIER_KEYS = ["Control", "Shift", "Alt", "Meta"];

/** Elements that run something when clicked. A click elsewhere, such as into a text field, asks for nothing. */
const ACTING_SELECTOR = "button, a, summary, [role^=menuitem], [role=option]";

interface UserAct {
  /** Time of the act, in milliseconds since the page was loaded. */
  at: number;
  /** Element in which an activating key was pressed, or `null` for a click. */
  pressedIn: EventTarget | null;
}

/** The last click or activating key, or `null` if the user did something else since. */
let lastAct: UserAct | null = null;

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
      lastAct = isActivation(event) ? { at: performance.now(), pressedIn: event.target } : null;
  },
  true,
);
addEventListener(
  "pointerdown",
  ({ target }) => {
    const acts = target instanceof Element && target.closest(ACTING_SELECTOR) !== null;
    lastAct = acts ? { at: performance.now(), pressedIn: null } : null;
  },
  true,
);

/**
 * Returns `true` if the user asked for this a moment ago, such as with the button *Call*, and has typed nothing since.
 * A text field that has the focus may be typed in at any moment, unless its own Enter was the act.
 */
export function followsOwnAct({ origin }: ConsentRequest): boolean {
  if (origin.by !== "user" || lastAct === null) return false;
  const { activeElement } = document;
  const mayType = isUserIn(activeElement) && isTextField(activeElement);
  if (mayType && activeElement !== lastAct.pressedIn) return false;
  return performance.now() - lastAct.at < OWN_ACT_MS;
}

/**
 * Returns `true` if a request must not open by itself, because the user is in a text field that the dialog would cover.
 */
export function holdsBack(request: ConsentRequest): boolean {
  const active = document.activeElement;
  if (!isUserIn(active) || !isTextField(active) || active?.closest(".consent-dialog")) return false;
  return !followsOwnAct(request);
}
