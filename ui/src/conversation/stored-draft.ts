// Draft of a conversation's composer, stored by the host.
import { call } from "$lib/api/client";
import { errorLine } from "$lib/ui/error-title";

/** Delay after a change before the draft is stored, in milliseconds. */
const PAUSE = 400;

export class StoredDraft {
  readonly #conversation: string;
  /** Called with the reason why a draft can't be stored, and with `null` once it can. */
  readonly #onProblem: (problem: string | null) => void;
  /** The draft that the host has, or `null` until it is loaded. */
  #stored: string | null = null;
  #text = "";
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(conversation: string, onProblem: (problem: string | null) => void) {
    this.#conversation = conversation;
    this.#onProblem = onProblem;
  }

  /** Takes the draft of the host when it is loaded for the first time. Returns `true` if this was that time. */
  load(stored: string): boolean {
    if (this.#stored !== null) return false;
    this.#stored = stored;
    return true;
  }

  /** Schedules a text to be stored. */
  note(text: string): void {
    this.#text = text;
    this.#timer ??= setTimeout(() => this.flush(), PAUSE);
  }

  /** Stores the text now if it differs from the stored one. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const text = this.#text;
    if (this.#stored === null || this.#stored === text) return;
    this.#stored = text;
    call("set_draft", { conversation: this.#conversation, text }).then(
      () => this.#onProblem(null),
      (cause: unknown) => this.#onProblem(errorLine(cause)),
    );
  }
}
