// Keeps the focus out of the frame of an app until the user moves it there. A focused frame receives all keys, and the
// page has no event before a frame takes the focus.

/** Time after the Tab key in which the frame may receive the focus, in milliseconds. */
export const TAB_LIMIT = 500;

/** Watches the focus while `frame` is displayed. Returns a function that ends this. */
export function guardFocus(frame: HTMLElement): () => void {
  const ends = new AbortController();
  const { signal } = ends;
  /** Element of the page that was focused last. */
  let last: Element | null = document.activeElement;
  let tabbedAt = -Infinity;
  let isPointerOver = false;
  /** Set from the user's move of the focus into the frame until an element of the page is focused. */
  let isEntered = false;

  function isUserAction(): boolean {
    if (frame.closest("[inert]") !== null) return false;
    return isEntered || isPointerOver || performance.now() - tabbedAt <= TAB_LIMIT;
  }

  function giveBack(): void {
    if (last instanceof HTMLElement && last.isConnected) last.focus({ preventScroll: true });
    if (document.activeElement !== frame) return;
    frame.blur();
    window.focus();
  }

  function onBlur(): void {
    const isAllowed = isUserAction();
    // The active element changes after the event.
    setTimeout(() => {
      if (signal.aborted || document.activeElement !== frame) return;
      if (isAllowed) isEntered = true;
      else giveBack();
    });
  }

  const options = { signal, capture: true };
  window.addEventListener("blur", onBlur, { signal });
  window.addEventListener(
    "keydown",
    ({ key }) => {
      if (key === "Tab") tabbedAt = performance.now();
    },
    options,
  );
  document.addEventListener(
    "focusin",
    ({ target }) => {
      if (target === frame || !(target instanceof Element)) return;
      last = target;
      isEntered = false;
    },
    options,
  );
  frame.addEventListener("pointerenter", () => (isPointerOver = true), { signal });
  frame.addEventListener("pointerleave", () => (isPointerOver = false), { signal });
  return () => ends.abort();
}
