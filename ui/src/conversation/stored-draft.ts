// Draft of a conversation's composer, stored by the host.
import { call } from "$lib/api/client";
import { errorText } from "$lib/ui/error-title";

/** Delay after a change before the draft is stored, in milliseconds. */
const PAUSE = 400;

const pending = new Set<Promise<void>>();

/** Resolves once all drafts that are being stored were stored, or could not be. */
export async function draftsStored(): Promise<void> {
  await Promise.all(pending);
}

export class StoredDraft {
  readonly #conversation: string;
  /** Called with the reason if a draft can't be stored, and with `null` after it was stored. */
  readonly #onProblem: (problem: string | null) => void;
  /** The last draft that was loaded from the host or sent to it. `null` until one is loaded. */
  #stored: string | null = null;
  #text = "";
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(conversation: string, onProblem: (problem: string | null) => void) {
    this.#conversation = conversation;
    this.#onProblem = onProblem;
  }

  /** Records the draft of the host as loaded. Returns `false` if one was loaded before. */
  load(stored: string): boolean {
    if (this.#stored !== null) return false;
    this.#stored = stored;
    return true;
  }

  /** Schedules `text` to be stored. */
  note(text: string): void {
    this.#text = text;
    this.#timer ??= setTimeout(() => this.flush(), PAUSE);
  }

  /** Stores the text now, unless it equals the stored one. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const text = this.#text;
    if (this.#stored === null || this.#stored === text) return;
    this.#stored = text;
    const sent = call("set_draft", { conversation: this.#conversation, text }).then(
      () => this.#onProblem(null),
      (cause: unknown) => this.#onProblem(errorText(cause)),
    );
    pending.add(sent);
    void sent.finally(() => pending.delete(sent));
  }
}
