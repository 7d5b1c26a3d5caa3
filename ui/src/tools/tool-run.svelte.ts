// State of one tool call, from the click to its result.

import { ApiError, call, toApiError } from "$lib/api/client";
import type { ServerCall, ErrorCode, JsonValue, ToolResult } from "$lib/api/generated";
import { jsonWithSortedKeys } from "$lib/format/json";
import { app } from "$lib/state/app.svelte";

/** Tool call to send to the host. */
export interface RunRequest {
  server: string;
  tool: string;
  arguments: JsonValue;
  /** Id of the conversation in which the host stores the outcome. */
  conversation?: string | null;
  /** Id of an earlier run that the user repeats. The host requests consent unless the user may repeat it. */
  repeats?: string;
}

/** State of a run. `tool_error` is a result in which the tool reports an error. */
export type RunState =
  | "starting"
  | "awaiting_approval"
  | "running"
  | "awaiting_input"
  | "done"
  | "tool_error"
  | "refused"
  | "cancelled"
  | "timeout"
  | "failed";

/** Final state of a run by error code. All other codes lead to `failed`. */
const ENDS: Partial<Record<ErrorCode, RunState>> = {
  refused: "refused",
  cancelled: "cancelled",
  timeout: "timeout",
};

export class ToolRun {
  readonly id = crypto.randomUUID();
  readonly startedAt = Date.now();
  readonly request: RunRequest;
  /** Resolves once the run has ended, regardless of the outcome. Never rejects. */
  readonly ended: Promise<ToolRun>;
  result = $state.raw<ToolResult | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** Duration of the ended run in milliseconds, excluding the time for decisions and input of the user. */
  took = $state<number | null>(null);
  /** The error for which the run could not be cancelled, or `null`. */
  notCancelled = $state.raw<ApiError | null>(null);
  cancelling = $state(false);
  /** Time spent waiting for the user so far in milliseconds, without the current wait. */
  #waited = 0;
  #waitingSince: number | null = null;
  readonly #unfollow: () => void;

  constructor(request: RunRequest) {
    this.request = request;
    this.#unfollow = app.onEvent((event) => {
      if (event.type !== "call_changed" || event.call.id !== this.id) return;
      const { state } = event.call;
      this.#waits(state === "awaiting_approval" || state === "awaiting_input");
    });
    this.ended = this.#run();
  }

  /** Updates the time spent waiting for the user. */
  #waits(isWaiting: boolean): void {
    const now = Date.now();
    if (this.#waitingSince !== null) this.#waited += now - this.#waitingSince;
    this.#waitingSince = isWaiting ? now : null;
  }

  /** The host's state of the call while it is running. */
  get call(): ServerCall | undefined {
    return app.call(this.id);
  }

  get state(): RunState {
    if (this.result !== null) return this.result.isError ? "tool_error" : "done";
    if (this.error !== null) return ENDS[this.error.code] ?? "failed";
    const state = this.call?.state;
    // The host reports the end of a call before its response arrives.
    return state === "awaiting_approval" || state === "awaiting_input" || state === "running"
      ? state
      : state === undefined
        ? "starting"
        : "running";
  }

  get underWay(): boolean {
    return this.result === null && this.error === null;
  }

  /**
   * Returns `true` if the host sends the same request again without a consent request at the time `now`. `sent` are the
   * arguments to compare with the sent ones, which the user may have edited in the consent request.
   */
  isRepeatable(sent: JsonValue | undefined, now: number): boolean {
    const until = this.call?.repeatableUntil;
    if (this.result === null || until === undefined || now >= until) return false;
    return jsonWithSortedKeys(sent) === jsonWithSortedKeys(this.result.arguments);
  }

  async cancel(): Promise<void> {
    if (!this.underWay || this.cancelling) return;
    this.cancelling = true;
    this.notCancelled = null;
    try {
      await call("cancel_call", { call: this.id });
    } catch (cause) {
      this.notCancelled = toApiError(cause);
      this.cancelling = false;
    }
  }

  async #run(): Promise<ToolRun> {
    const { server, tool, arguments: sent, conversation = null, repeats } = this.request;
    try {
      this.result = await call("call_tool", {
        ...{ call: this.id, server, tool, arguments: sent, conversation },
        ...(repeats === undefined ? {} : { repeats }),
      });
    } catch (cause) {
      this.error = toApiError(cause);
    }
    this.#unfollow();
    this.#waits(false);
    this.took = Date.now() - this.startedAt - this.#waited;
    return this;
  }
}

/** Calls a tool. The host requests consent if necessary, and the returned run has the current state. */
export function runTool(request: RunRequest): ToolRun {
  return new ToolRun(request);
}
