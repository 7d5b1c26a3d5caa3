// Draft of a conversation's composer, stored by the host.
import { call } from "$lib/api/client";
import { registerPageState } from "$lib/page-state";
import { errorText } from "$lib/ui/error-title";

/** Delay after a change before the draft is stored, in milliseconds. */
const PAUSE = 400;

/** Results of the drafts that are being stored: the reason if one could not be stored, otherwise `null`. */
let pending: Set<Promise<{ cause: unknown } | null>>;
/** Drafts whose last change is not sent yet. */
let scheduled: Set<StoredDraft>;
/** Drafts that could not be stored, by conversation. They are shown when the conversation is opened again. */
let unstored: Map<string, string>;
/** Set once Drawbridge quits. From then on each change is stored at once. */
let isQuitting: boolean;
registerPageState(() => {
  isQuitting = false;
  pending = new Set();
  scheduled = new Set();
  unstored = new Map();
});

/** Resolves once all drafts that are being stored were stored. Rejects with the reason if one could not be stored. */
export async function draftsStored(): Promise<void> {
  const failed = (await Promise.all(pending)).find((result) => result !== null);
  if (failed) throw failed.cause;
}

/** Stores all drafts, and from now on each change, at once. Resolves once they were stored, or could not be. */
export async function storeDrafts(): Promise<void> {
  isQuitting = true;
  for (const draft of scheduled) draft.flush();
  await Promise.all(pending);
}

export class StoredDraft {
  readonly #conversation: string;
  /** Called with the reason if a draft can't be stored, and with `null` after it was stored. */
  readonly #onProblem: (problem: string | null) => void;
  /** The last draft that was loaded from the host or sent to it. `null` until one is loaded. */
  #stored: string | null = null;
  /** Set if the last draft could not be stored, so that it is sent again. */
  #isUnstored = false;
  #text = "";
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** Number of drafts that were sent. */
  #sent = 0;

  constructor(conversation: string, onProblem: (problem: string | null) => void) {
    this.#conversation = conversation;
    this.#onProblem = onProblem;
  }

  /**
   * Records the draft of the host as loaded. Returns the draft to show, which differs if the newest one could not be
   * stored. Returns `null` if one was loaded before.
   */
  load(stored: string): string | null {
    if (this.#stored !== null) return null;
    this.#stored = stored;
    return unstored.get(this.#conversation) ?? stored;
  }

  /** Schedules `text` to be stored. */
  note(text: string): void {
    this.#text = text;
    if (isQuitting) return this.flush();
    this.#timer ??= setTimeout(() => this.flush(), PAUSE);
    scheduled.add(this);
  }

  /** Stores the text now, unless it equals the stored one. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    scheduled.delete(this);
    const text = this.#text;
    if (this.#stored === null || (this.#stored === text && !this.#isUnstored)) return;
    this.#stored = text;
    this.#isUnstored = false;
    const number = ++this.#sent;
    const sent = call("set_draft", { conversation: this.#conversation, text }).then(
      () => {
        if (number === this.#sent) unstored.delete(this.#conversation);
        this.#onProblem(null);
        return null;
      },
      (cause: unknown) => {
        if (number === this.#sent) {
          this.#isUnstored = true;
          unstored.set(this.#conversation, text);
        }
        this.#onProblem(errorText(cause));
        return { cause };
      },
    );
    pending.add(sent);
    void sent.finally(() => pending.delete(sent));
  }
}
