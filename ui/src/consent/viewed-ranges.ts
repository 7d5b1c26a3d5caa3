// Which part of what scrolls was in view: a union of ranges, in pixels from the top of what is drawn.

/** So many ranges are kept; what a further one adds has to be scrolled through again. */
export const MAX_RANGES = 64;
/** So much may be missing between two ranges, and at both ends, in pixels. */
const NEAR = 8;

interface Range {
  from: number;
  to: number;
}

export class ViewedRanges {
  /** Apart from each other, from the top to the bottom. */
  #ranges: Range[] = [];

  /** This part is in view. */
  add(from: number, to: number): void {
    if (to <= from) return;
    const joined: Range = { from, to };
    const apart = this.#ranges.filter((one) => {
      const isApart = one.to < from - NEAR || one.from > to + NEAR;
      if (!isApart) {
        joined.from = Math.min(joined.from, one.from);
        joined.to = Math.max(joined.to, one.to);
      }
      return isApart;
    });
    this.#ranges = [...apart, joined].sort((a, b) => a.from - b.from).slice(0, MAX_RANGES);
  }

  /** What is drawn below is another now. */
  cut(below: number): void {
    this.#ranges = this.#ranges
      .filter(({ from }) => from < below)
      .map(({ from, to }) => ({ from, to: Math.min(to, below) }));
  }

  /** Where the first part begins that was not in view, of so much. */
  missing(height: number): number | null {
    const first = this.#ranges[0];
    const end = first && first.from <= NEAR ? first.to : 0;
    return end >= height - NEAR ? null : end;
  }
}

interface Drawn {
  height: number;
  children: Element[];
}

/** How something was drawn, to tell later from where on it is drawn otherwise. */
export class LayoutSnapshot {
  readonly #width: number;
  readonly #drawn = new Map<Element, Drawn>();

  constructor(root: Element) {
    this.#width = root.clientWidth;
    for (const element of [root, ...root.querySelectorAll("*")])
      this.#drawn.set(element, { height: heightOf(element), children: [...element.children] });
  }

  /** From where on it is drawn otherwise now, below its top. */
  changedBelow(root: Element): number {
    // Other widths break all lines anew.
    if (root.clientWidth !== this.#width) return 0;
    return this.#change(root) - root.getBoundingClientRect().top;
  }

  #change(element: Element): number {
    const { top, bottom } = element.getBoundingClientRect();
    const before = this.#drawn.get(element);
    if (!before) return top;
    for (const [index, child] of [...element.children].entries()) {
      if (before.children[index] !== child) return child.getBoundingClientRect().top;
      if (this.#drawn.get(child)?.height !== heightOf(child)) return this.#change(child);
    }
    // What was taken away at the end leaves the rest where it was; else its own text is another, or where its children stand.
    return element.children.length < before.children.length ? bottom : top;
  }
}

function heightOf(element: Element): number {
  return element.getBoundingClientRect().height;
}
