// Tracks which ranges of scrolled content were in view, in pixels from its top.

/** Maximum number of stored ranges. Further ranges are dropped and must be viewed again. */
export const MAX_RANGES = 64;
/** Gap between two ranges, and at both ends, that still counts as viewed, in pixels. */
const GAP_TOLERANCE = 8;

interface Range {
  from: number;
  to: number;
}

export class ViewedRanges {
  /** Disjoint ranges in order, in pixels from the top of the content. */
  #ranges: Range[] = [];

  /** Adds a range that is visible. */
  add(from: number, to: number): void {
    if (to <= from) return;
    const joined: Range = { from, to };
    const apart = this.#ranges.filter((one) => {
      const isApart = one.to < from - GAP_TOLERANCE || one.from > to + GAP_TOLERANCE;
      if (!isApart) {
        joined.from = Math.min(joined.from, one.from);
        joined.to = Math.max(joined.to, one.to);
      }
      return isApart;
    });
    this.#ranges = [...apart, joined].sort((a, b) => a.from - b.from).slice(0, MAX_RANGES);
  }

  /** Removes the ranges below this offset, because the content there was rendered again. */
  cut(below: number): void {
    this.#ranges = this.#ranges
      .filter(({ from }) => from < below)
      .map(({ from, to }) => ({ from, to: Math.min(to, below) }));
  }

  /** Returns the offset of the first gap in content of this height, or `null` if all of it was viewed. */
  missing(height: number): number | null {
    const first = this.#ranges[0];
    const end = first && first.from <= GAP_TOLERANCE ? first.to : 0;
    return end >= height - GAP_TOLERANCE ? null : end;
  }
}

/** Selects problems of fields, which are texts of the page, and fields that the user has changed. */
const OWN_CONTENT_SELECTOR = ".problem, [data-edited]";
/**
 * Difference of heights that is no change, in pixels. In a transformed dialog, the height of an element that was moved
 * is rounded differently.
 */
const HEIGHT_TOLERANCE = 0.5;

interface ElementLayout {
  height: number;
  children: Element[];
}

/** Layout of an element and its descendants, to find the first change later. */
export class LayoutSnapshot {
  readonly #width: number;
  readonly #drawn = new Map<Element, ElementLayout>();
  /** Elements that contain content of the page or the user. */
  readonly #withOwnContent: ReadonlySet<Element>;

  constructor(root: Element) {
    this.#width = root.clientWidth;
    this.#withOwnContent = elementsWithOwnContent(root);
    for (const element of [root, ...root.querySelectorAll("*")])
      this.#drawn.set(element, { height: heightOf(element), children: [...element.children] });
  }

  /** Returns the offset of the first layout change in pixels from the top of the element. */
  changedBelow(root: Element): number {
    // Another width wraps all lines anew.
    if (root.clientWidth !== this.#width) return 0;
    return this.#change(root) - root.getBoundingClientRect().top;
  }

  /**
   * Returns `true` if anything changed apart from problems of fields and the user's own input. Both move what was viewed,
   * but show nothing that the user has to view.
   */
  changedOtherThanOwn(root: Element): boolean {
    if (root.clientWidth !== this.#width) return true;
    const withOwnContent = elementsWithOwnContent(root);
    return [...root.querySelectorAll("*")].some((element) => {
      if (element.closest(OWN_CONTENT_SELECTOR)) return false;
      const before = this.#drawn.get(element);
      if (!before) return true;
      const isMoved = withOwnContent.has(element) || this.#withOwnContent.has(element);
      return !isMoved && !isSameHeight(before.height, heightOf(element));
    });
  }

  #change(element: Element): number {
    const { top, bottom } = element.getBoundingClientRect();
    const before = this.#drawn.get(element);
    if (!before) return top;
    for (const [index, child] of [...element.children].entries()) {
      if (before.children[index] !== child) return child.getBoundingClientRect().top;
      const height = this.#drawn.get(child)?.height;
      if (height === undefined || !isSameHeight(height, heightOf(child)))
        return this.#change(child);
    }
    // Removing trailing children moves nothing above. Otherwise the text of the element, or its layout, changed.
    return element.children.length < before.children.length ? bottom : top;
  }
}

function heightOf(element: Element): number {
  return element.getBoundingClientRect().height;
}

function isSameHeight(one: number, other: number): boolean {
  return Math.abs(one - other) < HEIGHT_TOLERANCE;
}

/** Returns the descendants of `root` that contain the problem of a field or a field that the user has changed. */
function elementsWithOwnContent(root: Element): Set<Element> {
  const found = new Set<Element>();
  for (const own of root.querySelectorAll(OWN_CONTENT_SELECTOR))
    for (let one = own.parentElement; one && one !== root; one = one.parentElement) found.add(one);
  return found;
}
