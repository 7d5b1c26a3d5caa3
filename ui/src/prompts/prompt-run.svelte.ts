// State of one prompt from its arguments to its messages.

import { call, toApiError, type ApiError } from "$lib/api/client";
import type { ConversationItem, Prompt, PromptResult } from "$lib/api/generated";
import { catalogs } from "$lib/state/catalogs.svelte";

export class PromptRun {
  readonly server: string;
  readonly prompt: Prompt;

  values = $state<string[]>([]);
  /** Set once the user has tried to continue. Missing arguments are marked from then on. */
  tried = $state(false);
  /** Id of the running `prompts/get` call, or `null`. */
  running = $state<string | null>(null);
  result = $state.raw<PromptResult | null>(null);
  problem = $state.raw<ApiError | null>(null);

  constructor(server: string, prompt: Prompt) {
    this.server = server;
    this.prompt = prompt;
    this.values = prompt.arguments.map(() => "");
  }

  isMissing(index: number): boolean {
    return (this.prompt.arguments[index]?.required ?? false) && this.values[index] === "";
  }

  readonly complete: boolean = $derived.by(
    () => !this.prompt.arguments.some((_, i) => this.isMissing(i)),
  );

  /** Returns the non-empty arguments by name. */
  filledArguments(): Record<string, string> {
    return this.#entries((_, value) => value !== "");
  }

  /** Returns the arguments that precede the one at `index`, which its completion may depend on. */
  before(index: number): Record<string, string> {
    return this.#entries((i, value) => i < index && value !== "");
  }

  /** Discards the messages and cancels the running call, because they are for other arguments. */
  changed(): void {
    this.cancel();
    this.result = null;
    this.problem = null;
  }

  /** Requests the messages from the server, unless a required argument is missing. */
  async preview(): Promise<void> {
    this.tried = true;
    if (!this.complete || this.running !== null) return;
    this.changed();
    const id = crypto.randomUUID();
    this.running = id;
    try {
      const request = {
        call: id,
        server: this.server,
        prompt: this.prompt.name,
        arguments: this.filledArguments(),
        hash: this.#reviewedHash(),
      };
      const result = await call("get_prompt", request);
      if (this.running === id) this.result = result;
    } catch (cause) {
      const error = toApiError(cause);
      if (this.running === id && error.code !== "cancelled") this.problem = error;
    } finally {
      if (this.running === id) this.running = null;
    }
  }

  /** Cancels the running call and discards its result. */
  cancel(): void {
    const id = this.running;
    if (id === null) return;
    this.running = null;
    void call("cancel_call", { call: id }).catch(() => undefined);
  }

  /** Returns the messages as conversation items. */
  items(current: number): ConversationItem[] {
    const origin = {
      server: this.server,
      prompt: this.prompt.name,
      arguments: this.filledArguments(),
    };
    return (this.result?.messages ?? []).map((message) => ({
      id: crypto.randomUUID(),
      at: current,
      body: { kind: "message", role: message.role, content: message.content, prompt: origin },
    }));
  }

  /**
   * Returns the hash of the definition that the user reviewed: the current one if it is reviewed, else that of the
   * opened prompt.
   */
  #reviewedHash(): string {
    const current = catalogs
      .get(this.server)
      .value?.prompts.find((p) => p.name === this.prompt.name);
    return current?.marks.review === "reviewed" ? current.hash : this.prompt.hash;
  }

  #entries(wanted: (index: number, value: string) => boolean): Record<string, string> {
    const entries = this.prompt.arguments.map(
      (argument, i) => [argument.name, this.values[i] ?? ""] as const,
    );
    return Object.fromEntries(entries.filter(([, value], i) => wanted(i, value)));
  }
}
