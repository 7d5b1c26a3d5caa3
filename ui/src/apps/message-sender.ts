// Sends the messages of a shown app to the host one after another, in the order in which the app posted them.
import { call } from "$lib/api/client";
import { errorText } from "$lib/ui/error-title";

/** Maximum number of messages that wait for earlier ones. */
export const MAX_QUEUED = 1000;
/** Maximum length of a message in UTF-16 code units. Longer ones also exceed the host's limit in bytes. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Maximum total length of the messages that wait for earlier ones, in UTF-16 code units. */
export const MAX_QUEUED_LENGTH = 32 * 1024 * 1024;

export class MessageSender {
  readonly #view: string;
  /** Called with the reason if a message did not reach the host. */
  readonly #onDropped: (reason: string) => void;
  #queue: string[] = [];
  /** Total length of the queue in UTF-16 code units. */
  #queuedLength = 0;
  #isSending = false;

  constructor(view: string, onDropped: (reason: string) => void) {
    this.#view = view;
    this.#onDropped = onDropped;
  }

  send(message: string): void {
    if (message.length > MAX_LENGTH) this.#onDropped("the message is too large");
    else if (this.#queue.length >= MAX_QUEUED) this.#onDropped("too many messages are queued");
    else if (this.#queuedLength + message.length > MAX_QUEUED_LENGTH)
      this.#onDropped("the queued messages are too large");
    else {
      this.#queue.push(message);
      this.#queuedLength += message.length;
      if (!this.#isSending) void this.#sendAll();
    }
  }

  /** Drops all messages that wait. */
  stop(): void {
    this.#queue = [];
    this.#queuedLength = 0;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let message = this.#next(); message !== undefined; message = this.#next()) {
      try {
        await call("deliver_app_message", { view: this.#view, message });
      } catch (cause) {
        this.#onDropped(errorText(cause));
      }
    }
    this.#isSending = false;
  }

  #next(): string | undefined {
    const message = this.#queue.shift();
    this.#queuedLength -= message?.length ?? 0;
    return message;
  }
}
