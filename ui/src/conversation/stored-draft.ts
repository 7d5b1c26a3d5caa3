// What is written in the composer and not sent yet, as the host keeps it.
import { call } from "$lib/api/client";
import { errorLine } from "$lib/ui/error-title";

/** How long after a change it is kept, in milliseconds. */
const PAUSE = 400;

export class StoredDraft {
  readonly #conversation: string;
  /** Told why a draft can't be kept, and with null once it can again. */
  readonly #tell: (problem: string | null) => void;
  /** The draft as the host has it; null until that is known. */
  #kept: string | null = null;
  #text = "";
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(conversation: string, tell: (problem: string | null) => void) {
    this.#conversation = conversation;
    this.#tell = tell;
  }

  /** Takes what the host has, the first time that it is known. Returns whether this is that time. */
  begin(kept: string): boolean {
    if (this.#kept !== null) return false;
    this.#kept = kept;
    return true;
  }

  /** Keeps a text, soon. */
  note(text: string): void {
    this.#text = text;
    this.#timer ??= setTimeout(() => this.flush(), PAUSE);
  }

  /** Keeps it now, if it is another than the host has. */
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
