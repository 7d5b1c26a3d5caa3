// Scrolling: new items come into view only while the reader is at the end; else they are counted.

/** So near to the end counts as at the end, in pixels. */
const NEAR = 48;

export class Follow {
  /** How many items came while the reader was elsewhere. */
  unseen = $state(0);

  #box: HTMLElement | null = null;
  #atEnd = true;
  #count: number | null = null;

  /** Begins with a box that is drawn. */
  watch(box: HTMLElement): void {
    this.#box = box;
  }

  scrolled(): void {
    const box = this.#box;
    if (!box) return;
    this.#atEnd = box.scrollHeight - box.scrollTop - box.clientHeight <= NEAR;
    if (this.#atEnd) this.unseen = 0;
  }

  /** There are now so many items, already drawn. */
  grew(count: number): void {
    const before = this.#count;
    this.#count = count;
    if (before === null || this.#atEnd) this.toEnd();
    else if (count > before) this.unseen += count - before;
  }

  toEnd(): void {
    if (this.#box) this.#box.scrollTop = this.#box.scrollHeight;
    this.#atEnd = true;
    this.unseen = 0;
  }
}
