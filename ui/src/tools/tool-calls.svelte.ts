// The calls of one tool, found in the activity of its server: which calls they are stands only in their messages, which are
// read one by one, the latest first.
import { SvelteMap } from "svelte/reactivity";

import { call, toApiError } from "$lib/api/client";

import { sentCall, type PastCall, type SentCall } from "./call-history";

/** How many calls of the tool are listed, the latest. */
export const MOST = 50;

/** A call of the tool, or one that may be of it: what it sent is not known where the log has only its beginning. */
export interface ListedCall extends PastCall {
  sent: SentCall | null;
}

/** Neither a call of the tool nor one that may be. */
type Other = "other";

export class ToolCalls {
  /** Why the last one could not be read. */
  error = $state.raw<unknown>(null);
  readonly #server: string;
  readonly #tool: string;
  /** By number, what each sent. */
  readonly #found = new SvelteMap<number, SentCall | null | Other>();
  #reading = false;

  constructor(server: string, tool: string) {
    this.#server = server;
    this.#tool = tool;
  }

  /** Those of these calls that are listed. */
  listed(calls: readonly PastCall[]): ListedCall[] {
    return calls
      .flatMap((past) => {
        const sent = this.#found.get(past.request.seq);
        return sent === undefined || sent === "other" ? [] : [{ ...past, sent }];
      })
      .slice(0, MOST);
  }

  /** The latest call that has to be read to tell which are listed; nothing when all is known. */
  next(calls: readonly PastCall[]): number | null {
    let listed = 0;
    for (const { request } of calls) {
      if (listed === MOST) return null;
      const sent = this.#found.get(request.seq);
      if (sent === undefined) return request.seq;
      if (sent !== "other") listed += 1;
    }
    return null;
  }

  /** Reads until it is known which calls are listed. Those that fail are read again the next time. */
  async read(calls: () => readonly PastCall[]): Promise<void> {
    this.#forget(calls());
    if (this.#reading) return;
    this.#reading = true;
    this.error = null;
    try {
      for (let seq = this.next(calls()); seq !== null; seq = this.next(calls()))
        this.#found.set(seq, await this.#look(seq));
    } catch (cause) {
      this.error = cause;
    }
    this.#reading = false;
  }

  async #look(seq: number): Promise<SentCall | null | Other> {
    try {
      const sent = sentCall(await call("activity_body", { server: this.#server, seq }));
      return sent === null || sent.tool === this.#tool ? sent : "other";
    } catch (cause) {
      // The host let it go.
      if (toApiError(cause).code === "not_found") return "other";
      throw cause;
    }
  }

  #forget(calls: readonly PastCall[]): void {
    const kept = new Set(calls.map(({ request }) => request.seq));
    for (const seq of this.#found.keys()) if (!kept.has(seq)) this.#found.delete(seq);
  }
}
