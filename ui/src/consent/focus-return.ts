// Remembers which element took the focus over from a removed consent request. The next request may take it again, but
// never from a field in which the user was before, since the user may start to type at any moment.

import { isField } from "./consent-shortcuts";

/** Time in which the next request may take the focus back, in milliseconds. */
export const FOCUS_RETURN_MS = 1_000;

const returnedAt = new WeakMap<Element, number>();

/** Focuses an element in place of a removed request. */
export function returnFocus(to: HTMLElement): void {
  to.focus();
  markReturned(to);
}

/** Records that an element has the focus because a request was removed, until the user uses or leaves it. */
export function markReturned(to: HTMLElement): void {
  returnedAt.set(to, performance.now());
  const forget = () => returnedAt.delete(to);
  for (const input of ["keydown", "pointerdown", "blur"])
    to.addEventListener(input, forget, { once: true });
}

/** Returns `true` if the user is in this text field: not if it is empty and only took the focus over just now. */
export function isUserIn(active: Element | null): boolean {
  if (active === null || !isField(active)) return false;
  const at = returnedAt.get(active);
  const isEmpty = "value" in active && active.value === "";
  return !isEmpty || at === undefined || performance.now() - at > FOCUS_RETURN_MS;
}

/** Returns `true` if a request that appears must leave the focus where it is. */
export function keepsFocus(active: Element | null): boolean {
  if (active instanceof HTMLInputElement && !isField(active)) return true;
  return isUserIn(active) || active?.closest("[role=dialog]") != null;
}
