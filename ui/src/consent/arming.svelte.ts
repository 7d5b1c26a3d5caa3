// Delays decisions until no key or pointer button was pressed for a while, so that typing, a held key or a click aimed
// at something else decides nothing.

/** Time without input before a decision is armed, in milliseconds. */
export const ARMING_DELAY_MS = 500;
/**
 * Minimum distance that the pointer has to move after a change of the content before a click is accepted, in pixels. A
 * click without such a movement was not aimed at the new content.
 */
export const MIN_POINTER_TRAVEL = 8;

interface Point {
  x: number;
  y: number;
}

/** Input that can be held down. */
export type InputKind = "key" | "pointer";

/**
 * Reason why an input was ignored. `early`: it was made before arming. `rested`: it was a click, and the pointer has
 * not moved since the content changed.
 */
export type IgnoredInputReason = "early" | "rested";

export class Arming {
  /** Set while decisions are accepted. */
  armed = $state(false);
  /** The reason why the last input was ignored. `null` if it was accepted or the reason no longer applies. */
  ignored = $state<IgnoredInputReason | null>(null);

  /** Last known pointer position. */
  #pointer: Point | null = null;
  /** Pointer position at the last change of the content, or `null` once the pointer has moved away from it. */
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

  /** Disarms, because no request is displayed. */
  stop(): void {
    this.#running = false;
    this.#disarm();
  }

  /** Records that a key or pointer button was pressed. */
  press(what: InputKind): void {
    this.#held.add(what);
    if (!this.armed) clearTimeout(this.#timer);
  }

  /** Records that a key or pointer button was released. */
  release(what: InputKind): void {
    this.#held.delete(what);
    if (!this.armed) this.#wait();
  }

  /**
   * Records the pointer position, in pixels. Clicks are accepted again once it is far enough from the position at the
   * last change of the content.
   */
  pointerAt(x: number, y: number): void {
    this.#pointer = { x, y };
    if (this.#rest && Math.hypot(x - this.#rest.x, y - this.#rest.y) >= MIN_POINTER_TRAVEL) {
      this.#rest = null;
      if (this.ignored === "rested") this.ignored = null;
    }
  }

  /** Clears the pointer position, because a touching finger has no previous position. */
  touched(): void {
    this.#pointer = null;
    this.#rest = null;
  }

  /**
   * Records a pointer move without a pressed button. Marks the button as released, because the release may not have
   * been reported, such as in a native list.
   */
  moved(): void {
    if (this.#held.has("pointer")) this.release("pointer");
  }

  /** Clears the held inputs, because their release can't be observed, such as after the window has lost focus. */
  reset(): void {
    this.#held.clear();
    if (!this.armed) this.#wait();
  }

  /** Returns `true` if the event is deliberate and was made after arming. */
  accepts(event: Event): boolean {
    if (!this.armed || !isDeliberateEvent(event)) return false;
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
    }, ARMING_DELAY_MS);
  }
}

/** Returns `false` for key repeats and for the second click of a double click. */
export function isDeliberateEvent(event: Event): boolean {
  if (event instanceof KeyboardEvent) return !event.repeat;
  if (event instanceof MouseEvent) return event.detail <= 1;
  return true;
}
