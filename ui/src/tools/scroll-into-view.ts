// Attachment that scrolls a new element into view.

/**
 * Scrolls as little as possible to show the element. If the element is higher than its container, its start is shown.
 */
export function scrollIntoView(element: HTMLElement): void {
  const room = scrollerOf(element)?.clientHeight ?? window.innerHeight;
  const block = element.offsetHeight > room ? "start" : "nearest";
  element.scrollIntoView({ block });
}

function scrollerOf(element: HTMLElement): HTMLElement | null {
  for (let at = element.parentElement; at !== null; at = at.parentElement)
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY))
      return at;
  return null;
}
