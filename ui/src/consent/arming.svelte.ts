// A decision counts only after a time of quiet since what is shown last changed, so that nobody decides by typing on, by
// holding a key or by a click that was meant for something else.

/** How long nothing may be pressed before a decision is armed, in milliseconds. */
export const ARMING_DELAY = 500;
/** How far from where the pointer was when what is shown last changed a click has to be to count, or the pointer to have gone
 * since, in pixels: what came to lie under a pointer that rests was not aimed at. */
export const MIN_TRAVEL = 8;

interface Point {
  x: number;
  y: number;
}

/** What can be held down. */
export type InputKind = "key" | "pointer";

/** Why what was pressed did not count: before it was armed, or where the pointer rested. */
export type IgnoredReason = "early" | "rested";

export class Arming {
  /** Whether it can be decided now. */
  armed = $state(false);
  /** Why what was pressed last did not count, if it did not and that is not over. */
  ignored = $state<IgnoredReason | null>(null);

  /** Where the pointer was last seen. */
  #pointer: Point | null = null;
  /** Where it was when what is shown changed; nothing once it went away from there. */
  #rest: Point | null = null;
  #running = false;
  readonly #held = new Set<InputKind>();
  #armedAt = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Something new is shown: the quiet starts over. */
  restart(): void {
    this.#running = true;
    this.ignored = null;
    this.#rest = this.#pointer;
    this.#disarm();
    this.#wait();
  }

  /** Nothing is shown. */
  stop(): void {
    this.#running = false;
    this.#disarm();
  }

  /** A key or a pointer button went down. */
  press(what: InputKind): void {
    this.#held.add(what);
    if (!this.armed) clearTimeout(this.#timer);
  }

  /** A key or a pointer button came up. */
  release(what: InputKind): void {
    this.#held.delete(what);
    if (!this.armed) this.#wait();
  }

  /** The pointer is here. */
  pointerAt(x: number, y: number): void {
    this.#pointer = { x, y };
    if (this.#rest && Math.hypot(x - this.#rest.x, y - this.#rest.y) >= MIN_TRAVEL) {
      this.#rest = null;
      if (this.ignored === "rested") this.ignored = null;
    }
  }

  /** A finger has no place before it touches. */
  touched(): void {
    this.#pointer = null;
    this.#rest = null;
  }

  /** The pointer moves with no button down: one that went down came up where it was not seen, as in a list. */
  moved(): void {
    if (this.#held.has("pointer")) this.release("pointer");
  }

  /** Nothing can be followed any more, as when the window is left. */
  reset(): void {
    this.#held.clear();
    if (!this.armed) this.#wait();
  }

  /** Whether this event may decide: made once, on purpose, and after that was armed. */
  accepts(event: Event): boolean {
    if (!this.armed || !isDeliberate(event)) return false;
    // A button that is pressed by a key makes a click, too, which counts none.
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

/** Not a key held down, and not the second click of a double click. */
export function isDeliberate(event: Event): boolean {
  if (event instanceof KeyboardEvent) return !event.repeat;
  if (event instanceof MouseEvent) return event.detail <= 1;
  return true;
}
