// Delays decisions until no key or pointer button was pressed for a while, so that typing, a held key or a click aimed
// at something else decides nothing.

/** Time without input before a decision is armed, in milliseconds. */
export const ARMING_DELAY = 500;
/**
 * Minimum distance between a click and the pointer's position at the last change of the content, in pixels, unless the
 * pointer moved this far since. A click below it was not aimed at the new content.
 */
export const MIN_TRAVEL = 8;

interface Point {
  x: number;
  y: number;
}

/** Inputs that can be held down. */
export type InputKind = "key" | "pointer";

/** The reason an input was ignored: it came before arming, or the pointer rested where it was. */
export type IgnoredReason = "early" | "rested";

export class Arming {
  /** Set while decisions are accepted. */
  armed = $state(false);
  /** The reason the last input was ignored, or `null` if it was accepted or the reason no longer applies. */
  ignored = $state<IgnoredReason | null>(null);

  /** Last known pointer position. */
  #pointer: Point | null = null;
  /** Pointer position at the last change of the content, or `null` once the pointer left it. */
  #rest: Point | null = null;
  #running = false;
  readonly #held = new Set<InputKind>();
  #armedAt = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Restarts the delay because the content changed. */
  restart(): void {
    this.#running = true;
    this.ignored = null;
    this.#rest = this.#pointer;
    this.#disarm();
    this.#wait();
  }

  /** Disarms because nothing is displayed. */
  stop(): void {
    this.#running = false;
    this.#disarm();
  }

  /** Records that a key or pointer button went down. */
  press(what: InputKind): void {
    this.#held.add(what);
    if (!this.armed) clearTimeout(this.#timer);
  }

  /** Records that a key or pointer button came up. */
  release(what: InputKind): void {
    this.#held.delete(what);
    if (!this.armed) this.#wait();
  }

  /** Records the pointer position. */
  pointerAt(x: number, y: number): void {
    this.#pointer = { x, y };
    if (this.#rest && Math.hypot(x - this.#rest.x, y - this.#rest.y) >= MIN_TRAVEL) {
      this.#rest = null;
      if (this.ignored === "rested") this.ignored = null;
    }
  }

  /** Forgets the pointer position, as a finger has none before it touches. */
  touched(): void {
    this.#pointer = null;
    this.#rest = null;
  }

  /**
   * Records a move without a pressed button, which releases a button whose release went unnoticed, as in a native list.
   */
  moved(): void {
    if (this.#held.has("pointer")) this.release("pointer");
  }

  /** Forgets held inputs, as their release can't be observed, such as when the window loses the focus. */
  reset(): void {
    this.#held.clear();
    if (!this.armed) this.#wait();
  }

  /** Returns `true` if the event is deliberate and was made after arming. */
  accepts(event: Event): boolean {
    if (!this.armed || !isDeliberate(event)) return false;
    // A button activated by a key dispatches a click with a `detail` of 0.
    const aimed = event instanceof MouseEvent && event.detail > 0;
    if (event.timeStamp < this.#armedAt) this.ignored = "early";
    else this.ignored = aimed && this.#rest !== null ? "rested" : null;
    return this.ignored === null;
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.armed = false;
    this.#armedAt = Infinity;
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (!this.#running || this.#held.size > 0) return;
    this.#timer = setTimeout(() => {
      this.armed = true;
      this.#armedAt = this.#now();
    }, ARMING_DELAY);
  }
}

/** Returns `false` for a repeated key and for the second click of a double click. */
export function isDeliberate(event: Event): boolean {
  if (event instanceof KeyboardEvent) return !event.repeat;
  if (event instanceof MouseEvent) return event.detail <= 1;
  return true;
}
