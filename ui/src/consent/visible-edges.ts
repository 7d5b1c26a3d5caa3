// Determines which edges of an element are visible within its scrolling ancestors and beside the notes over the page.

export interface VisibleEdges {
  /** Set if the start of the element is visible. */
  start: boolean;
  /** Set if the end of the element is visible. */
  end: boolean;
  /** Bounds of the visible area, in pixels from the top of the window. */
  top: number;
  bottom: number;
}

/** Number of pixels of a line that may be cut off while the edge still counts as visible. */
const EDGE_TOLERANCE = 2;

/** Returns which edges of an element are visible. `end` is an element directly after the content to view. */
export function visibleEdges(element: Element, end: Element): VisibleEdges {
  const bounds = visibleBounds(element);
  const inView = (y: number) =>
    y >= bounds.top - EDGE_TOLERANCE && y <= bounds.bottom + EDGE_TOLERANCE;
  return {
    start: inView(element.getBoundingClientRect().top),
    end: inView(end.getBoundingClientRect().top),
    ...bounds,
  };
}

/** Returns the vertical bounds of the area that the scrolling ancestors of an element and the notes leave visible. */
function visibleBounds(element: Element): { top: number; bottom: number } {
  const bounds = { top: 0, bottom: window.innerHeight };
  for (let box = element.parentElement; box !== null; box = box.parentElement) {
    if (getComputedStyle(box).overflowY === "visible") continue;
    const { top, bottom } = box.getBoundingClientRect();
    bounds.top = Math.max(bounds.top, top);
    bounds.bottom = Math.min(bounds.bottom, bottom);
  }
  // A dialog lies over the notes.
  if (element.closest("[role=dialog]") !== null) return bounds;
  const { left, right } = element.getBoundingClientRect();
  for (const note of document.querySelectorAll("[data-covers]")) {
    const box = note.getBoundingClientRect();
    if (box.height === 0 || box.right <= left || box.left >= right) continue;
    if (box.bottom <= bounds.top || box.top >= bounds.bottom) continue;
    if (note.getAttribute("data-covers") === "top") bounds.top = box.bottom;
    else bounds.bottom = box.top;
  }
  return bounds;
}
