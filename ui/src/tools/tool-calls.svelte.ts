// Calls of one tool in the activity log of its server. Only the messages name the tool, so they are read one by one,
// latest first.
import { SvelteMap } from "svelte/reactivity";

import { call, toApiError } from "$lib/api/client";

import { parseSentCall, type PastCall, type SentCall } from "./call-history";

/** Maximum number of listed calls. */
export const MAX_CALLS = 50;

/** Call of the tool. Also a call that may be of the tool, if the log contains only the beginning of its request. */
export interface ListedCall extends PastCall {
  sent: SentCall | null;
}

/** Marks a call as one of another tool. */
type OtherTool = "other";

export class ToolCalls {
  /** The error of the last read, or `null` if it succeeded. */
  error = $state.raw<unknown>(null);
  readonly #server: string;
  readonly #tool: string;
  /** Content of the read requests by sequence number. `null` if the log contains only the beginning of the request. */
  readonly #found = new SvelteMap<number, SentCall | null | OtherTool>();
  #reading = false;

  constructor(server: string, tool: string) {
    this.#server = server;
    this.#tool = tool;
  }

  /** Returns those of `calls` that are listed: known calls of the tool, at most `MAX_CALLS`. */
  listed(calls: readonly PastCall[]): ListedCall[] {
    return calls
      .flatMap((past) => {
        const sent = this.#found.get(past.request.seq);
        return sent === undefined || sent === "other" ? [] : [{ ...past, sent }];
      })
      .slice(0, MAX_CALLS);
  }

  /**
   * Returns the sequence number of the latest request that must be read to complete the list, or `null` if the list is
   * complete.
   */
  next(calls: readonly PastCall[]): number | null {
    let listed = 0;
    for (const { request } of calls) {
      if (listed === MAX_CALLS) return null;
      const sent = this.#found.get(request.seq);
      if (sent === undefined) return request.seq;
      if (sent !== "other") listed += 1;
    }
    return null;
  }

  /** Reads requests until the list is complete. Failed reads are repeated by the next call. */
  async read(calls: () => readonly PastCall[]): Promise<void> {
    this.#forget(calls());
    if (this.#reading) return;
    this.#reading = true;
    this.error = null;
    try {
      for (let seq = this.next(calls()); seq !== null; seq = this.next(calls()))
        this.#found.set(seq, await this.#readRequest(seq));
    } catch (cause) {
      this.error = cause;
    }
    this.#reading = false;
  }

  async #readRequest(seq: number): Promise<SentCall | null | OtherTool> {
    try {
      const body = await call("read_activity_message", { server: this.#server, seq });
      const sent = parseSentCall(body);
      return sent === null || sent.tool === this.#tool ? sent : "other";
    } catch (cause) {
      // The host dropped the message.
      if (toApiError(cause).code === "not_found") return "other";
      throw cause;
    }
  }

  #forget(calls: readonly PastCall[]): void {
    const known = new Set(calls.map(({ request }) => request.seq));
    for (const seq of this.#found.keys()) if (!known.has(seq)) this.#found.delete(seq);
  }
}
