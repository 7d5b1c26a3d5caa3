// Sends the messages of a shown app to the host one after another, in the order in which the app posted them.
import { call } from "$lib/api/client";
import { errorText } from "$lib/ui/error-title";

import { exceedsJsonLength } from "./json-length";

/** Maximum number of messages that wait for earlier ones. */
export const MAX_QUEUED = 1000;
/** Maximum length of a message in UTF-16 code units. Longer ones also exceed the host's limit in bytes. */
export const MAX_LENGTH = 16 * 1024 * 1024;
/** Maximum total length of the messages that wait for earlier ones, in UTF-16 code units. */
export const MAX_QUEUED_LENGTH = 32 * 1024 * 1024;
/**
 * Maximum total length of the messages in [`DROP_PERIOD`] that are read although they are dropped, in UTF-16 code units.
 * Otherwise a flood of large messages would occupy the page.
 */
export const MAX_DROPPED_LENGTH = 32 * 1024 * 1024;
/** Period of that maximum, in milliseconds. */
export const DROP_PERIOD = 1000;

export class MessageSender {
  readonly #view: string;
  /** Called with the reason if a message did not reach the host. */
  readonly #onDropped: (reason: string) => void;
  #queue: string[] = [];
  /** Total length of the queue in UTF-16 code units. */
  #queuedLength = 0;
  #isSending = false;
  /** Total length of the messages that were dropped in a period, in UTF-16 code units. */
  #droppedLength = 0;
  /** Time in milliseconds since 1970 at which the period ends. */
  #dropPeriodEnd = 0;

  constructor(view: string, onDropped: (reason: string) => void) {
    this.#view = view;
    this.#onDropped = onDropped;
  }

  /**
   * Returns `true` if a message may be sent, depending on its size. Otherwise it is dropped, and need not be read.
   */
  admits(): boolean {
    let reason: string | null = null;
    if (this.#queue.length >= MAX_QUEUED) reason = "too many messages are queued";
    else if (this.#queuedLength >= MAX_QUEUED_LENGTH) reason = "the queued messages are too large";
    else if (this.#droppedLength >= MAX_DROPPED_LENGTH && Date.now() < this.#dropPeriodEnd)
      reason = "too many large messages were dropped";
    if (reason !== null) this.#onDropped(reason);
    return reason === null;
  }

  /** Sends a message that was admitted. Returns its text, or `null` if it is dropped. */
  send(message: object): string | null {
    const text = this.#write(message);
    if (text === null) return null;
    if (this.#queuedLength + text.length > MAX_QUEUED_LENGTH)
      return this.#drop("the queued messages are too large", text.length);
    this.#queue.push(text);
    this.#queuedLength += text.length;
    if (!this.#isSending) void this.#sendAll();
    return text;
  }

  /** Drops all messages that wait. */
  stop(): void {
    this.#queue = [];
    this.#queuedLength = 0;
  }

  /** Returns the text of a message, or `null` if it is dropped. */
  #write(message: object): string | null {
    if (exceedsJsonLength(message, MAX_LENGTH))
      return this.#drop("the message is too large", MAX_LENGTH);
    let text: string;
    try {
      text = JSON.stringify(message);
    } catch {
      // Much of the text may have been written before.
      return this.#drop("the message can't be written as JSON", MAX_LENGTH);
    }
    // Escapes can make it longer.
    return text.length > MAX_LENGTH ? this.#drop("the message is too large", text.length) : text;
  }

  #drop(reason: string, length: number): null {
    const now = Date.now();
    if (now >= this.#dropPeriodEnd) {
      this.#droppedLength = 0;
      this.#dropPeriodEnd = now + DROP_PERIOD;
    }
    this.#droppedLength += length;
    this.#onDropped(reason);
    return null;
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
