// Sends the messages of a shown app to the host one after another, in the order in which the app posted them.
import { call } from "$lib/api/client";
import { errorText } from "$lib/ui/error-title";

/** Maximum number of messages that wait for earlier ones. */
export const MAX_QUEUED = 1000;
/** Maximum length of a message in UTF-16 code units. Longer ones also exceed the host's limit in bytes. */
const MAX_LENGTH = 16 * 1024 * 1024;

export class MessageSender {
  readonly #view: string;
  /** Called with the reason if a message did not reach the host. */
  readonly #onDropped: (reason: string) => void;
  #queue: string[] = [];
  #isSending = false;

  constructor(view: string, onDropped: (reason: string) => void) {
    this.#view = view;
    this.#onDropped = onDropped;
  }

  send(message: string): void {
    if (message.length > MAX_LENGTH) this.#onDropped("the message is too large");
    else if (this.#queue.length >= MAX_QUEUED) this.#onDropped("too many messages are queued");
    else {
      this.#queue.push(message);
      if (!this.#isSending) void this.#sendAll();
    }
  }

  /** Drops all messages that wait. */
  stop(): void {
    this.#queue = [];
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let message = this.#queue.shift(); message !== undefined; message = this.#queue.shift()) {
      try {
        await call("app_message", { view: this.#view, message });
      } catch (cause) {
        this.#onDropped(errorText(cause));
      }
    }
    this.#isSending = false;
  }
}
