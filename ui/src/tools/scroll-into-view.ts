// Brings something that has just come into view.

/** Scrolls as little as shows all of it; what is higher than its surroundings is shown from its beginning. */
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
