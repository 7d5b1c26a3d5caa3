// Scrolls to new items while the reader is at the end, and counts them otherwise. Growth above the visible items does
// not move them.
import { shouldFollowEnd, type ScrollPosition } from "$lib/ui/end-tracking";

export class ScrollFollower {
  /** Number of items that arrived while the reader was not at the end. */
  unseen = $state(0);

  #box: HTMLElement | null = null;
  #atEnd = true;
  #previousPosition: ScrollPosition | null = null;
  #count: number | null = null;
  #heights = new WeakMap<Element, number>();
  #sizes: ResizeObserver | null = null;

  get atEnd(): boolean {
    return this.#atEnd;
  }

  /** Starts to follow the scrollable element `box`. Returns a function that stops it. */
  watch(box: HTMLElement): () => void {
    this.#box = box;
    const end = this.watchSize(box);
    return () => {
      end();
      this.#box = null;
    };
  }

  /** Observes the height of an element within the box. Returns a function that stops it. */
  watchSize(element: HTMLElement): () => void {
    this.#sizes ??= new ResizeObserver((changes) => this.#resized(changes));
    this.#sizes.observe(element);
    return () => this.#sizes?.unobserve(element);
  }

  scrolled(): void {
    const position = this.#currentPosition();
    if (!position) return;
    this.#atEnd = shouldFollowEnd(this.#previousPosition, position, this.#atEnd);
    this.#previousPosition = position;
    if (this.#atEnd) this.unseen = 0;
  }

  /** Updates the number of rendered items, and scrolls to the end if the reader is there. */
  grew(count: number): void {
    const previous = this.#count;
    this.#count = count;
    if (this.#atEnd) this.toEnd();
    else if (previous !== null && count > previous) this.unseen += count - previous;
  }

  toEnd(): void {
    if (this.#box) this.#box.scrollTop = this.#box.scrollHeight;
    this.#previousPosition = this.#currentPosition();
    this.#atEnd = true;
    this.unseen = 0;
  }

  /** Stops following the end, because the reader moves to another position. */
  leaveEnd(): void {
    this.#atEnd = false;
  }

  #currentPosition(): ScrollPosition | null {
    const box = this.#box;
    return box && { top: box.scrollTop, view: box.clientHeight, whole: box.scrollHeight };
  }

  #resized(changes: ResizeObserverEntry[]): void {
    const box = this.#box;
    if (!box) return;
    const top = box.getBoundingClientRect().top;
    let above = 0;
    for (const { target } of changes) {
      const { height, bottom } = target.getBoundingClientRect();
      const previous = this.#heights.get(target);
      this.#heights.set(target, height);
      // Counts growth above the visible part. Partly visible elements are excluded, because they grow at their end.
      if (previous !== undefined && target !== box && bottom - (height - previous) <= top) {
        above += height - previous;
      }
    }
    if (this.#atEnd) this.toEnd();
    else if (above !== 0) box.scrollTop += above;
  }
}
