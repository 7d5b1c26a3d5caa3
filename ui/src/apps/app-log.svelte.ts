// Messages between a shown app and the host, faults and log messages, for the inspector.
import type { AppFaultKind, AppMessageDirection } from "$lib/api/generated";

/** Maximum number of retained entries. The oldest are dropped first. */
export const MAX_ENTRIES = 500;
/** Maximum number of retained characters of an entry's text. */
export const MAX_ENTRY_LENGTH = 20_000;
/** Maximum number of retained characters of an entry's name. */
const MAX_NAME_LENGTH = 200;

export interface AppLogEntry {
  /** Number of the entry, from 1. */
  number: number;
  /** Time in milliseconds since 1970. */
  at: number;
  /** `dropped` is a message that did not reach the host. */
  kind: "message" | "fault" | "logged" | "dropped";
  direction: AppMessageDirection;
  /** Method of a message, kind of a fault, or level of a log message. Empty for a response. */
  name: string;
  /** JSON of a message, or else an explanation. Truncated. */
  text: string;
  /** Number of characters that were cut off. */
  cut: number;
}

export class AppLog {
  entries = $state.raw<readonly AppLogEntry[]>([]);
  /** Number of messages that were not processed as sent. */
  faults = $state(0);
  #added = 0;

  addMessage(direction: AppMessageDirection, message: unknown, text: string): void {
    const isObject = typeof message === "object" && message !== null;
    const method = isObject && "method" in message ? message.method : "";
    this.#add("message", direction, typeof method === "string" ? method : "", text);
  }

  addFault(direction: AppMessageDirection, kind: AppFaultKind, detail: string): void {
    this.faults += 1;
    this.#add("fault", direction, kind, detail);
  }

  /** Records that a message of the app did not reach the host. */
  addDropped(reason: string): void {
    this.faults += 1;
    this.#add("dropped", "from_page", "", reason);
  }

  addLogged(level: string, text: string): void {
    this.#add("logged", "from_page", level, text);
  }

  #add(kind: AppLogEntry["kind"], direction: AppMessageDirection, name: string, all: string): void {
    this.#added += 1;
    const text = all.slice(0, MAX_ENTRY_LENGTH);
    const entry: AppLogEntry = {
      ...{ number: this.#added, at: Date.now(), kind, direction },
      ...{ name: name.slice(0, MAX_NAME_LENGTH), text, cut: all.length - text.length },
    };
    this.entries = [...this.entries.slice(1 - MAX_ENTRIES), entry];
  }
}
