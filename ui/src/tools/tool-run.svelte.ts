// One call of a tool, from the click to its result.

import { ApiError, call, toApiError } from "$lib/api/client";
import type { ServerCall, ErrorCode, JsonValue, ToolResult } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

/** What to call. */
export interface RunRequest {
  server: string;
  tool: string;
  arguments: JsonValue;
  /** The conversation in which the host keeps how the call ended. */
  conversation?: string | null;
}

/** How a run is. `tool_error` is a result in which the tool says that it failed. */
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

/** How a run has ended, by the error's code; `failed` is every other. */
const ENDS: Partial<Record<ErrorCode, RunState>> = {
  refused: "refused",
  cancelled: "cancelled",
  timeout: "timeout",
};

export class ToolRun {
  readonly id = crypto.randomUUID();
  readonly startedAt = Date.now();
  readonly request: RunRequest;
  /** Resolves once the run has ended, however it did. Never rejects. */
  readonly ended: Promise<ToolRun>;
  result = $state.raw<ToolResult | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** How long it took without the user's decisions and answers, in milliseconds, once it has ended. */
  took = $state<number | null>(null);
  /** Why it could not be cancelled. */
  notCancelled = $state.raw<ApiError | null>(null);
  cancelling = $state(false);
  /** Whether the server got the call, and may have worked on it. */
  hasRun = $state(false);
  /** For how long it waited for the user, and since when it does now. */
  #waited = 0;
  #since: number | null = null;
  readonly #unfollow: () => void;

  constructor(request: RunRequest) {
    this.request = request;
    this.#unfollow = app.onEvent((event) => {
      if (event.type !== "call_changed" || event.call.id !== this.id) return;
      const { state } = event.call;
      this.hasRun ||= state === "running";
      this.#waits(state === "awaiting_approval" || state === "awaiting_input");
    });
    this.ended = this.#run();
  }

  /** Notes whether it waits for the user now. */
  #waits(isWaiting: boolean): void {
    const now = Date.now();
    if (this.#since !== null) this.#waited += now - this.#since;
    this.#since = isWaiting ? now : null;
  }

  /** What the host says about the call while it is under way. */
  get call(): ServerCall | undefined {
    return app.call(this.id);
  }

  get state(): RunState {
    if (this.result !== null) return this.result.isError ? "tool_error" : "done";
    if (this.error !== null) return ENDS[this.error.code] ?? "failed";
    const state = this.call?.state;
    // The answer itself is still on its way when the host says that the call has ended.
    return state === "awaiting_approval" || state === "awaiting_input" || state === "running"
      ? state
      : state === undefined
        ? "starting"
        : "running";
  }

  get underWay(): boolean {
    return this.result === null && this.error === null;
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
    const { server, tool, arguments: sent, conversation = null } = this.request;
    try {
      this.result = await call("call_tool", {
        ...{ call: this.id, server, tool, arguments: sent, conversation },
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

/** Calls a tool. The host asks for approval on the way; the run tells how it is. */
export function runTool(request: RunRequest): ToolRun {
  return new ToolRun(request);
}
