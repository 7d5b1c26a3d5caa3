// Messages between a shown app and the host, faults and log messages, for the inspector.
import { createSubscriber } from "svelte/reactivity";

import type { AppFaultKind, AppMessageDirection } from "$lib/api/generated";

/** Maximum number of retained entries. The oldest are dropped first. */
export const MAX_ENTRIES = 500;
/** Maximum number of retained characters of an entry's text. */
export const MAX_ENTRY_LENGTH = 20_000;
/** Time from an entry until components show it, in milliseconds. A flood of messages must not render each of them. */
export const SHOW_DELAY = 100;
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
  /** Retained entries. Entry number n is at n - 1 modulo [`MAX_ENTRIES`], so that each new one replaces the oldest. */
  readonly #ring: AppLogEntry[] = [];
  #added = 0;
  #faults = 0;
  /** Renders the components that show the log, or `null` if there are none. */
  #render: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  readonly #subscribe = createSubscriber((render) => {
    this.#render = render;
    return () => {
      this.#render = null;
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = null;
    };
  });

  /** Retained entries, the oldest first. */
  get entries(): readonly AppLogEntry[] {
    this.#subscribe();
    const oldest = this.#added % MAX_ENTRIES;
    return [...this.#ring.slice(oldest), ...this.#ring.slice(0, oldest)];
  }

  /** Number of messages that were not processed as sent. */
  get faults(): number {
    this.#subscribe();
    return this.#faults;
  }

  addMessage(direction: AppMessageDirection, message: unknown, text: string): void {
    const isObject = typeof message === "object" && message !== null;
    const method = isObject && "method" in message ? message.method : "";
    this.#add("message", direction, typeof method === "string" ? method : "", text);
  }

  addFault(direction: AppMessageDirection, kind: AppFaultKind, detail: string): void {
    this.#faults += 1;
    this.#add("fault", direction, kind, detail);
  }

  /** Records that a message of the app did not reach the host. */
  addDropped(reason: string): void {
    this.#faults += 1;
    this.#add("dropped", "from_page", "", reason);
  }

  addLogged(level: string, text: string): void {
    this.#add("logged", "from_page", level, text);
  }

  #add(kind: AppLogEntry["kind"], direction: AppMessageDirection, name: string, all: string): void {
    const text = all.length > MAX_ENTRY_LENGTH ? copyOf(all.slice(0, MAX_ENTRY_LENGTH)) : all;
    this.#ring[this.#added % MAX_ENTRIES] = {
      ...{ number: this.#added + 1, at: Date.now(), kind, direction },
      ...{ name: name.slice(0, MAX_NAME_LENGTH), text, cut: all.length - text.length },
    };
    this.#added += 1;
    if (this.#render === null || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#render?.();
    }, SHOW_DELAY);
  }
}

/** Returns a copy of a text. A part of a text would otherwise keep the whole one in memory. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
