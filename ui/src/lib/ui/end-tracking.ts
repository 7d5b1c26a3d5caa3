// Decides if a growing list follows its end.

/** Scroll position of a list in pixels. */
export interface ScrollPosition {
  top: number;
  /** Visible height. */
  view: number;
  /** Height of all rows. */
  whole: number;
}

/** Distance from the end that counts as the end. */
const NEAR = 24;

/** Returns `true` if the end is followed after a scroll: at the end, until the user scrolls up. */
export function staysAtEnd(
  before: ScrollPosition | null,
  now: ScrollPosition,
  followed: boolean,
): boolean {
  if (now.top + now.view >= now.whole - NEAR) return true;
  // Measuring rows also changes the position, but only the user scrolls up.
  if (before !== null && now.top < before.top && now.whole >= before.whole) return false;
  return followed;
}
