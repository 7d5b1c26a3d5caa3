// Whether a list that grows keeps its end in view.

/** How a list is scrolled, in pixels. */
export interface ScrollPosition {
  top: number;
  /** The height that is in view. */
  view: number;
  /** The height of all rows. */
  whole: number;
}

/** So near to the end counts as at the end. */
const NEAR = 24;

/** Whether the end is followed after a scroll: at the end it is, and no longer once the user goes up. */
export function staysAtEnd(
  before: ScrollPosition | null,
  now: ScrollPosition,
  followed: boolean,
): boolean {
  if (now.top + now.view >= now.whole - NEAR) return true;
  // Rows that get their real height also move the place; only the user moves it up.
  if (before !== null && now.top < before.top && now.whole >= before.whole) return false;
  return followed;
}
