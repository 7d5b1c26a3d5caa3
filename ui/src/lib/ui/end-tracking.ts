// Decides if a growing list follows its end.

/** Scroll position of a list in pixels. */
export interface ScrollPosition {
  top: number;
  /** Height of the visible part, in pixels. */
  view: number;
  /** Height of the whole content, in pixels. */
  whole: number;
}

/** Distance from the end that still counts as the end, in pixels. */
const MAX_DISTANCE_FROM_END = 24;

/** Returns `true` if the list should follow its end after a scroll. The user stops following by scrolling up. */
export function shouldFollowEnd(
  before: ScrollPosition | null,
  now: ScrollPosition,
  followed: boolean,
): boolean {
  if (now.top + now.view >= now.whole - MAX_DISTANCE_FROM_END) return true;
  // Measuring rows also changes the position, but only the user scrolls up.
  if (before !== null && now.top < before.top && now.whole >= before.whole) return false;
  return followed;
}
