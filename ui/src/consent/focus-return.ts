// Remembers which element took the focus over from a removed consent request. The next request may take it again, but
// never from a field in which the user was before, since the user may start to type at any moment.

/** Time in which the next request may take the focus back, in milliseconds. */
export const FOCUS_RETURN_MS = 1_000;

const returnedAt = new WeakMap<Element, number>();

/** Focuses an element in place of a removed request. */
export function returnFocus(to: HTMLElement): void {
  to.focus();
  returnedAt.set(to, performance.now());
  const forget = () => returnedAt.delete(to);
  for (const input of ["keydown", "pointerdown", "blur"])
    to.addEventListener(input, forget, { once: true });
}

/** Returns `true` if a request that appears must leave the focus where it is. */
export function keepsFocus(active: Element | null): boolean {
  if (active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement) {
    const at = returnedAt.get(active);
    return active.value !== "" || at === undefined || performance.now() - at > FOCUS_RETURN_MS;
  }
  return active?.closest("[role=dialog]") != null;
}
