// Scrolling: what is new comes into view only while the reader is at the end; else it is counted. What grows above the place that is
// read moves nothing.
import { staysAtEnd, type ScrollPosition } from "$lib/ui/end-tracking";

export class ScrollFollower {
  /** How many items came while the reader was elsewhere. */
  unseen = $state(0);

  #box: HTMLElement | null = null;
  #atEnd = true;
  #before: ScrollPosition | null = null;
  #count: number | null = null;
  #heights = new WeakMap<Element, number>();
  #sizes: ResizeObserver | null = null;

  get atEnd(): boolean {
    return this.#atEnd;
  }

  /** Begins with a box that is drawn. Returns how to end that. */
  watch(box: HTMLElement): () => void {
    this.#box = box;
    const end = this.watchSize(box);
    return () => {
      end();
      this.#box = null;
    };
  }

  /** Minds the height of something in the box. Returns how to end that. */
  watchSize(element: HTMLElement): () => void {
    this.#sizes ??= new ResizeObserver((changes) => this.#resized(changes));
    this.#sizes.observe(element);
    return () => this.#sizes?.unobserve(element);
  }

  scrolled(): void {
    const now = this.#now();
    if (!now) return;
    this.#atEnd = staysAtEnd(this.#before, now, this.#atEnd);
    this.#before = now;
    if (this.#atEnd) this.unseen = 0;
  }

  /** There are now so many items, already drawn. */
  grew(count: number): void {
    const before = this.#count;
    this.#count = count;
    if (this.#atEnd) this.toEnd();
    else if (before !== null && count > before) this.unseen += count - before;
  }

  toEnd(): void {
    if (this.#box) this.#box.scrollTop = this.#box.scrollHeight;
    this.#before = this.#now();
    this.#atEnd = true;
    this.unseen = 0;
  }

  /** The reader goes to another place. */
  leaveEnd(): void {
    this.#atEnd = false;
  }

  #now(): ScrollPosition | null {
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
      const before = this.#heights.get(target);
      this.#heights.set(target, height);
      // Something that ended above the place that is read. What reaches into view grows at its end.
      if (before !== undefined && target !== box && bottom - (height - before) <= top) {
        above += height - before;
      }
    }
    if (this.#atEnd) this.toEnd();
    else if (above !== 0) box.scrollTop += above;
  }
}
