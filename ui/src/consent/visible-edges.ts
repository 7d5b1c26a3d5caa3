// Which edges of something are in view that stands in a box that scrolls.

export interface VisibleEdges {
  /** Whether its beginning is. */
  start: boolean;
  /** Whether its end is. */
  end: boolean;
  /** Between these it can be seen, in pixels from the top of the window. */
  top: number;
  bottom: number;
}

/** So much of a line may be cut off, in pixels. */
const NEAR = 2;

/** What of the element can be seen; `end` is the element that follows what has to be seen. */
export function visibleEdges(element: Element, end: Element): VisibleEdges {
  const room = roomOf(element);
  const inView = (y: number) => y >= room.top - NEAR && y <= room.bottom + NEAR;
  return {
    start: inView(element.getBoundingClientRect().top),
    end: inView(end.getBoundingClientRect().top),
    ...room,
  };
}

/** What the boxes around it leave to be seen, from top to bottom. */
function roomOf(element: Element): { top: number; bottom: number } {
  const room = { top: 0, bottom: window.innerHeight };
  for (let box = element.parentElement; box !== null; box = box.parentElement) {
    if (getComputedStyle(box).overflowY === "visible") continue;
    const { top, bottom } = box.getBoundingClientRect();
    room.top = Math.max(room.top, top);
    room.bottom = Math.min(room.bottom, bottom);
  }
  return room;
}
