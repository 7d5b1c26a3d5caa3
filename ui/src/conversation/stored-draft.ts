// Draft of a conversation's composer, stored by the host.
import { call } from "$lib/api/client";
import { errorLine } from "$lib/ui/error-title";

/** Delay after a change before the draft is stored, in milliseconds. */
const PAUSE = 400;

export class StoredDraft {
  readonly #conversation: string;
  /** Called with the reason why a draft can't be stored, and with `null` once it can. */
  readonly #tell: (problem: string | null) => void;
  /** The draft that the host has, or `null` until it is loaded. */
  #kept: string | null = null;
  #text = "";
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(conversation: string, tell: (problem: string | null) => void) {
    this.#conversation = conversation;
    this.#tell = tell;
  }

  /** Takes the draft of the host when it is loaded for the first time. Returns `true` if this was that time. */
  begin(kept: string): boolean {
    if (this.#kept !== null) return false;
    this.#kept = kept;
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
    if (this.#kept === null || this.#kept === text) return;
    this.#kept = text;
    call("set_draft", { conversation: this.#conversation, text }).then(
      () => this.#tell(null),
      (cause: unknown) => this.#tell(errorLine(cause)),
    );
  }
}
